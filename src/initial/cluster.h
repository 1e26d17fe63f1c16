/*
 * The common part of the models of star clusters in equilibrium: a model says where bodies are and
 * how fast they move; cluster.c adds their masses, binaries among them, and the scale in the units
 * of the run.
 */
#ifndef ORRERY_INITIAL_CLUSTER_H
#define ORRERY_INITIAL_CLUSTER_H

#include <gsl/gsl_rng.h>

#include "initial/cluster-keys.h"
#include "model/physics.h"

/* A model of a sphere of mass M, in units of its own (units of the model), in which positions are
 * of order 1. */
struct cluster {
    /* Draws position and velocity of one body, independent of all others, in the units of the
     * model. */
    void (*draw)(const void *model, gsl_rng *generator, double position[3], double velocity[3]);
    const void *model; /* for draw() */
    double length;     /* the model's unit of length, in the units of the run */
    /* G M in the units of the model. The model's unit of velocity, in the units of the run, is
     * sqrt(G M / (mass * length)), with G and M of the run. */
    double mass;
    /* The energy of the model, in equilibrium and without softening, is number * G M^2 / extent in
     * the units of the run. */
    double number, extent;
};

/* Serve as check() and uses_scale() of struct initial_class in all models of clusters. */
void cluster_check(const struct section *section, struct error *error);
bool cluster_uses_scale(const struct section *section, const struct physics *physics,
                        const char *key);

/* Fills all systems with bodies of the model `cluster`, system s with the seed `seed` + s. All
 * models of clusters call it in their fill_all() of struct initial_class. */
enum status cluster_fill(const struct section *section, const struct physics *physics,
                         const struct cluster_keys *keys, const struct cluster *cluster,
                         unsigned long seed, struct bodies *bodies, struct error *error);

#endif
