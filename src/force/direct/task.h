/* One evaluation of the sums of one system by a team of threads. */
#ifndef ORRERY_FORCE_DIRECT_TASK_H
#define ORRERY_FORCE_DIRECT_TASK_H

#include "base/barrier.h"
#include "force/direct/plan.h"

/* The threads that work together on one system, and this one among them. */
struct team {
    size_t rank, size;       /* ranks from size on only wait */
    struct barrier *barrier; /* NULL: there are no others to wait for */
};

static inline void team_wait(const struct team *team)
{
    if (team->barrier)
        barrier_wait(team->barrier);
}

/* The part of a range of bodies that is this thread's. Threads get whole blocks of bodies: two
 * vectors of 16. */
struct range team_share(const struct team *team, struct range range);

struct task {
    struct force *force;
    const struct bodies *bodies;
    struct scratch *scratch;
    struct team team;
    struct packing packing;
    struct range all;  /* this thread's part of all bodies */
    struct range mine; /* and of those whose sums this process makes */
    double *total[3];  /* the system's accelerations, where their sums are made */
    const struct force_kernels *kernels;
    int form, masses;
};

/* Finds and packs the bodies of a system for this thread's part in its sums. Ends with a barrier
 * of the team. */
void task_open(struct task *task, enum precision precision, size_t system);

#endif
