/* The judgement of the accuracy watch on the energy of a system: its errors, jumps and drift. */
#ifndef ORRERY_ACCURACY_WATCH_ENERGY_H
#define ORRERY_ACCURACY_WATCH_ENERGY_H

#include "accuracy/watch-state.h"

/* The input of a check: the moment, its valid parts (enum need, or-ed), and how to warn. */
struct check {
    const struct moment *now;
    unsigned valid;
    void (*tell)(void *context, const char *line); /* NULL: nobody is told */
    void *context;
};

/*
 * The deviation of an energy E at a check: its change over the scale, max(|E0|, |U0|). In a deep
 * encounter the error of any method swings with the potential energy |U| and comes back, and |U| is
 * far larger than the scale if the bodies began far apart. Therefore a change is judged over
 * max(scale, |U| - 10 <|U|>), with the mean <|U|> over the run so far: in an encounter this is some
 * |U|, and afterwards, when |U| is what it usually is, the scale. A change that stays beyond the
 * limit for 1000 steps and a sixteenth of the run so far is no swing, wherever the bodies are.
 *
 * A body that flies off fast has so large an energy that the error of a cluster does not show
 * beside it; nor does it beside the energy of the cluster's orbit in external fields or about a
 * heavy body. Therefore the scale in `judged` is no more than FAST times the largest |U| so far, or
 * the |U| that such a cluster has for itself (struct record, `own`), unless that is less than
 * rounding allows.
 */
enum { DEEP = 10, FAST = 10 };
struct watch_deviation {
    double change, jump; /* change since the start, and since the last mark (at most some 1000 steps
                            ago), over the scale */
    /* |change| and |jump|, times scale, over max(scale, |U| - 10 <|U|>); see above. Of several test
     * bodies the largest of each. */
    double judged, judged_jump;
    bool lasting; /* the change has been beyond the limit for so long that it is no swing */
    bool deep;    /* |U| is more than DEEP times what it usually is */
    bool sudden; /* most of `jump` came since the last check, and before it the energy changed less,
                    or the other way */
    /* Ids of the test bodies that had `change` and `jump`; NaN: they are the system's. */
    double change_body, jump_body;
    double inertia, virial; /* I = sum m r^2 about the centre of mass, and |W|; or those of the test
                               body with the largest change */
};

/* Returns the deviation of a system, or of its test bodies if those are judged, at a check `steps`
 * steps after the last one. Keeps the present energies as those of the last check. */
struct watch_deviation watch_observe(struct watch *watch, const struct moment *now, size_t system,
                                     double steps);

/* Compares a deviation with the limits, keeps the largest ones, and warns of those beyond a limit.
 * STATUS_NUMERICAL with on_jump = "stop", STATUS_MEMORY. */
enum status watch_judge(struct watch *watch, const struct check *check, size_t system,
                        const struct watch_deviation *deviation, struct error *error);

/* watch_extend_history() makes room in the history for a check at this step and counts the check;
 * watch_add_to_history() adds the deviation that the check has found in a system. */
void watch_extend_history(struct watch *watch, uint64_t step);
void watch_add_to_history(struct watch *watch, uint64_t step, size_t system,
                          const struct watch_deviation *deviation);

/*
 * The steady change of a system's energy: the line of least squares through the means over the
 * windows (equal parts of the run so far). `steadiness` is the part of their variance that lies on
 * it (r squared): 1 for a drift that does not falter, 1 - 1/(k + 1)^2 for k equal jumps in turn,
 * 3/4 at most for one jump.
 */
struct watch_drift {
    double change; /* change of the energy, over the scale, along the line; NaN: few windows */
    double steadiness;
    double periods; /* number of periods 2 pi sqrt(<I> / <|W|>) that the windows cover: 1 for one
                       orbit of a circular pair */
};
struct watch_drift watch_drift(const struct watch *watch, const struct record *record);

/* Tells whether a system, or one of its test bodies if those are judged, has an energy to be
 * judged; without one the findings below are FINDING_OPEN. */
bool watch_has_energy(const struct watch *watch, const struct record *record);

/* Returns the scale of a system's energy over its largest |U| so far, or over that of a cluster in
 * it (`own`), if that is more than FAST and can hide errors of bound bodies; else 0. Once the error
 * is beyond its limit, returns the ratio at that moment, or 0 if the error showed in the usual
 * scale as well. */
double watch_hiding(const struct watch *watch, const struct record *record);
/* Returns the words for the |U| of watch_hiding(): "times the largest |U|" or "times the cluster's
 * own |U0|". */
const char *watch_hidden_scale(const struct record *record);

/* Return findings on a system: the largest error since the start, as `judged` above while it is
 * within its limit or fast bodies hide it; the drift, which is the whole error of a method that
 * drifts, and is FINDING_OPEN if not known or not steady; and the largest change within JUMP_STEPS.
 *  */
struct finding watch_row_of_error(const struct watch *watch, const struct record *record);
struct finding watch_row_of_drift(const struct watch *watch, const struct record *record);
struct finding watch_row_of_change(const struct watch *watch, const struct record *record);

/* Return "the energy" or "the specific energy of test body 7"; and the words for the scale of its
 * change: "of max(|E0|, |U0|)", or "times max(...)" from a change of 1 on. `body` is the id of a
 * test body, or NaN. */
enum { WATCH_WHOSE_SIZE = 64 };
const char *watch_whose(const struct watch *watch, double body, char buffer[WATCH_WHOSE_SIZE]);
const char *watch_scale(double change, double body);

#endif
