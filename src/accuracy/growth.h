/*
 * The growth of the distance of two neighbouring orbits: the times at which it has first grown e,
 * e^2, e^3, ... fold, and whether they follow an exponential or a power law.
 */
#ifndef ORRERY_ACCURACY_GROWTH_H
#define ORRERY_ACCURACY_GROWTH_H

/* The number of levels, each a growth by a factor of e, that are recorded: e^48 = 7e20 leads from a
 * distance far below the rounding of fp64 to the size of any system. */
enum { GROWTH_LEVELS = 48 };

/* The levels that the distance has passed: level k when it was e^k times the first distance. All
 * members are doubles, as checkpoints save them; all zero at the start. */
struct growth {
    double time, log; /* time of the last sample; ln of the distance then over the first one */
    double count;     /* number of levels that were passed */
    double passed[GROWTH_LEVELS]; /* times at which level 1, 2, ... was passed first */
};

enum growth_form {
    GROWTH_UNKNOWN, /* the distance has not grown enough to tell */
    GROWTH_POWER,   /* growth as a power of the time: regular orbits, or bodies that have parted */
    GROWTH_EXPONENTIAL /* growth by a factor of e in each e-folding time */
};

struct growth_fit {
    enum growth_form form;
    double time, error; /* the e-folding time and its standard error; NaN unless exponential */
};

/* Adds a sample: at `time` the distance is e^log times that of the start. `log` is infinite if the
 * other orbit has numbers that are not finite. */
void growth_add(struct growth *growth, double time, double log);

/*
 * Returns the form of the growth so far. An exponential and a power law are fitted by least squares
 * to the times at which levels were passed, and the one with the smaller residuals counts. The
 * exponential phase is the longest one from the start whose levels the exponential fits better: in
 * a system that dissolves the growth is a power of the time from then on. Growth comes in bursts, a
 * random walk with a drift; the error of the e-folding time therefore follows from the scatter of
 * the times that blocks of levels take. An exponential phase shorter than the time `least` is one
 * burst, and the form is unknown.
 */
struct growth_fit growth_fit(const struct growth *growth, double least);

/* Returns "unknown", "power" or "exponential". */
const char *growth_form_name(enum growth_form form);

#endif
