/*
 * All systems of a run under the integrator gauss-radau. Each system has its own time and its own
 * steps; its last step ends at the grid point (the time at which the run observes it) or before.
 * This file also chooses the lengths of steps.
 */
#include "config.h"

#include "integrator/gauss-radau.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "external/external.h"

enum { STEP, ACCURACY };

const struct parameter gauss_radau_parameters[GAUSS_RADAU_PARAMETERS] = {
    { KEY(REAL, step), OPTIONAL, POSITIVE, .dimension = DIMENSION_TIME,
      .help = "Grid on which the run observes: `every` and checkpoints count its steps. "
              "The steps of the motion are others, which the integrator chooses. If the grid "
              "does not divide `end`, the program shortens it; unset: a thousandth of `end`." },
    { KEY(REAL, accuracy), BY_DEFAULT(REAL, 1e-9), POSITIVE_TO(1e-3),
      .help = "Size of the last term of a step's polynomial, relative to the acceleration; "
              "steps go with its seventh root. The default leaves little but roundings." },
};

/* The coefficients for the nodes of Everhart (1985), rounded to double. Rounding errors of the
 * weights of f_n would show after a million steps as a drift of the energy, so these weights have a
 * second part (in_v_low, in_x_low). */
const struct radau_coefficients radau = {
#include "integrator/gauss-radau-coefficients.inc"
};

/* --- the choice of steps ---------------------------------------------------------------------- */

/* The largest ratio of a step to the one before. A step that should have been shorter by more than
 * this factor is tried again. */
static const double most_growth = 4;
/* The first step of a run, in units of the shortest time scale of a pair: with the default accuracy
 * about a quarter of radau_length(). */
static const double first_step = 0.05;

double radau_length(double accuracy)
{
    return pow(5040 * accuracy, 1.0 / 7);
}

/* Returns a + b rounded, and the rounding error in *rest: the sum of both is exactly a + b (Knuth's
 * two-sum). */
static double add(double a, double b, double *rest)
{
    const double sum = a + b, part = sum - a;
    *rest = (a - (sum - part)) + (b - part);
    return sum;
}

void radau_tick(struct adaptive_clock *clock, double dt)
{
    double rest;
    clock->time = add(clock->time, dt, &rest);
    clock->time = add(clock->time, clock->time_low + rest, &clock->time_low);
    clock->last = dt;
    clock->known = 0;
    clock->steps += 1;
}

double radau_left(const struct adaptive_clock *clock, double target)
{
    return (target - clock->time) - clock->time_low;
}

double radau_floor(const struct adaptive_clock *clock, double grid)
{
    return DBL_EPSILON * fmax(clock->time, grid);
}

double radau_next(double dt, double scale, double length)
{
    return dt * fmin(most_growth, sqrt(scale) * length);
}

/* The limit of the change of b_6 is 1e-12 of the accelerations: each pass makes the change a
 * hundred times smaller, so the pass after one below the limit would change velocities by less than
 * their rounding error. */
bool radau_converged(int pass, double change, double before, double size)
{
    static const double none = 1e-12;
    return change <= none * size || (pass > 2 && change >= before) || pass == RADAU_PASSES;
}

bool radau_rejects(double dt, double next)
{
    return next * most_growth < dt;
}

void radau_remember_smallest(struct adaptive_clock *clock, const struct physics *physics,
                             const struct reference_motion *motion, double dt)
{
    const size_t limiting = (size_t)clock->limiting;
    clock->smallest = dt;
    clock->pair[0] = (double)limiting;
    clock->pair[1] = (double)reference_strongest(physics, motion, limiting);
}

/* --- the first step --------------------------------------------------------------------------- */

/* Returns the square of the shorter of two times of a pair with the mass m, separation d and
 * relative velocity w: of a flyby, r/w, and of a free fall, (r^3/Gm)^(1/2), the period of a
 * circular orbit over 2 pi; r is softened. */
static double pair_time2(const struct physics *physics, double m, const double d[3],
                         const double w[3])
{
    const double eps = physics->softening;
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps * eps;
    const double w2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    return fmin(r2 * sqrt(r2) / (physics->gravitational_constant * m), r2 / w2);
}

void radau_begin(const struct radau_system *system, const struct radau_problem *problem)
{
    const double *const m = problem->m;
    const double *const x = radau_array_of(system, RADAU_X);
    const double *const v = radau_array_of(system, RADAU_V);
    double least = INFINITY, done = 0;
    *system->clock = (struct adaptive_clock){ .smallest = INFINITY };
    for (size_t i = 0; i < system->count; i++) {
        if (interruption_after(problem->physics->interruption, &done, (double)system->count))
            break;
        for (size_t j = i + 1; j < system->count; j++) {
            double d[3], w[3];
            for (size_t axis = 0; axis < 3; axis++) {
                d[axis] = x[axis * system->stride + j] - x[axis * system->stride + i];
                w[axis] = v[axis * system->stride + j] - v[axis * system->stride + i];
            }
            const double time2 =
                m[i] + m[j] > 0 ? pair_time2(problem->physics, m[i] + m[j], d, w) : INFINITY;
            if (time2 > 0 && time2 < least) {
                least = time2;
                system->clock->limiting = (double)i;
            }
        }
    }
    for (size_t i = 0; problem->physics->external && i < system->count; i++) {
        const size_t s = system->stride;
        const double time = external_time(problem->physics->external,
                                          (const double[3]){ x[i], x[s + i], x[2 * s + i] },
                                          (const double[3]){ v[i], v[s + i], v[2 * s + i] });
        if (time * time < least) {
            least = time * time;
            system->clock->limiting = (double)i;
        }
    }
    system->clock->step = isfinite(least) ? first_step * sqrt(least) : 1;
}

/* --- all systems ------------------------------------------------------------------------------ */

struct systems {
    struct adaptive_systems common;
    const char *kernel;
    int threads;
    double length;
    /* For systems of few bodies: their kernels, and the workspace of each thread. NULL for systems
     * of many bodies, which `large` moves. */
    const struct radau_kernels *small;
    double **work;
    size_t *deferred; /* [threads * RADAU_LANES]: memory for radau_batch.deferred */
    struct radau_large *large;
};

enum { LEAST_LANES = 4 }; /* from this number of systems for each thread, each gets a lane */

static bool makes_sense(const struct adaptive_systems *all, size_t s)
{
    return all->clocks[s].step > 0;
}

static enum status describe_stuck(const struct adaptive_systems *all, size_t s, struct error *error)
{
    const struct bodies *const b = all->bodies;
    const struct adaptive_clock *const clock = &all->clocks[s];
    char name[BODIES_NAME_SIZE];
    if (clock->stuck == ADAPTIVE_NOT_FINITE)
        return error_set(
            error, STATUS_NUMERICAL,
            "system %zu: a force is not finite at t = %g, where %s asked for the shortest step",
            s + 1, text_plain(clock->time),
            bodies_name(b, b->id[s * b->stride + (size_t)clock->limiting], name));
    return adaptive_systems_describe_pair(all, s, "which t no longer resolves", error);
}

static const struct adaptive_method method = { &gauss_radau_class, "gauss-radau",  3 * RADAU_ARRAYS,
                                               makes_sense,        describe_stuck, true };

/* --- create and destroy ----------------------------------------------------------------------- */

static void put_axes(double *array, size_t stride, size_t count, double *const from[3])
{
    for (size_t axis = 0; axis < 3; axis++)
        memcpy(array + axis * stride, from[axis], count * sizeof(double));
}

static void begin(struct systems *all, size_t s)
{
    const struct bodies *const b = all->common.bodies;
    const struct radau_system system = radau_system_at(&all->common, s);
    const struct radau_problem problem = radau_problem_at(&all->common, s, 0);
    const size_t first = s * b->stride;
    double *const x[3] = { b->x + first, b->y + first, b->z + first };
    double *const v[3] = { b->vx + first, b->vy + first, b->vz + first };
    put_axes(radau_array_of(&system, RADAU_X), b->stride, b->count, x);
    put_axes(radau_array_of(&system, RADAU_V), b->stride, b->count, v);
    radau_begin(&system, &problem);
}

static enum status check_options(const struct adaptive_options *options,
                                 const struct physics *physics, struct error *error)
{
    const enum precision precision = options->force->precision;
    if (precision != PRECISION_DOUBLE)
        return error_set(error, STATUS_CONFIG,
                         "compute.precision = \"%s\": gauss-radau computes in double only, or its "
                         "steps would follow the rounding of the forces",
                         precision_names[precision]);
    if (physics->boundary == BOUNDARY_PERIODIC)
        return error_set(error, STATUS_CONFIG,
                         "physics.boundary = \"periodic\": gauss-radau needs forces without jumps, "
                         "and the force of a nearest image has one at half the box; choose another "
                         "time.integrator");
    return STATUS_OK;
}

static const struct radau_kernels *const small_kernels[] = {
#define ROW(family, set, registers, ...) FORCE_ISA_##family(&radau_##registers),
    FORCE_ISAS(ROW)
#undef ROW
};

/* Returns the kernels for systems of few bodies, for the instruction set of the backend's forces;
 * NULL if these kernels cannot be used. */
static const struct radau_kernels *find_small(const struct adaptive_options *options,
                                              const struct physics *physics, size_t count)
{
    if (physics->external || !options->kernels || options->kernels->method != &force_direct ||
        strcmp(options->force->kernel, "auto") != 0 || count > RADAU_SMALL)
        return NULL;
    const int row = force_isa_row(options->kernels->isa);
    return row < 0 ? NULL : small_kernels[row];
}

size_t radau_workspace(size_t count, size_t stride)
{
    const size_t lanes = count * RADAU_LANES, length = lanes > stride ? lanes : stride;
    return length * (3 * (RADAU_ARRAYS + RADAU_SCRATCH_ARRAYS + 2) + 3);
}

static void systems_destroy(struct adaptive *adaptive)
{
    struct systems *const all = (struct systems *)adaptive;
    if (!all)
        return;
    for (int k = 0; k < all->threads && all->work; k++)
        memory_free(all->work[k]);
    memory_free(all->work);
    memory_free(all->deferred);
    radau_large_destroy(all->large);
    adaptive_systems_clear(&all->common);
    free(all);
}

/* Allocates the workspaces of the threads for systems of few bodies, or creates all->large for
 * those of many. */
static void make_room(struct systems *all, struct force *kernels, struct error *error)
{
    const struct bodies *const b = all->common.bodies;
    if (!all->small) {
        all->large = radau_large_create(&all->common, kernels, all->threads, all->length, error);
        return;
    }
    all->work = memory_array((size_t)all->threads, sizeof *all->work, error);
    for (int k = 0; k < all->threads && !error->status; k++)
        all->work[k] = memory_array(radau_workspace(b->count, b->stride), sizeof(double), error);
    all->deferred = memory_array((size_t)all->threads * RADAU_LANES, sizeof *all->deferred, error);
}

static enum status systems_create(const struct adaptive_options *options,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct adaptive **adaptive, struct error *error)
{
    *adaptive = NULL;
    if (check_options(options, physics, error))
        return error->status;
    struct systems *const all = calloc(1, sizeof *all);
    if (!all)
        return error_memory(error);
    const double accuracy = options->values ? options->values[ACCURACY]
                                            : gauss_radau_parameters[ACCURACY].default_value.real;
    all->small = find_small(options, physics, bodies->count);
    all->kernel = all->small ? "small" : options->kernels ? options->kernels->kernel : "reference";
    all->threads = options->kernels ? options->force->threads : 1;
    all->length = radau_length(accuracy) / options->refinement;
    if (!adaptive_systems_init(&all->common, &method, physics, bodies, error))
        make_room(all, options->kernels, error);
    if (error->status) {
        systems_destroy(&all->common.adaptive);
        return error->status;
    }
#pragma omp parallel for num_threads(all->threads) if (all->threads > 1)
    for (size_t s = 0; s < bodies->systems; s++)
        begin(all, s);
    *adaptive = &all->common.adaptive;
    return STATUS_OK;
}

static double systems_bytes(const struct force_options *force, double systems, double count)
{
    const double threads = force->threads > 0 ? force->threads : 1;
    const bool small = count <= RADAU_SMALL;
    const double workspaces = small || systems >= threads ? threads : 1;
    const double length = 3 * sizeof(double) * bodies_length_of(1, count);
    const double lanes =
        small ? sizeof(double) * (double)radau_workspace((size_t)count, BODIES_PADDING) +
                    RADAU_LANES * sizeof(size_t)
              : 0;
    return adaptive_systems_bytes(&method, systems, count) +
           workspaces * ((RADAU_ARRAYS + RADAU_SCRATCH_ARRAYS) * length + 2 * lanes);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void move_batch(const struct systems *all, struct radau_batch *batch, bool lanes)
{
#pragma omp parallel num_threads(all->threads) if (all->threads > 1)
    all->small->advance(batch, all->work[omp_get_thread_num()], lanes);
}

/* Moves systems of few bodies, with one in each lane from LEAST_LANES for each thread on. Systems
 * that need many more steps than the others are moved alone at the end, each by one thread. */
static void move_small(struct systems *all, double dt)
{
    const size_t count = all->common.bodies->systems;
    struct radau_batch batch = { .systems = &all->common,
                                 .length = all->length,
                                 .dt = dt,
                                 .count = count,
                                 .deferred = all->deferred };
    move_batch(all, &batch, count >= LEAST_LANES * (size_t)all->threads);
    if (batch.deferred_count == 0)
        return;
    batch.which = all->deferred;
    batch.count = batch.deferred_count;
    batch.next = 0;
    move_batch(all, &batch, false);
}

static enum status systems_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                   struct error *error)
{
    struct systems *const all = (struct systems *)adaptive;
    const size_t count = all->common.bodies->systems;
    adaptive_systems_begin(&all->common);
    for (size_t s = 0; s < count; s++) {
        adaptive_clock_fit(&all->common.clocks[s], dt);
        all->common.clocks[s].grid += (double)steps;
    }
    if (all->small)
        move_small(all, dt);
    else
        radau_large_advance(all->large, dt);
    return adaptive_systems_end(&all->common, error);
}

/* Copies a system from one object to another, and changes its next step by the ratio of the lengths
 * of steps of the two objects. */
static void systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                         size_t from_system)
{
    struct systems *const all = (struct systems *)to;
    adaptive_systems_copy(to, to_system, from, from_system);
    all->common.clocks[to_system].step *= all->length / ((const struct systems *)from)->length;
}

static const char *systems_kernel(const struct adaptive *adaptive)
{
    return ((const struct systems *)adaptive)->kernel;
}

const struct adaptive_class gauss_radau_class = {
    .create = systems_create,
    .advance = systems_advance,
    .save = adaptive_systems_save,
    .load = adaptive_systems_load,
    .copy_system = systems_copy,
    .statistics = adaptive_systems_statistics,
    .kernel = systems_kernel,
    .bytes = systems_bytes,
    .destroy = systems_destroy,
};
