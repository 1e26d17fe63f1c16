/* The judgement of the watch on the energy of a system: its errors, its jumps and its drift. */
#ifndef ORRERY_ACCURACY_WATCH_ENERGY_H
#define ORRERY_ACCURACY_WATCH_ENERGY_H

#include "accuracy/watch-state.h"

/* The input of a check: the moment, the valid parts of it (enum need, or-ed), and the place for
 * warnings. */
struct check {
    const struct moment *now;
    unsigned valid;
    void (*tell)(void *context, const char *line); /* or NULL */
    void *context;
};

/*
 * The deviation of an energy at a check: its change over the scale. In a deep encounter the error
 * of any method swings with |U| and comes back, and if the bodies began far apart the scale is
 * nothing beside it. Therefore the change that is compared with the limits is taken over max(scale,
 * |U| - 10 <|U|>), the mean over the run so far: in an encounter over |U|, and afterwards, when |U|
 * is what it usually is, over the scale. A change that stays beyond the limit all the time for 1000
 * steps and a sixteenth of the run so far is no swing, wherever the bodies are.
 */
enum { DEEP = 10 };
struct watch_deviation {
    double change, jump;           /* since the start, and since the last mark */
    double judged, judged_jump;    /* the same over what they are judged in; the largest */
    bool lasting;                  /* it has been beyond the limit for so long */
    bool deep;                     /* |U| is more than DEEP times what it usually is */
    bool sudden;                   /* the latter is a jump: most of it came since the last check,
                                    * and before that the energy changed otherwise or less */
    double change_body, jump_body; /* ids of the test bodies whose they are; NaN: the system's */
    double inertia, virial;        /* I and |W|; of the test body with the largest change */
};

/* Observes the system, or its test bodies where those are judged; `steps` after the last check,
 * which this one replaces. */
struct watch_deviation watch_observe(struct watch *watch, const struct moment *now, size_t system,
                                     double steps);

/* Compares it with the limits, and says what is beyond them. STATUS_NUMERICAL, STATUS_MEMORY. */
enum status watch_judge(struct watch *watch, const struct check *check, size_t system,
                        const struct watch_deviation *deviation, struct error *error);

/* Makes room in the history for a check at this step, and counts it; then adds what was found. */
void watch_extend_history(struct watch *watch, uint64_t step);
void watch_add_to_history(struct watch *watch, uint64_t step, size_t system,
                          const struct watch_deviation *deviation);

/*
 * The steady change of a system's energy: the line of least squares through the means over the
 * windows. `steadiness` is the part of their variance that lies on it (r squared): 1 for a drift
 * that does not falter, 1 - 1/(k + 1)^2 for k equal jumps in turn, 3/4 at most for one jump.
 */
struct watch_drift {
    double change; /* by the line, over the windows; NaN: too few of them */
    double steadiness;
    double periods; /* that they cover, of 2 pi sqrt(<I> / <|W|>): 1 for a circular pair */
};
struct watch_drift watch_drift(const struct watch *watch, const struct record *record);

/* The rows of a system: the largest error since the start, as it was judged while it is within the
 * limit; the drift, which of a method that is not symplectic is all its error, and is open if it is
 * not known or not steady; and the largest change within JUMP_STEPS. */
struct finding watch_row_of_error(const struct watch *watch, const struct record *record);
struct finding watch_row_of_drift(const struct watch *watch, const struct record *record);
struct finding watch_row_of_change(const struct watch *watch, const struct record *record);

/* "the energy", or whose; and what its change is measured in: "of max(|E0|, |U0|)", or "times
 * max(...)" from 1 on. `body` is the id of a test body, or NaN. */
enum { WATCH_WHOSE_SIZE = 64 };
const char *watch_whose(const struct watch *watch, double body, char buffer[WATCH_WHOSE_SIZE]);
const char *watch_scale(double change, double body);

#endif
