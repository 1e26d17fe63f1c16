/*
 * The growth of the distance of two neighbouring orbits: the times at which it has first grown e,
 * e^2, e^3, ... fold, and whether they follow an exponential or a power law.
 */
#ifndef ORRERY_ACCURACY_GROWTH_H
#define ORRERY_ACCURACY_GROWTH_H

enum { GROWTH_LEVELS = 48 }; /* e^48 = 7e20: from far below the rounding of fp64 to any size */

/* All numbers, so that it can be part of what a checkpoint saves. All zero at the start. */
struct growth {
    double time, log;             /* of the last sample: ln of the growth */
    double count;                 /* levels that were passed */
    double passed[GROWTH_LEVELS]; /* when level 1, 2, ... was passed first */
};

enum growth_form {
    GROWTH_UNKNOWN,    /* it has not grown enough to tell */
    GROWTH_POWER,      /* by a power of the time: regular orbits, or bodies that have parted */
    GROWTH_EXPONENTIAL /* by e in each e-folding time */
};

struct growth_fit {
    enum growth_form form;
    double time, error; /* the e-folding time and its standard error; NaN unless exponential */
};

/* The growth since time 0 is e^log now; infinite where the other orbit is lost. */
void growth_add(struct growth *growth, double time, double log);

/*
 * The form of the growth so far. Exponential and power law are fitted by least squares, and the one
 * that leaves less decides. The exponential phase is the longest one from the start that follows
 * the exponential: a system that dissolves grows by a power of the time from then on. The error
 * comes from the scatter of the time that blocks of levels take, since growth is a random walk with
 * a drift: it comes in bursts.
 * An exponential phase shorter than the time `least` is one such burst, and no growth of its own.
 */
struct growth_fit growth_fit(const struct growth *growth, double least);

/* "unknown", "power", "exponential". */
const char *growth_form_name(enum growth_form form);

#endif
