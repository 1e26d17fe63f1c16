/*
 * The common part of the models of star clusters in equilibrium: a model says how bodies are spread
 * and how fast they are, and from here come their masses, the binaries among them and the scale of
 * it all.
 */
#ifndef ORRERY_INITIAL_CLUSTER_H
#define ORRERY_INITIAL_CLUSTER_H

#include <gsl/gsl_rng.h>

#include "initial/cluster-keys.h"
#include "model/physics.h"

/* A sphere of mass M in units of its own, in which positions are of order 1. */
struct cluster {
    /* Draws a position and a velocity; those of different bodies are independent. */
    void (*draw)(const void *model, gsl_rng *generator, double position[3], double velocity[3]);
    const void *model; /* for draw() */
    double length;     /* its unit of length in those of the run */
    double mass;       /* G M in its units; velocities are worth sqrt(G M / (mass length)) */
    /* E = number G M^2 / extent without softening, in equilibrium. */
    double number, extent;
};

/* Serve as check() and uses_scale() in the class of a cluster. */
void cluster_check(const struct section *section, struct error *error);
bool cluster_uses_scale(const struct section *section, const struct physics *physics,
                        const char *key);

/* Fills all systems from one model; for fill_all() in the class of a cluster. */
enum status cluster_fill(const struct section *section, const struct physics *physics,
                         const struct cluster_keys *keys, const struct cluster *cluster,
                         unsigned long seed, struct bodies *bodies, struct error *error);

#endif
