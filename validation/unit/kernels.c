/*
 * Every force and potential kernel that this machine runs, against the reference: on random and
 * clustered bodies, in open space and in a box, with and without softening, with equal and with
 * random masses, at counts around the widths of vectors and the sizes of tiles.
 */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "force/direct/reference.h"
#include "kernel-case.h"

static struct error error;

/* --- one kernel against the reference --------------------------------------------------------- */

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

static void assert_guarded(const struct bodies *bodies, size_t system, const char *what)
{
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = s * bodies->stride; s != system && i < (s + 1) * bodies->stride; i++)
            if (bodies->ax[i] != case_untouched || bodies->ay[i] != case_untouched ||
                bodies->az[i] != case_untouched)
                fail_msg("%s: wrote to body %zu of system %zu", what, i - s * bodies->stride, s);
}

static void compare(const struct problem *problem, const struct force_options *options,
                    const struct bodies *all, const double *exact, const double *bounds)
{
    const struct bodies one = case_view(all, 1);
    char what[160];
    snprintf(what, sizeof what, "%s %s %s, N = %zu, layout %d, masses %d, boundary %d, eps %g",
             precision_names[options->precision], options->kernel, options->isa, problem->count,
             problem->layout, problem->masses, problem->physics.boundary,
             problem->physics.softening);
    case_guard(all);
    case_run(options, &problem->physics, &one);
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
    struct bodies *const bodies = motion_bodies(3, problem->count);
    case_fill(problem, bodies, 17 + (unsigned)problem->count);
    const struct bodies one = case_view(bodies, 1);
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
        for (size_t isa = 0; case_isa(isa); isa++)
            for (size_t k = 0; k < COUNT_OF(case_kernels) && case_isa_runs(case_isa(isa)); k++) {
                const struct force_options options =
                    case_options((enum precision)p, case_kernels[k], case_isa(isa), 1);
                compare(problem, &options, bodies, exact, bounds);
            }
    }
    memory_free(exact);
    memory_free(bounds);
    bodies_destroy(bodies);
}

/* Around the 2 to 16 lanes of vectors, groups of 2 and 4, two and three vectors, blocks of 32 and
 * 64, tiles of 128 and 256, and a thousand: more than 200
 * with a third of the layouts and masses each, where the tests are not thorough. */
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
                if (!thorough() && counts[k] > 200 && (layout + masses + (int)k) % 3)
                    continue;
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

/* --- special cases ---------------------------------------------------------------------------- */

/* Bodies on top of each other pull each other with exactly 0. */
static void test_coincident_bodies_add_nothing(void **state)
{
    (void)state;
    const double softenings[] = { 0, 0.0432 };
    struct bodies *const bodies = motion_bodies(1, 200);
    for (size_t i = 0; i < bodies->count; i++) {
        bodies->m[i] = 1.385 + (double)(i % 7);
        bodies->x[i] = 0.1, bodies->y[i] = -123.7, bodies->z[i] = 4.2e9;
    }
    for (size_t p = 0; precision_names[p]; p++)
        for (size_t isa = 0; case_isa(isa); isa++)
            for (size_t k = 0; k < 2 * COUNT_OF(case_kernels) && case_isa_runs(case_isa(isa));
                 k++) {
                const struct physics physics = { .gravitational_constant = 1.37,
                                                 .softening = softenings[k / 2] };
                const struct force_options options = case_options(
                    (enum precision)p, case_kernels[k % COUNT_OF(case_kernels)], case_isa(isa), 1);
                case_run(&options, &physics, bodies);
                for (size_t i = 0; i < bodies->count; i++)
                    assert_true(bodies->ax[i] == 0 && bodies->ay[i] == 0 && bodies->az[i] == 0);
            }
    bodies_destroy(bodies);
}

/* In kilograms and metres 1/r^3 and m m are far outside the range of float. */
static void test_any_units(void **state)
{
    (void)state;
    struct problem problem = {
        333, UNIFORM, RANDOM, { 6.6743e-11, 0, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL }
    };
    struct bodies *const bodies = motion_bodies(1, problem.count);
    case_fill(&problem, bodies, 5);
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
        for (size_t isa = 0; case_isa(isa); isa++)
            for (size_t k = 0; k < COUNT_OF(case_kernels) && case_isa_runs(case_isa(isa)); k++) {
                const struct force_options options =
                    case_options((enum precision)p, case_kernels[k], case_isa(isa), 1);
                case_run(&options, &problem.physics, bodies);
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
    case_run(o, &problem->physics, bodies);
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
            sizes[c], UNIFORM, RANDOM, { 1.37, 0, BOUNDARY_OPEN, 0, 0, NULL, NULL, NULL }
        };
        struct bodies *const bodies = motion_bodies(1, problem.count);
        case_fill(&problem, bodies, 19);
        for (size_t p = 1; precision_names[p]; p++)
            for (size_t isa = 0; case_isa(isa); isa++)
                for (size_t k = 0; k < 2 * COUNT_OF(case_kernels) && case_isa_runs(case_isa(isa));
                     k++) {
                    const struct force_options options =
                        case_options((enum precision)p, case_kernels[k / 2], case_isa(isa), 1);
                    const size_t escaper = (7 * k + p) % problem.count;
                    check_around_escaper(&problem, bodies, escaper, distances[k % 2], &options);
                    set_at(bodies, escaper, 0.1 * (double)k);
                }
        bodies_destroy(bodies);
    }
}

/* --- potentials ------------------------------------------------------------------------------- */

/* All terms have one sign, so the sums are good to a few roundings and those of the positions. */
static void check_potentials(const struct problem *problem, const char *isa)
{
    const struct force_options options = case_options(PRECISION_SINGLE, "auto", isa, 1);
    struct force *force;
    _Alignas(MEMORY_ALIGNMENT) double phi[2][512], psi[2][512];
    struct bodies *const bodies = motion_bodies(1, problem->count);
    assert_true(bodies->stride <= 512);
    case_fill(problem, bodies, 3);
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
            for (size_t isa = 0; case_isa(isa); isa++) {
                const struct problem problem = {
                    .count = counts[k],
                    .masses = RANDOM,
                    .physics = { .gravitational_constant = 1.37,
                                 .softening = form & 1 ? 0.0432 : 0,
                                 .boundary = form & 2 ? BOUNDARY_PERIODIC : BOUNDARY_OPEN,
                                 .box_length = 2.385 },
                };
                if (case_isa_runs(case_isa(isa)))
                    check_potentials(&problem, case_isa(isa));
            }
}

/* Two bodies at one place: each has the other's potential when softened, and none when not. */
static void test_potential_of_coincident_bodies(void **state)
{
    (void)state;
    struct bodies *const bodies = motion_bodies(1, 2);
    bodies->m[0] = 1.385, bodies->m[1] = 2.5;
    for (size_t isa = 0; case_isa(isa); isa++)
        for (int softened = 0; softened < 2 && case_isa_runs(case_isa(isa)); softened++) {
            const struct physics physics = { .gravitational_constant = 1.37,
                                             .softening = 0.25 * softened };
            const struct force_options options =
                case_options(PRECISION_DOUBLE, "auto", case_isa(isa), 1);
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

int main(void)
{
    case_tell_skipped();
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
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
