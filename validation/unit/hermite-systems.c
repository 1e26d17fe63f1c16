/* hermite4 for all systems of a run: what every integrator that chooses its own steps has promised
 * (integrator/adaptive.h). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hermite-case.h"
#include "integrator/adaptive-systems.h"
#include "saved-case.h"

static const struct physics soft = { .gravitational_constant = 1, .softening = 0.02 };

static double uniform(double least, double greatest)
{
    return least + (greatest - least) * (double)rand() / RAND_MAX;
}

/* Spheres of bodies, no two of one size. */
static struct bodies *spheres(size_t systems, size_t count)
{
    struct bodies *const b = motion_bodies(systems, count);
    srand(2385);
    for (size_t s = 0; s < systems; s++)
        for (size_t k = 0; k < count; k++) {
            const size_t i = s * b->stride + k;
            const double size = 0.5 + 0.1 * (double)s;
            b->id[i] = (int64_t)(100 * s + k + 1);
            b->m[i] = uniform(0.5, 1.5) / (double)count;
            b->x[i] = size * uniform(-1, 1);
            b->y[i] = size * uniform(-1, 1);
            b->z[i] = size * uniform(-1, 1);
            b->vx[i] = uniform(-0.4, 0.4);
            b->vy[i] = uniform(-0.4, 0.4);
            b->vz[i] = uniform(-0.4, 0.4);
        }
    return b;
}

static struct bodies *copy_of(const struct bodies *from)
{
    struct bodies *const to = motion_bodies(from->systems, from->count);
    for (size_t s = 0; s < from->systems; s++)
        bodies_copy_system(to, s, from, s);
    return to;
}

/* Compares the bits of positions and velocities. */
static void assert_same_bits(const struct bodies *a, const struct bodies *b, const char *what)
{
    const double *const left[] = { a->x, a->y, a->z, a->vx, a->vy, a->vz };
    const double *const right[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    for (size_t k = 0; k < COUNT_OF(left); k++)
        for (size_t i = 0; i < bodies_length(a); i++)
            if (memcmp(&left[k][i], &right[k][i], sizeof(double)) != 0)
                fail_msg("%s: array %zu, body %zu: %.17g and %.17g", what, k, i, left[k][i],
                         right[k][i]);
}

/* 0.5 further, in `calls` calls of 8 grid steps in all. */
static void run(const struct bodies *from, struct bodies **to, enum precision precision,
                int threads, uint64_t calls)
{
    *to = copy_of(from);
    struct adaptive *const adaptive = case_start(&soft, *to, precision, threads, 1);
    for (uint64_t k = 0; k < calls; k++)
        case_advance(adaptive, 0.0625, 8 / calls);
    hermite_class.destroy(adaptive);
}

static void check_bits(struct bodies *from, int most_threads, uint64_t most_calls)
{
    for (int p = PRECISION_DOUBLE; p <= PRECISION_MIXED; p++) {
        struct bodies *expected, *found;
        run(from, &expected, (enum precision)p, 1, 1);
        for (int threads = 1; threads <= most_threads; threads++)
            for (uint64_t calls = 1; calls <= most_calls; calls *= 8) {
                char what[80];
                snprintf(what, sizeof what, "%s, %d threads, %d calls", precision_names[p], threads,
                         (int)calls);
                run(from, &found, (enum precision)p, threads, calls);
                assert_same_bits(found, expected, what);
                bodies_destroy(found);
            }
        bodies_destroy(expected);
    }
    bodies_destroy(from);
}

static void test_the_same_bits_for_any_threads_and_cadence(void **state)
{
    (void)state;
    check_bits(spheres(1, 1030), 3, 1); /* by a team */
    check_bits(spheres(5, 40), 3, 8);   /* each system by one thread */
}

static void test_a_system_alone_and_among_others(void **state)
{
    (void)state;
    struct bodies *const all = spheres(5, 40), *const one = motion_bodies(1, 40);
    struct bodies *moved, *alone;
    bodies_copy_system(one, 0, all, 3);
    run(all, &moved, PRECISION_MIXED, 2, 1);
    run(one, &alone, PRECISION_MIXED, 3, 1);
    assert_true(motion_equal(alone, 0, moved, 3));
    bodies_destroy(all);
    bodies_destroy(moved);
    bodies_destroy(one);
    bodies_destroy(alone);
}

static void test_it_goes_on_from_what_was_saved(void **state)
{
    (void)state;
    struct bodies *const whole = spheres(3, 40);
    struct adaptive *const first = case_start(&soft, whole, PRECISION_MIXED, 2, 1);
    case_advance(first, 0.0625, 3);
    struct saved saved = saved_from(first);
    struct bodies *const rest = copy_of(whole);
    struct adaptive *const second = case_start(&soft, rest, PRECISION_MIXED, 1, 1);
    assert_int_equal(saved_load(&saved, second), STATUS_OK);
    case_advance(first, 0.0625, 5);
    case_advance(second, 0.0625, 5);
    assert_same_bits(rest, whole, "loaded");
    for (size_t s = 0; s < 3; s++) {
        const struct work_done a = case_statistics(first, s), b = case_statistics(second, s);
        assert_close(a.steps, b.steps, 0);
        assert_close(a.smallest, b.smallest, 0);
        assert_int_equal(a.pair[0], b.pair[0]);
    }
    /* damaged: steps by which no body comes to the grid point, and a body that is not there */
    double *const step = (double *)saved.items[0].words + 6 * 40 + 3;
    const double wrong[] = { NAN, INFINITY, 0, -0.03125, 0.125, 0.0312, ldexp(0.0625, -51) };
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        *step = wrong[k];
        assert_int_equal(saved_load(&saved, second), STATUS_DATA);
    }
    *step = ldexp(0.0625, -50); /* the deepest */
    assert_int_equal(saved_load(&saved, second), STATUS_OK);
    *step = 0.0625;
    assert_int_equal(saved_load(&saved, second), STATUS_OK);
    ((struct adaptive_clock *)saved.items[1].words)->limiting = 40;
    assert_int_equal(saved_load(&saved, second), STATUS_DATA);
    saved_free(&saved);
    hermite_class.destroy(first);
    hermite_class.destroy(second);
    bodies_destroy(whole);
    bodies_destroy(rest);
}

/* A shadow begins where a system stands, with steps half as long on a grid of half the step. */
static void test_a_finer_copy(void **state)
{
    (void)state;
    struct bodies *const all = spheres(2, 40);
    struct adaptive *const run_own = case_start(&soft, all, PRECISION_DOUBLE, 1, 1);
    case_advance(run_own, 0.0625, 4);
    struct bodies *const copy = copy_of(all);
    struct adaptive *const shadow = case_start(&soft, copy, PRECISION_DOUBLE, 1, 2);
    hermite_class.copy_system(shadow, 0, run_own, 0);
    hermite_class.copy_system(shadow, 1, run_own, 1);
    assert_close(case_statistics(shadow, 1).current, case_statistics(run_own, 1).current / 2, 0);
    const double before[2] = { case_statistics(run_own, 0).steps,
                               case_statistics(shadow, 0).steps };
    assert_close(before[0], before[1], 0);
    case_advance(run_own, 0.0625, 4);
    case_advance(shadow, 0.03125, 8);
    const double ratio = (case_statistics(shadow, 0).steps - before[1]) /
                         (case_statistics(run_own, 0).steps - before[0]);
    assert_close(ratio, 2, 0.2);
    double largest = 0;
    for (size_t i = 0; i < all->count; i++)
        largest = fmax(largest, fabs(all->x[i] - copy->x[i]));
    assert_true(largest > 0 && largest < 1e-5);
    hermite_class.destroy(run_own);
    hermite_class.destroy(shadow);
    bodies_destroy(all);
    bodies_destroy(copy);
}

/* Steps that are as long as the grid's become half as long where both are refined. */
static void test_a_finer_copy_on_the_grid(void **state)
{
    (void)state;
    struct bodies *const own = case_pair(0.3);
    struct adaptive *const run_own = case_start(&case_newton, own, PRECISION_DOUBLE, 1, 1);
    case_advance(run_own, 0.02, 50);
    struct bodies *const copy = copy_of(own);
    struct adaptive *const shadow = case_start(&case_newton, copy, PRECISION_DOUBLE, 1, 2);
    hermite_class.copy_system(shadow, 0, run_own, 0);
    const double before = case_statistics(run_own, 0).steps;
    case_advance(run_own, 0.02, 50);
    case_advance(shadow, 0.01, 100);
    assert_close(case_statistics(run_own, 0).steps - before, 2 * 50, 0);
    assert_close(case_statistics(shadow, 0).steps - before, 2 * 100, 0);
    hermite_class.destroy(run_own);
    hermite_class.destroy(shadow);
    bodies_destroy(own);
    bodies_destroy(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bits_for_any_threads_and_cadence),
        cmocka_unit_test(test_a_system_alone_and_among_others),
        cmocka_unit_test(test_it_goes_on_from_what_was_saved),
        cmocka_unit_test(test_a_finer_copy),
        cmocka_unit_test(test_a_finer_copy_on_the_grid),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("hermite-systems", tests, NULL, NULL);
}
