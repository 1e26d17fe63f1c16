/* A moving picture of the bodies: plots/bodies.gif, drawn by gnuplot from the trajectory. */
#ifndef ORRERY_REPORT_ANIMATION_H
#define ORRERY_REPORT_ANIMATION_H

#include "base/status.h"
#include "base/text.h"
#include "report/result.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ANIMATION_NAME "bodies" /* of its files: .dat, .gp, .gif */

/* Draws it into `folder`. STATUS_NO_INPUT where the run has no trajectory, or as figure_draw(). */
enum status animation_draw(const struct result *result, const char *folder, struct error *error);

/* The drawn picture as a <figure> with the picture's bytes inside. STATUS_IO. */
enum status animation_inline(const char *folder, const char *link, struct text *html,
                             struct error *error);

#ifdef __cplusplus
}
#endif

#endif
