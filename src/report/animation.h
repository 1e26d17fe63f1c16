/* A moving picture of the bodies: plots/bodies.gif, drawn by gnuplot from the trajectory. */
#ifndef ORRERY_REPORT_ANIMATION_H
#define ORRERY_REPORT_ANIMATION_H

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/result.h"

#define ANIMATION_NAME "bodies" /* of its files: .dat, .gp, .gif */

/* Draws it in the folder of work and appends the picture to a page, its bytes inside.
 * STATUS_NO_INPUT where the run has no trajectory, or as plot_draw(). */
enum status animation_add(const struct result *result, struct directory *work, struct text *html,
                          struct error *error);

#endif
