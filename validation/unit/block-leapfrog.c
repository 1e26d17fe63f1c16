/* The leapfrog with block steps: its steps counted by hand, its orbits against the map that a
 * leapfrog makes of a circle, and what every integrator that chooses its own steps has promised
 * (integrator/adaptive.h). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "block-case.h"
#include "force/direct/reference.h"
#include "integrator/block-steps.h"

static const struct physics soft = { .gravitational_constant = 1, .softening = 0.04 };

static enum status create(const struct physics *physics, struct bodies *bodies, const char *kernel,
                          enum precision precision, int threads, double eta, double refinement,
                          struct adaptive **adaptive)
{
    static struct error error;
    const struct force_options force = {
        .precision = precision, .kernel = kernel, .isa = "auto", .threads = threads
    };
    const double values[BLOCK_LEAPFROG_PARAMETERS] = { NAN, eta };
    const struct adaptive_options options = { .values = values,
                                              .refinement = refinement,
                                              .force = &force };
    error = (struct error){ 0 };
    return block_leapfrog_class.create(&options, physics, bodies, adaptive, &error);
}

static struct adaptive *start(const struct physics *physics, struct bodies *bodies,
                              enum precision precision, int threads, double eta)
{
    struct adaptive *adaptive;
    assert_int_equal(create(physics, bodies, "auto", precision, threads, eta, 1, &adaptive),
                     STATUS_OK);
    return adaptive;
}

/* --- steps that are known --------------------------------------------------------------------- */

/*
 * Bodies without mass around one of mass 1, at rest, at r = 1, 4 and 16. With eps = 0.04 and eta =
 * 0.2 they ask for 0.2 (0.04 / |a|)^(1/2), where |a| = r / (r^2 + eps^2)^(3/2) is some 1/r^2: 0.04,
 * 0.16 and 0.64. So on a grid of 1 their steps are 1/32, 1/8 and 1/2, and that of the one which
 * feels no force is 1.
 */
enum { AROUND = 3 };
static const double radius[AROUND] = { 1, 4, 16 };
static const int level[AROUND] = { 5, 3, 1 };

static double pull(double r)
{
    return r / pow(r * r + soft.softening * soft.softening, 1.5);
}

/*
 * A leapfrog of steps h goes round a circle in steps of the angle theta: from x_(n+1) - 2 x_n +
 * x_(n-1) = h^2 a_n follows 4 sin^2(theta / 2) = h^2 |a| / r, if it begins with the velocity
 * r sin(theta) / h.
 */
static double angle_of_step(double r, double h)
{
    return 2 * asin(0.5 * h * sqrt(pull(r) / r));
}

static struct bodies *circles(double dt)
{
    struct bodies *const b = motion_bodies(1, 1 + AROUND);
    b->m[0] = 1;
    for (size_t k = 0; k < AROUND; k++) {
        const double h = ldexp(dt, -level[k]);
        b->id[k + 1] = (int64_t)(k + 2);
        b->m[k + 1] = 0;
        b->x[k + 1] = radius[k];
        b->vy[k + 1] = radius[k] * sin(angle_of_step(radius[k], h)) / h;
    }
    return b;
}

static void check_circles(const char *kernel)
{
    static struct error error;
    struct bodies *const b = circles(1);
    struct adaptive *adaptive;
    double levels[ADAPTIVE_LEVELS];
    assert_int_equal(create(&soft, b, kernel, PRECISION_DOUBLE, 1, 0.2, 1, &adaptive), STATUS_OK);
    block_leapfrog_class.count_levels(adaptive, 0, levels);
    assert_close(levels[0] + levels[1] + levels[3] + levels[5], 0, 0);
    assert_int_equal(block_leapfrog_class.advance(adaptive, 1, 3, &error), STATUS_OK);
    for (size_t k = 0; k < AROUND; k++) {
        const double steps = 3 * ldexp(1, level[k]);
        const double angle = steps * angle_of_step(radius[k], ldexp(1, -level[k]));
        assert_close(b->x[k + 1], radius[k] * cos(angle), 1e-12 * radius[k]);
        assert_close(b->y[k + 1], radius[k] * sin(angle), 1e-12 * radius[k]);
    }
    block_leapfrog_class.count_levels(adaptive, 0, levels);
    for (int k = 0; k < ADAPTIVE_LEVELS; k++)
        assert_close(levels[k], k == 0 || k == 1 || k == 3 || k == 5, 0);
    /* 32 + 8 + 2 + 1 steps of the grid's; each sums over 4 bodies, and all did so at the start */
    const struct work_done done = case_statistics(adaptive, 0);
    assert_close(done.steps, 3 * 43, 0);
    assert_close(done.interactions, (3 * 43 + 4) * 4, 0);
    assert_close(done.smallest, 1.0 / 32, 0);
    assert_close(done.current, 1.0 / 32, 0);
    assert_int_equal(done.pair[0], 2);
    assert_int_equal(done.pair[1], 1);
    assert_close(done.time, 3, 0);
    block_leapfrog_class.destroy(adaptive);
    bodies_destroy(b);
}

static void test_steps_by_hand(void **state)
{
    (void)state;
    check_circles("auto");
    check_circles("reference");
}

/* By exact circular velocities, with the levels kept: a quarter of the error with half the steps.
 */
static void test_second_order(void **state)
{
    (void)state;
    double off[2] = { 0 };
    for (int halved = 0; halved < 2; halved++) {
        const double part = ldexp(1, -halved);
        struct bodies *const b = circles(1);
        for (size_t k = 0; k < AROUND; k++)
            b->vy[k + 1] = sqrt(pull(radius[k]) * radius[k]);
        struct adaptive *const adaptive = start(&soft, b, PRECISION_DOUBLE, 1, 0.2 * part);
        case_advance(adaptive, part, 4u << halved);
        assert_close(case_statistics(adaptive, 0).steps, (4u << halved) * 43, 0);
        for (size_t k = 0; k < AROUND; k++) {
            const double angle = 4 * sqrt(pull(radius[k]) / radius[k]);
            off[halved] = fmax(off[halved], hypot(b->x[k + 1] - radius[k] * cos(angle),
                                                  b->y[k + 1] - radius[k] * sin(angle)));
        }
        block_leapfrog_class.destroy(adaptive);
        bodies_destroy(b);
    }
    assert_close(off[0] / off[1], 4, 0.05);
}

/* The energy of a body without mass that falls from 1 towards the other one and back, on an orbit
 * of e = 0.9: its step becomes longer and shorter by a factor of 8, or it would not come back. The
 * step is r eta (eps)^(1/2): some 0.04 of the time scale of its motion at every r. */
static void test_steps_grow_and_shrink(void **state)
{
    (void)state;
    double levels[ADAPTIVE_LEVELS], most[2] = { 0 };
    for (int halved = 0; halved < 2; halved++) {
        struct bodies *const b = motion_bodies(1, 2);
        int fewest = ADAPTIVE_LEVELS, deepest = 0;
        b->m[0] = 1;
        b->m[1] = 0;
        b->x[1] = 1;
        b->vy[1] = sqrt(0.1);
        struct adaptive *const adaptive = start(&soft, b, PRECISION_DOUBLE, 1, ldexp(0.2, -halved));
        const double first = 0.5 * 0.1 - 1 / sqrt(1 + 0.04 * 0.04);
        for (int k = 0; k < 200; k++) {
            case_advance(adaptive, 0.03125, 1);
            const double v2 = b->vx[1] * b->vx[1] + b->vy[1] * b->vy[1];
            const double r2 = b->x[1] * b->x[1] + b->y[1] * b->y[1];
            most[halved] = fmax(most[halved], fabs(0.5 * v2 - 1 / sqrt(r2 + 0.04 * 0.04) - first));
            block_leapfrog_class.count_levels(adaptive, 0, levels);
            for (int n = 1; n < ADAPTIVE_LEVELS; n++) /* the other one is on the grid */
                if (levels[n] > 0) {
                    fewest = n < fewest ? n : fewest;
                    deepest = n > deepest ? n : deepest;
                }
        }
        assert_true(deepest >= 3 && deepest - fewest >= 2);
        block_leapfrog_class.destroy(adaptive);
        bodies_destroy(b);
    }
    assert_true(most[0] < 0.05);
    assert_true(most[1] < most[0] / 2);
}

/* --- what is promised ------------------------------------------------------------------------- */

static struct adaptive *begin(struct bodies *bodies, enum precision precision, int threads,
                              double refinement)
{
    struct adaptive *adaptive;
    assert_int_equal(create(&soft, bodies, "auto", precision, threads, 0.2, refinement, &adaptive),
                     STATUS_OK);
    return adaptive;
}

static const struct block_case leapfrog = {
    begin, true, PRECISION_SINGLE, 3, 0.1, 0.1 /* of the size: they fall together */
};

static void test_the_same_bits_for_any_threads_and_cadence(void **state)
{
    (void)state;
    case_check_schedules(&leapfrog);
}

static void test_a_system_alone_and_among_others(void **state)
{
    (void)state;
    case_check_alone(&leapfrog);
}

/* All bodies on the grid: velocity Verlet, but for the order in which r^2 + eps^2 is added. */
static void test_one_level_is_velocity_verlet(void **state)
{
    (void)state;
    struct bodies *const blocks = case_spheres(1, 40, true), *const verlet = case_copy(blocks);
    double *const x[] = { verlet->x, verlet->y, verlet->z },
                  *const v[] = { verlet->vx, verlet->vy, verlet->vz },
                  *const a[] = { verlet->ax, verlet->ay, verlet->az };
    struct adaptive *adaptive;
    assert_int_equal(create(&soft, blocks, "reference", PRECISION_DOUBLE, 1, 1e9, 1, &adaptive),
                     STATUS_OK);
    case_advance(adaptive, 0.01, 20);
    reference_accelerations(&soft, verlet);
    for (int step = 0; step < 20; step++) {
        for (int axis = 0; axis < 3; axis++)
            for (size_t i = 0; i < verlet->count; i++) {
                v[axis][i] += 0.5 * 0.01 * a[axis][i];
                x[axis][i] += 0.01 * v[axis][i];
            }
        reference_accelerations(&soft, verlet);
        for (int axis = 0; axis < 3; axis++)
            for (size_t i = 0; i < verlet->count; i++)
                v[axis][i] += 0.5 * 0.01 * a[axis][i];
    }
    for (size_t i = 0; i < blocks->count; i++) {
        assert_close(blocks->x[i], verlet->x[i], 1e-12);
        assert_close(blocks->vz[i], verlet->vz[i], 1e-12);
    }
    assert_close(case_statistics(adaptive, 0).steps, 20 * 40, 0);
    block_leapfrog_class.destroy(adaptive);
    bodies_destroy(blocks);
    bodies_destroy(verlet);
}

static void test_it_goes_on_from_what_was_saved(void **state)
{
    (void)state;
    case_check_saved(&leapfrog);
}

static void test_a_finer_copy(void **state)
{
    (void)state;
    case_check_finer(&leapfrog);
}

/* --- what cannot be done ---------------------------------------------------------------------- */

static void test_no_softening_is_refused(void **state)
{
    (void)state;
    const struct physics bare = { .gravitational_constant = 1 };
    struct bodies *const b = case_spheres(1, 4, true);
    struct adaptive *adaptive;
    assert_int_equal(create(&bare, b, "auto", PRECISION_DOUBLE, 1, 0.2, 1, &adaptive),
                     STATUS_CONFIG);
    assert_null(adaptive);
    bodies_destroy(b);
}

/* A step below the shortest one ends the motion, names the pair, and leaves positions and
 * velocities of one time: here those of the start. */
static void test_a_step_too_short_is_named(void **state)
{
    (void)state;
    static struct error error;
    struct bodies *const b = case_spheres(1, 4, true), *const before = case_copy(b);
    struct adaptive *adaptive = start(&soft, b, PRECISION_DOUBLE, 1, 1e-16);
    assert_int_equal(block_leapfrog_class.advance(adaptive, 1, 1, &error), STATUS_NUMERICAL);
    assert_non_null(strstr(error.text, "system 1, bodies "));
    assert_non_null(strstr(error.text, "less than time.step / 2^50"));
    assert_true(case_statistics(adaptive, 0).stuck);
    assert_close(case_statistics(adaptive, 0).time, 0, 0);
    case_assert_equal(b, before, "stuck at the start");
    block_leapfrog_class.destroy(adaptive);
    bodies_destroy(b);
    bodies_destroy(before);
}

/*
 * The same in the midst of a grid step, by a force that is not finite: of three bodies without mass
 * one is so fast that its position overflows beyond t = 1.797e308 / 1e308. The body at r = 1 is the
 * first that is due after that, at 58/32. That at r = 16, which began its step at 1.5, is brought
 * there: it falls with 1/256, to 2 % as a leapfrog of steps of 1/2 sees it.
 */
static void test_a_force_that_is_not_finite(void **state)
{
    (void)state;
    static struct error error;
    struct bodies *const b = circles(64);
    struct adaptive *adaptive;
    const double t = 58.0 / 32, a = pull(16);
    b->vy[1] = 1;
    b->vy[2] = 1e308;
    b->vy[3] = 0;
    assert_int_equal(create(&soft, b, "reference", PRECISION_DOUBLE, 1, 0.2, 1, &adaptive),
                     STATUS_OK);
    assert_int_equal(block_leapfrog_class.advance(adaptive, 64, 1, &error), STATUS_NUMERICAL);
    assert_string_equal(error.text, "system 1: the force on body 2 is not finite at t = 1.8125");
    assert_close(case_statistics(adaptive, 0).time, t, 0);
    assert_close((16 - b->x[3]) / (0.5 * a * t * t), 1, 0.02);
    assert_close(b->vx[3] / (-a * t), 1, 0.01);
    block_leapfrog_class.destroy(adaptive);
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_by_hand),
        cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_steps_grow_and_shrink),
        cmocka_unit_test(test_the_same_bits_for_any_threads_and_cadence),
        cmocka_unit_test(test_a_system_alone_and_among_others),
        cmocka_unit_test(test_one_level_is_velocity_verlet),
        cmocka_unit_test(test_it_goes_on_from_what_was_saved),
        cmocka_unit_test(test_a_finer_copy),
        cmocka_unit_test(test_no_softening_is_refused),
        cmocka_unit_test(test_a_step_too_short_is_named),
        cmocka_unit_test(test_a_force_that_is_not_finite),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("block-leapfrog", tests, NULL, NULL);
}
