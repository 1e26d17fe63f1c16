/*
 * The systems of a run whose bodies have block steps: every body has a step of its own, the grid
 * step over a power of two. Those that are due at the same time make a block, and at grid points
 * all bodies are due. One large system is moved by all threads; of small ones, or of as many as
 * there are threads, each is moved by one. Such an integrator begins its own struct with a struct
 * block_systems, and takes these functions into its class.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_SYSTEMS_H
#define ORRERY_INTEGRATOR_BLOCK_SYSTEMS_H

#include "base/barrier.h"
#include "integrator/adaptive-systems.h"

/* Halvings of the grid step, at most: a body that asks for a shorter step ends the run. Times in
 * units of that step are exact in a double. */
enum { BLOCK_DEEPEST = ADAPTIVE_LEVELS - 1 };

/* The shortest steps in a grid step. */
#define BLOCK_TICKS ((double)(UINT64_C(1) << BLOCK_DEEPEST))

struct block_systems;

/* Takes system s `steps` grid steps of dt further in workspace number `work`; called by every
 * thread of a team of `threads`. */
typedef void block_move(struct block_systems *all, size_t s, size_t work, double dt, uint64_t steps,
                        size_t threads);

struct block_systems {
    struct adaptive_systems common;
    size_t step; /* the array of a system, among those of the method, that has the steps */
    block_move *move;
    size_t team;       /* threads that move one system together */
    size_t workspaces; /* systems that are moved at one time */
    struct barrier barrier;
};

/* Returns dt over the least power of two that makes it no longer than what is wanted; 0: none
 * does. */
double block_round_step(double dt, double wanted);

/* Finds the bodies that are due first: their indices, in order, their number, and their time;
 * `next` has the times of all. */
size_t block_find(const double *next, size_t count, uint32_t *block, double *now);

/* Threads that move one of `systems` systems of `count` bodies together, and systems that are moved
 * at one time. */
size_t block_team(double systems, double count, int threads);
size_t block_workspaces(double systems, double count, int threads);

/* Allocates the state, as adaptive_systems_init() does, and divides the threads; `step` and `move`
 * are set. */
enum status block_systems_init(struct block_systems *all, const struct adaptive_method *method,
                               const struct adaptive_options *options,
                               const struct physics *physics, struct bodies *bodies,
                               struct error *error);

/* Functions of struct adaptive_method and of struct adaptive_class. */
enum status block_systems_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                  struct error *error);
bool block_systems_makes_sense(const struct adaptive_systems *all, size_t s);
enum status block_systems_describe_stuck(const struct adaptive_systems *all, size_t s,
                                         struct error *error);
void block_systems_statistics(const struct adaptive *adaptive, size_t s,
                              struct work_done *statistics);
void block_systems_count_levels(const struct adaptive *adaptive, size_t s,
                                double levels[ADAPTIVE_LEVELS]);

#endif
