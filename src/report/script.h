/* What gnuplot is told of a figure: its axes, its key, its curves, and how high it is. */
#ifndef ORRERY_REPORT_SCRIPT_H
#define ORRERY_REPORT_SCRIPT_H

#include <jansson.h>

#include "report/figure.h"

/* What the template of the commands (templates/figure.gp) is filled with; NULL for want of memory.
 */
json_t *script_view(const struct figure *figure);

/* The curve of the figure that gnuplot has drawn as this one, from 0; NULL of a further line of a
 * label, which is drawn like a curve. */
const struct curve *script_curve(const struct figure *figure, size_t drawn);

#endif
