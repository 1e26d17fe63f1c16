/* The bodies themselves: the ways of a few, or the first and the last frame of many. */
#ifndef ORRERY_REPORT_PICTURE_H
#define ORRERY_REPORT_PICTURE_H

#include "base/status.h"
#include "report/figure.h"
#include "report/result.h"

/* Adds them, from the trajectory of the run if it has one. */
enum status picture_draw(const struct result *result, struct figures *figures, struct error *error);

#endif
