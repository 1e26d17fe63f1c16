/* All figures of a run; those of the bodies themselves: the ways of a few, or the first and the
 * last frame of many; and a moving picture. */
#ifndef ORRERY_REPORT_PICTURE_H
#define ORRERY_REPORT_PICTURE_H

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/result.h"

/* Adds all figures that the files of a run give: of its bodies, and of what its diagnostics
 * measured. STATUS_MEMORY, or why a file of the run cannot be read. */
enum status draw_run(const struct result *result, enum draw_extent extent, struct figures *figures,
                     struct error *error);

#define ANIMATION_NAME "bodies" /* of its files: .dat, .gp, .gif */

/* Draws a moving picture of the bodies, plots/bodies.gif, in the folder of work and appends it to a
 * page, its bytes inside. STATUS_NO_INPUT where the run has no trajectory, or as plot_draw(). */
enum status animation_add(const struct result *result, struct directory *work, struct text *html,
                          struct error *error);

#endif
