/* A figure that is drawn, for the words under it. */
#ifndef ORRERY_REPORT_DRAWN_H
#define ORRERY_REPORT_DRAWN_H

#include <stdbool.h>

#include "formats/series.h"
#include "report/result.h"

/* The sources of words: the numbers of a figure, and the run that they are of. */
struct drawn {
    const struct series *series;
    const struct result *result;
    double largest; /* value of the first curve, of all systems */
    bool relative;  /* that is over the size that the vector began with */
};

#endif
