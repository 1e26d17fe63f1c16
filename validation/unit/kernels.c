/*
 * Every force and potential kernel that this machine runs, against the reference: on random and
 * clustered bodies, in open space and in a box, with and without softening, with equal and with
 * random masses, at counts around the widths of vectors and the sizes of tiles.
 */
#include "unit.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "force/force.h"
#include "force/reference.h"

static struct error error;

static const char *const kernels[] = { "plain", "symmetric" };

static struct force_options options_of(enum precision precision, const char *kernel,
                                       const char *isa, int threads)
{
    return (struct force_options){
        .precision = precision, .kernel = kernel, .isa = isa, .threads = threads
    };
}

/* Names of force_isa_names but the first, "auto". */
static const char *isa_at(size_t index)
{
    return force_isa_names[1 + index];
}

static bool isa_runs(const char *isa)
{
    const struct physics physics = { .gravitational_constant = 1 };
    const struct force_options options = options_of(PRECISION_DOUBLE, "plain", isa, 1);
    struct bodies *bodies;
    struct force *force = NULL;
    assert_int_equal(bodies_create(1, 2, &bodies, &error), STATUS_OK);
    const enum status status = force_create(&options, &physics, bodies, &force, &error);
    force_destroy(force);
    bodies_destroy(bodies);
    error_clear(&error);
    return status == STATUS_OK;
}

/* --- problems -----------------------------------------------------------------------------------
 */

enum layout { UNIFORM, CLUSTERED, FAR_AWAY, LAYOUTS };
enum masses { EQUAL, RANDOM, SOME_ZERO, MASSES };

struct problem {
    size_t count;
    enum layout layout;
    enum masses masses;
    struct physics physics;
};

static double uniform(double least, double greatest)
{
    return least + (greatest - least) * (double)rand() / RAND_MAX;
}

/* Half of a clustered system is in a clump of a thousandth its size, half of one far away is as
 * far to the other side. */
static double coordinate(enum layout layout, size_t i)
{
    const double x = uniform(-1, 1);
    switch (layout) {
    case CLUSTERED:
        return i % 2 ? x : 0.7 + 1e-3 * x;
    case FAR_AWAY:
        return i % 2 ? 1e3 + x : -1e3 + x;
    default:
        return x;
    }
}

static void fill(const struct problem *problem, struct bodies *bodies, unsigned seed)
{
    srand(seed);
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t k = 0; k < bodies->count; k++) {
            const size_t i = s * bodies->stride + k;
            bodies->m[i] = problem->masses == EQUAL                     ? 0.0385
                           : problem->masses == SOME_ZERO && k % 5 == 2 ? 0
                                                                        : uniform(0.017, 2.385);
            bodies->x[i] = coordinate(problem->layout, k);
            bodies->y[i] = coordinate(problem->layout, k);
            bodies->z[i] = coordinate(problem->layout, k);
        }
}

/* The length by which positions of the first `count` bodies are rounded. */
static double reach(const struct physics *physics, const struct bodies *bodies)
{
    if (physics->boundary == BOUNDARY_PERIODIC)
        return physics->box_length;
    double reach = 0;
    for (size_t i = 0; i < bodies->count; i++)
        reach = fmax(reach, fmax(fabs(bodies->x[i]), fmax(fabs(bodies->y[i]), fabs(bodies->z[i]))));
    return 2 * reach;
}

/*
 * A bound for the error of body i: sum_j |a_ij| (16 u + 3 v reach / r_ij), where u is the unit
 * roundoff of pair terms and v that of positions. Three: |a| goes with r^-2 or, differentiated
 * along r, r^-3. Sixteen: a dozen roundings make a term, and sums of random roundings of 256 terms
 * have another sqrt(256) / 2; 8 was the most that was seen. In a box, float kernels may take either
 * image of a body that is half a box away to within 2^-22 of it.
 */
static double error_bound(const struct physics *physics, const struct bodies *bodies, size_t i,
                          enum precision precision)
{
    const double u = precision == PRECISION_DOUBLE ? 0x1p-53 : 0x1p-24;
    const double v = precision == PRECISION_SINGLE  ? 0x1p-24
                     : precision == PRECISION_MIXED ? 0x1p-47
                                                    : 0x1p-53;
    const double eps2 = physics->softening * physics->softening;
    const double size = reach(physics, bodies);
    double bound = 0;
    for (size_t j = 0; j < bodies->count; j++) {
        double d[3] = { bodies->x[j] - bodies->x[i], bodies->y[j] - bodies->y[i],
                        bodies->z[j] - bodies->z[i] };
        for (int axis = 0; axis < 3 && physics->boundary == BOUNDARY_PERIODIC; axis++)
            d[axis] = physics_nearest_image(d[axis], physics->box_length);
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (j == i || r2 == 0)
            continue;
        const double a = bodies->m[j] * sqrt(r2) / ((r2 + eps2) * sqrt(r2 + eps2));
        bound += a * (16 * u + 3 * v * size / sqrt(r2));
        for (int axis = 0; axis < 3 && physics->boundary == BOUNDARY_PERIODIC; axis++)
            if (0.5 * physics->box_length - fabs(d[axis]) < 4 * u * physics->box_length)
                bound += 2 * a;
    }
    return physics->gravitational_constant * bound;
}

/* --- one kernel against the reference ------------------------------------------------------------
 */

static const double untouched = -7.25e77; /* what guards hold */

static void guard(const struct bodies *bodies)
{
    for (size_t i = 0; i < bodies_length(bodies); i++)
        bodies->ax[i] = bodies->ay[i] = bodies->az[i] = untouched;
}

static void assert_guarded(const struct bodies *bodies, size_t system, const char *what)
{
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = s * bodies->stride; s != system && i < (s + 1) * bodies->stride; i++)
            if (bodies->ax[i] != untouched || bodies->ay[i] != untouched ||
                bodies->az[i] != untouched)
                fail_msg("%s: wrote to body %zu of system %zu", what, i - s * bodies->stride, s);
}

/* One system of `bodies` as bodies of its own. */
static struct bodies view(const struct bodies *bodies, size_t system)
{
    struct bodies one = *bodies;
    const size_t first = system * bodies->stride;
    one.systems = 1;
    one.m += first, one.x += first, one.y += first, one.z += first;
    one.ax += first, one.ay += first, one.az += first;
    return one;
}

static void run_forces(const struct force_options *options, const struct physics *physics,
                       const struct bodies *bodies)
{
    struct force *force;
    if (force_create(options, physics, bodies, &force, &error))
        fail_msg("%s", error.text);
    if (options->threads == 1) {
        force_accelerations(force, bodies);
    } else {
#pragma omp parallel num_threads(options->threads)
        force_accelerations(force, bodies);
    }
    force_destroy(force);
}

static void compare(const struct problem *problem, const struct force_options *options,
                    const struct bodies *all, const double *exact, const double *bounds)
{
    const struct bodies one = view(all, 1);
    char what[160];
    snprintf(what, sizeof what, "%s %s %s, N = %zu, layout %d, masses %d, boundary %d, eps %g",
             precision_names[options->precision], options->kernel, options->isa, problem->count,
             problem->layout, problem->masses, problem->physics.boundary,
             problem->physics.softening);
    guard(all);
    run_forces(options, &problem->physics, &one);
    assert_guarded(all, 1, what);
    for (size_t i = 0; i < one.count; i++) {
        const double dx = one.ax[i] - exact[3 * i], dy = one.ay[i] - exact[3 * i + 1];
        const double dz = one.az[i] - exact[3 * i + 2];
        const double off = sqrt(dx * dx + dy * dy + dz * dz);
        if (!(off <= bounds[i]))
            fail_msg("%s: body %zu is off by %g, bound %g", what, i, off, bounds[i]);
    }
    for (size_t i = one.count; i < one.stride; i++)
        if (one.ax[i] != 0 || one.ay[i] != 0 || one.az[i] != 0)
            fail_msg("%s: padding %zu is accelerated", what, i);
}

/* All kernels on one problem; the middle one of three systems is measured. */
static void check_problem(const struct problem *problem)
{
    struct bodies *bodies;
    assert_int_equal(bodies_create(3, problem->count, &bodies, &error), STATUS_OK);
    fill(problem, bodies, 17 + (unsigned)problem->count);
    const struct bodies one = view(bodies, 1);
    double *const exact = memory_array(3 * problem->count, sizeof *exact, &error);
    double *const bounds = memory_array(problem->count, sizeof *bounds, &error);
    assert_non_null(exact);
    assert_non_null(bounds);
    reference_accelerations(&problem->physics, &one);
    for (size_t i = 0; i < one.count; i++) {
        exact[3 * i] = one.ax[i];
        exact[3 * i + 1] = one.ay[i];
        exact[3 * i + 2] = one.az[i];
    }
    for (size_t p = 0; precision_names[p]; p++) {
        for (size_t i = 0; i < one.count; i++)
            bounds[i] = error_bound(&problem->physics, &one, i, (enum precision)p);
        for (size_t isa = 0; isa_at(isa); isa++)
            for (size_t k = 0; k < COUNT_OF(kernels) && isa_runs(isa_at(isa)); k++) {
                const struct force_options options =
                    options_of((enum precision)p, kernels[k], isa_at(isa), 1);
                compare(problem, &options, bodies, exact, bounds);
            }
    }
    memory_free(exact);
    memory_free(bounds);
    bodies_destroy(bodies);
}

/* Around the 2 to 16 lanes of vectors, groups of 2 and 4, two and three vectors, blocks of 32 and
 * 64, tiles of 128 and 256, and a thousand. */
static const size_t counts[] = { 1,  2,  3,  4,  5,  7,  8,  9,  15,  16,  17,  19,  31,   32,
                                 33, 35, 47, 48, 49, 63, 64, 65, 127, 128, 129, 257, 1000, 1025 };

static void check_all(enum boundary boundary, double softening)
{
    for (size_t k = 0; k < COUNT_OF(counts); k++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int masses = 0; masses < MASSES; masses++) {
                const struct problem problem = {
                    .count = counts[k],
                    .layout = (enum layout)layout,
                    .masses = (enum masses)masses,
                    .physics = { .gravitational_constant = 1.37,
                                 .softening = softening,
                                 .boundary = boundary,
                                 .box_length = 2.385 },
                };
                if (boundary == BOUNDARY_OPEN || layout != FAR_AWAY)
                    check_problem(&problem);
            }
}

static void test_open_softened(void **state)
{
    (void)state;
    check_all(BOUNDARY_OPEN, 0.0432);
}

static void test_open_unsoftened(void **state)
{
    (void)state;
    check_all(BOUNDARY_OPEN, 0);
}

static void test_periodic_softened(void **state)
{
    (void)state;
    check_all(BOUNDARY_PERIODIC, 0.0432);
}

static void test_periodic_unsoftened(void **state)
{
    (void)state;
    check_all(BOUNDARY_PERIODIC, 0);
}

/* --- special cases
 * -------------------------------------------------------------------------------- */

/* Bodies on top of each other pull each other with exactly 0. */
static void test_coincident_bodies_add_nothing(void **state)
{
    (void)state;
    const double softenings[] = { 0, 0.0432 };
    struct bodies *bodies;
    assert_int_equal(bodies_create(1, 200, &bodies, &error), STATUS_OK);
    for (size_t i = 0; i < bodies->count; i++) {
        bodies->m[i] = 1.385 + (double)(i % 7);
        bodies->x[i] = 0.1, bodies->y[i] = -123.7, bodies->z[i] = 4.2e9;
    }
    for (size_t p = 0; precision_names[p]; p++)
        for (size_t isa = 0; isa_at(isa); isa++)
            for (size_t k = 0; k < 2 * COUNT_OF(kernels) && isa_runs(isa_at(isa)); k++) {
                const struct physics physics = { .gravitational_constant = 1.37,
                                                 .softening = softenings[k / 2] };
                const struct force_options options =
                    options_of((enum precision)p, kernels[k % COUNT_OF(kernels)], isa_at(isa), 1);
                run_forces(&options, &physics, bodies);
                for (size_t i = 0; i < bodies->count; i++)
                    assert_true(bodies->ax[i] == 0 && bodies->ay[i] == 0 && bodies->az[i] == 0);
            }
    bodies_destroy(bodies);
}

/* In kilograms and metres 1/r^3 and m m are far outside the range of float. */
static void test_any_units(void **state)
{
    (void)state;
    struct problem problem = { 333, UNIFORM, RANDOM, { 6.6743e-11, 0, BOUNDARY_OPEN, 0, NULL } };
    struct bodies *bodies;
    assert_int_equal(bodies_create(1, problem.count, &bodies, &error), STATUS_OK);
    fill(&problem, bodies, 5);
    for (size_t i = 0; i < bodies->count; i++) {
        bodies->m[i] *= 1e30;
        bodies->x[i] *= 4.5e20, bodies->y[i] *= 4.5e20, bodies->z[i] *= 4.5e20;
    }
    double bounds[3][333], exact[333];
    reference_accelerations(&problem.physics, bodies);
    for (size_t i = 0; i < bodies->count; i++) {
        exact[i] = bodies->ax[i];
        for (int p = 0; p < 3; p++)
            bounds[p][i] = error_bound(&problem.physics, bodies, i, (enum precision)p);
    }
    for (size_t p = 0; precision_names[p]; p++)
        for (size_t isa = 0; isa_at(isa); isa++)
            for (size_t k = 0; k < COUNT_OF(kernels) && isa_runs(isa_at(isa)); k++) {
                const struct force_options options =
                    options_of((enum precision)p, kernels[k], isa_at(isa), 1);
                run_forces(&options, &problem.physics, bodies);
                for (size_t i = 0; i < bodies->count; i++)
                    assert_close(bodies->ax[i], exact[i], bounds[p][i]);
            }
    bodies_destroy(bodies);
}

static void set_at(const struct bodies *bodies, size_t i, double distance)
{
    bodies->x[i] = 0.36 * distance, bodies->y[i] = -0.48 * distance, bodies->z[i] = 0.8 * distance;
}

/* The bodies but `escaper`, to bounds that were made while that one was among them. */
static void check_around_escaper(const struct problem *problem, const struct bodies *bodies,
                                 size_t escaper, double distance, const struct force_options *o)
{
    double bounds[1500], exact[3][1500];
    set_at(bodies, escaper, 0.5);
    for (size_t i = 0; i < bodies->count; i++)
        bounds[i] = error_bound(&problem->physics, bodies, i, o->precision);
    set_at(bodies, escaper, distance);
    const double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    reference_accelerations(&problem->physics, bodies);
    for (int axis = 0; axis < 3; axis++)
        memcpy(exact[axis], a[axis], bodies->count * sizeof(double));
    run_forces(o, &problem->physics, bodies);
    for (size_t i = 0; i < bodies->count; i++)
        for (int axis = 0; axis < 3 && i != escaper; axis++)
            if (!(fabs(a[axis][i] - exact[axis][i]) <= bounds[i]))
                fail_msg("%s %s %s, N = %zu, escaper %zu at %g: body %zu is off by %g, bound %g",
                         precision_names[o->precision], o->kernel, o->isa, bodies->count, escaper,
                         distance, i, fabs(a[axis][i] - exact[axis][i]), bounds[i]);
}

/* One body far away takes no digits from the others: float kernels measure positions from where
 * most bodies are. In double, 1e6 and 1e10 leave the others theirs as well. */
static void test_an_escaper_takes_no_digits(void **state)
{
    (void)state;
    static const size_t sizes[] = { 3, 4, 5, 8, 9, 10, 33, 100, 257, 1025, 1500 };
    static const double distances[] = { 1e6, -1e10 };
    for (size_t c = 0; c < COUNT_OF(sizes); c++) {
        const struct problem problem = {
            sizes[c], UNIFORM, RANDOM, { 1.37, 0, BOUNDARY_OPEN, 0, NULL }
        };
        struct bodies *bodies;
        assert_int_equal(bodies_create(1, problem.count, &bodies, &error), STATUS_OK);
        fill(&problem, bodies, 19);
        for (size_t p = 1; precision_names[p]; p++)
            for (size_t isa = 0; isa_at(isa); isa++)
                for (size_t k = 0; k < 2 * COUNT_OF(kernels) && isa_runs(isa_at(isa)); k++) {
                    const struct force_options options =
                        options_of((enum precision)p, kernels[k / 2], isa_at(isa), 1);
                    const size_t escaper = (7 * k + p) % problem.count;
                    check_around_escaper(&problem, bodies, escaper, distances[k % 2], &options);
                    set_at(bodies, escaper, 0.1 * (double)k);
                }
        bodies_destroy(bodies);
    }
}

/* --- potentials
 * ------------------------------------------------------------------------------------ */

/* All terms have one sign, so the sums are good to a few roundings and those of the positions. */
static void check_potentials(const struct problem *problem, const char *isa)
{
    struct bodies *bodies;
    const struct force_options options = options_of(PRECISION_SINGLE, "auto", isa, 1);
    struct force *force;
    _Alignas(MEMORY_ALIGNMENT) double phi[2][512], psi[2][512];
    assert_int_equal(bodies_create(1, problem->count, &bodies, &error), STATUS_OK);
    assert_true(bodies->stride <= 512);
    fill(problem, bodies, 3);
    reference_potentials(&problem->physics, bodies, phi[0], psi[0]);
    assert_int_equal(force_create(&options, &problem->physics, bodies, &force, &error), STATUS_OK);
    force_potentials(force, bodies, phi[1], psi[1]);
    for (size_t i = 0; i < bodies->count; i++) {
        assert_close(phi[1][i], phi[0][i], 2e-14 * fabs(phi[0][i]));
        assert_close(psi[1][i], psi[0][i], 2e-14 * fabs(psi[0][i]));
    }
    for (size_t i = bodies->count; i < bodies->stride; i++)
        assert_true(phi[1][i] == 0 && psi[1][i] == 0);
    force_destroy(force);
    bodies_destroy(bodies);
}

static void test_potentials(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(counts) && counts[k] < 512; k++)
        for (int form = 0; form < 4; form++)
            for (size_t isa = 0; isa_at(isa); isa++) {
                const struct problem problem = {
                    .count = counts[k],
                    .masses = RANDOM,
                    .physics = { .gravitational_constant = 1.37,
                                 .softening = form & 1 ? 0.0432 : 0,
                                 .boundary = form & 2 ? BOUNDARY_PERIODIC : BOUNDARY_OPEN,
                                 .box_length = 2.385 },
                };
                if (isa_runs(isa_at(isa)))
                    check_potentials(&problem, isa_at(isa));
            }
}

/* Two bodies at one place: each has the other's potential when softened, and none when not. */
static void test_potential_of_coincident_bodies(void **state)
{
    (void)state;
    struct bodies *bodies;
    assert_int_equal(bodies_create(1, 2, &bodies, &error), STATUS_OK);
    bodies->m[0] = 1.385, bodies->m[1] = 2.5;
    for (size_t isa = 0; isa_at(isa); isa++)
        for (int softened = 0; softened < 2 && isa_runs(isa_at(isa)); softened++) {
            const struct physics physics = { .gravitational_constant = 1.37,
                                             .softening = 0.25 * softened };
            const struct force_options options =
                options_of(PRECISION_DOUBLE, "auto", isa_at(isa), 1);
            _Alignas(MEMORY_ALIGNMENT) double phi[BODIES_PADDING], psi[BODIES_PADDING];
            struct force *force;
            assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
            force_potentials(force, bodies, phi, psi);
            assert_close(phi[0], softened ? -1.37 * 2.5 / 0.25 : 0, 1e-14);
            assert_close(phi[1], softened ? -1.37 * 1.385 / 0.25 : 0, 1e-14);
            assert_true(psi[0] == 0 && psi[1] == 0);
            force_destroy(force);
        }
    bodies_destroy(bodies);
}

/* --- the same bits
 * ---------------------------------------------------------------------------------- */

static const int team_sizes[] = { 1, 2, 3, 4, 7 };

static void assert_same_bits(const struct bodies *bodies, const double *expected, const char *what)
{
    const size_t bytes = bodies_length(bodies) * sizeof(double);
    const double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    for (int axis = 0; axis < 3; axis++)
        if (memcmp(a[axis], expected + (size_t)axis * bodies_length(bodies), bytes))
            fail_msg("%s: the bits differ", what);
}

static void keep(const struct bodies *bodies, double *expected)
{
    const size_t length = bodies_length(bodies), bytes = length * sizeof(double);
    memcpy(expected, bodies->ax, bytes);
    memcpy(expected + length, bodies->ay, bytes);
    memcpy(expected + 2 * length, bodies->az, bytes);
}

/* Threads, for one system and for several, and each of several against the same one alone. */
static void check_bits(size_t systems, size_t count, enum precision precision, const char *kernel)
{
    const struct problem problem = {
        count, CLUSTERED, RANDOM, { 1.37, 0.01, BOUNDARY_OPEN, 0, 0 }
    };
    struct bodies *bodies;
    assert_int_equal(bodies_create(systems, count, &bodies, &error), STATUS_OK);
    fill(&problem, bodies, 11);
    const size_t length = bodies_length(bodies);
    double *const expected = memory_array(3 * length, sizeof *expected, &error);
    assert_non_null(expected);
    for (size_t s = 0; s < systems; s++) {
        const struct bodies one = view(bodies, s);
        const struct force_options options = options_of(precision, kernel, "auto", 1);
        run_forces(&options, &problem.physics, &one);
    }
    keep(bodies, expected);
    for (size_t k = 0; k < COUNT_OF(team_sizes); k++) {
        const struct force_options options = options_of(precision, kernel, "auto", team_sizes[k]);
        char what[100];
        snprintf(what, sizeof what, "%s %s, %zu x %zu on %d threads", precision_names[precision],
                 kernel, systems, count, team_sizes[k]);
        guard(bodies);
        run_forces(&options, &problem.physics, bodies);
        assert_same_bits(bodies, expected, what);
    }
    memory_free(expected);
    bodies_destroy(bodies);
}

/* Small systems go through the lanes of one kernel, if there are enough of them for each thread,
 * and come out as from the plain one; those of equal masses together with others. */
static void check_batches(const struct problem *problem, enum precision precision, const char *isa,
                          bool kinds)
{
    enum { SYSTEMS = 37 };
    struct bodies *bodies;
    assert_int_equal(bodies_create(SYSTEMS, problem->count, &bodies, &error), STATUS_OK);
    fill(problem, bodies, 13);
    const size_t length = bodies_length(bodies);
    for (size_t i = 0; i < length; i++) {
        bodies->x[i] *= (double)(1 + i / bodies->stride); /* no two of one scale */
        if (kinds && i / bodies->stride == 20)
            bodies->m[i] = i % bodies->stride < problem->count ? 49 : 0; /* 49 (1/49) < 1 */
    }
    double *const expected = memory_array(3 * length, sizeof *expected, &error);
    assert_non_null(expected);
    const struct force_options options = options_of(precision, "plain", isa, 1);
    for (size_t s = 0; s < SYSTEMS; s++) {
        const struct bodies one = view(bodies, s);
        run_forces(&options, &problem->physics, &one);
    }
    keep(bodies, expected);
    for (int threads = 1; threads <= 3; threads++) {
        const struct force_options team = options_of(precision, "plain", isa, threads);
        char what[100];
        snprintf(what, sizeof what, "%s %s, %d x %zu on %d threads", precision_names[precision],
                 isa, SYSTEMS, problem->count, threads);
        guard(bodies);
        run_forces(&team, &problem->physics, bodies);
        assert_same_bits(bodies, expected, what);
    }
    memory_free(expected);
    bodies_destroy(bodies);
}

static void test_same_bits_in_batches(void **state)
{
    (void)state;
    static const size_t few[] = { 1, 2, 3, 4, 5, 17, 64, 101, 255, 256, 257 };
    for (size_t isa = 0; isa_at(isa); isa++)
        for (size_t c = 0; c < COUNT_OF(few) && isa_runs(isa_at(isa)); c++)
            for (size_t p = 0; precision_names[p]; p++)
                for (int masses = 0; masses < MASSES; masses++) {
                    const struct problem problem = { few[c],
                                                     c % 2 ? CLUSTERED : UNIFORM,
                                                     (enum masses)masses,
                                                     { 1.37, masses ? 0.01 : 0, BOUNDARY_OPEN, 0,
                                                       NULL } };
                    check_batches(&problem, (enum precision)p, isa_at(isa), c % 2 == 1);
                }
}

/* 4100 bodies in double precision take more than one wave of rounds (force.c). */
static void test_same_bits_on_any_threads(void **state)
{
    (void)state;
    static const struct layout_case {
        size_t systems, count;
    } cases[] = { { 1, 19 }, { 1, 1000 }, { 1, 4100 }, { 2, 333 }, { 5, 600 }, { 23, 35 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++)
        for (size_t p = 0; precision_names[p]; p++)
            for (size_t k = 0; k < COUNT_OF(kernels); k++)
                check_bits(cases[c].systems, cases[c].count, (enum precision)p, kernels[k]);
}

static void test_same_potentials_on_any_threads(void **state)
{
    (void)state;
    const struct problem problem = { 777, UNIFORM, RANDOM, { 1.37, 0.01, BOUNDARY_OPEN, 0, NULL } };
    struct bodies *bodies;
    assert_int_equal(bodies_create(3, problem.count, &bodies, &error), STATUS_OK);
    fill(&problem, bodies, 11);
    const size_t length = bodies_length(bodies);
    double *const phi = memory_array(4 * length, sizeof *phi, &error), *const psi = phi + length;
    assert_non_null(phi);
    for (size_t k = 0; k < COUNT_OF(team_sizes); k++) {
        const struct force_options options =
            options_of(PRECISION_DOUBLE, "auto", "auto", team_sizes[k]);
        struct force *force;
        assert_int_equal(force_create(&options, &problem.physics, bodies, &force, &error), 0);
#pragma omp parallel num_threads(options.threads)
        force_potentials(force, bodies, phi, psi);
        force_destroy(force);
        if (k == 0)
            memcpy(phi + 2 * length, phi, 2 * length * sizeof *phi);
        assert_memory_equal(phi, phi + 2 * length, 2 * length * sizeof *phi);
    }
    memory_free(phi);
    bodies_destroy(bodies);
}

/* --- the choice
 * --------------------------------------------------------------------------------------- */

static void test_instruction_sets_are_chosen(void **state)
{
    (void)state;
    const struct physics physics = { .gravitational_constant = 1 };
    struct bodies *bodies;
    struct force *force;
    assert_int_equal(bodies_create(1, 100, &bodies, &error), STATUS_OK);
    struct force_options options = options_of(PRECISION_DOUBLE, "plain", "auto", 1);

    setenv("ORRERY_ISA", "baseline", 1);
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    assert_string_equal(force_isa(force), "baseline");
    assert_string_equal(force_kernel(force), "plain");
    force_destroy(force);

    setenv("ORRERY_ISA", "mmx", 1);
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_UNAVAILABLE);
    assert_non_null(strstr(error.text, "ORRERY_ISA = mmx"));
    assert_null(force);
    error_clear(&error);

    unsetenv("ORRERY_ISA");
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    assert_true(force_isa_suits(force_isa(force)));
    force_destroy(force);
    assert_true(force_isa_suits("auto") && force_isa_suits("baseline"));
    assert_false(force_isa_runs("mmx") || force_isa_suits("mmx"));

    setenv("ORRERY_ISA", "mmx", 1);
    options.isa = "baseline"; /* the config is the stronger one */
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    force_destroy(force);
    unsetenv("ORRERY_ISA");

    options.kernel = "reference";
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    assert_string_equal(force_kernel(force), "reference");
    force_destroy(force);
    bodies_destroy(bodies);
}

/* Newton's third law divides by masses; where one is 0 the plain kernel does the work. */
static void test_massless_bodies_take_the_plain_kernel(void **state)
{
    (void)state;
    const struct problem problem = { 300, UNIFORM, SOME_ZERO, { 1, 0.1, BOUNDARY_OPEN, 0, NULL } };
    struct bodies *bodies;
    struct force *force;
    assert_int_equal(bodies_create(1, problem.count, &bodies, &error), STATUS_OK);
    fill(&problem, bodies, 2);
    const struct force_options options = options_of(PRECISION_DOUBLE, "symmetric", "auto", 1);
    assert_int_equal(force_create(&options, &problem.physics, bodies, &force, &error), STATUS_OK);
    assert_string_equal(force_kernel(force), "plain");
    force_destroy(force);
    bodies_destroy(bodies);
}

int main(void)
{
    for (size_t isa = 0; isa_at(isa); isa++)
        if (!isa_runs(isa_at(isa)))
            printf("# skipped: this machine does not run the %s kernels\n", isa_at(isa));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_softened),
        cmocka_unit_test(test_open_unsoftened),
        cmocka_unit_test(test_periodic_softened),
        cmocka_unit_test(test_periodic_unsoftened),
        cmocka_unit_test(test_coincident_bodies_add_nothing),
        cmocka_unit_test(test_any_units),
        cmocka_unit_test(test_an_escaper_takes_no_digits),
        cmocka_unit_test(test_potentials),
        cmocka_unit_test(test_potential_of_coincident_bodies),
        cmocka_unit_test(test_same_bits_on_any_threads),
        cmocka_unit_test(test_same_bits_in_batches),
        cmocka_unit_test(test_same_potentials_on_any_threads),
        cmocka_unit_test(test_instruction_sets_are_chosen),
        cmocka_unit_test(test_massless_bodies_take_the_plain_kernel),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
