/* Tests of what every integrator with block steps promises (integrator/adaptive.h), and bodies for
 * them. */
#ifndef ORRERY_VALIDATION_BLOCK_CASE_H
#define ORRERY_VALIDATION_BLOCK_CASE_H

#include <stdlib.h>

#include "base/memory.h"
#include "integrator/adaptive-systems.h"
#include "motion-case.h"
#include "saved-case.h"
#include "unit.h"

static inline void case_advance(struct adaptive *adaptive, double dt, uint64_t steps)
{
    static struct error error;
    assert_int_equal(adaptive->class_->advance(adaptive, dt, steps, &error), STATUS_OK);
}

static inline struct work_done case_statistics(const struct adaptive *adaptive, size_t system)
{
    struct work_done statistics;
    adaptive->class_->statistics(adaptive, system, &statistics);
    return statistics;
}

static inline double case_uniform(double least, double greatest)
{
    return least + (greatest - least) * (double)rand() / RAND_MAX;
}

/* Returns systems of bodies with random positions and velocities; each is a cube of another size.
 * Concentrated ones are denser in the middle, so that their bodies take steps of several
 * lengths. */
static inline struct bodies *case_spheres(size_t systems, size_t count, bool concentrated)
{
    struct bodies *const b = motion_bodies(systems, count);
    srand(2385);
    for (size_t s = 0; s < systems; s++)
        for (size_t k = 0; k < count; k++) {
            const size_t i = s * b->stride + k;
            const double size =
                (0.5 + 0.1 * (double)s) * (concentrated ? pow(case_uniform(0, 1), 2) : 1);
            b->id[i] = (int64_t)(100 * s + k + 1);
            b->m[i] = case_uniform(0.5, 1.5) / (double)count;
            b->x[i] = size * case_uniform(-1, 1);
            b->y[i] = size * case_uniform(-1, 1);
            b->z[i] = size * case_uniform(-1, 1);
            b->vx[i] = case_uniform(-0.4, 0.4);
            b->vy[i] = case_uniform(-0.4, 0.4);
            b->vz[i] = case_uniform(-0.4, 0.4);
        }
    return b;
}

static inline struct bodies *case_copy(const struct bodies *from)
{
    struct bodies *const to = motion_bodies(from->systems, from->count);
    for (size_t s = 0; s < from->systems; s++)
        bodies_copy_system(to, s, from, s);
    return to;
}

static inline void case_assert_equal(const struct bodies *a, const struct bodies *b,
                                     const char *what)
{
    for (size_t s = 0; s < a->systems; s++)
        if (!motion_equal(a, s, b, s))
            fail_msg("%s: system %zu moves differently", what, s);
}

/* One integrator to test: a function that creates an object of it, and the properties of its
 * steps. */
struct block_case {
    struct adaptive *(*start)(struct bodies *bodies, enum precision precision, int threads,
                              double refinement);
    bool concentrated;
    enum precision last; /* the last precision, in the order of enum precision, that it can use */
    size_t arrays;       /* number of arrays in a system's state before the array of steps */
    double steps, differences; /* tolerances of case_check_finer(): number of steps, positions */
};

/* Returns a copy of the bodies, moved by 8 grid steps in `calls` calls of advance(). */
static inline struct bodies *case_moved(const struct block_case *one, const struct bodies *from,
                                        enum precision precision, int threads, uint64_t calls)
{
    struct bodies *const to = case_copy(from);
    struct adaptive *const adaptive = one->start(to, precision, threads, 1);
    for (uint64_t k = 0; k < calls; k++)
        case_advance(adaptive, 0.0625, 8 / calls);
    adaptive->class_->destroy(adaptive);
    return to;
}

static inline void case_check_bits(const struct block_case *one, size_t systems, size_t count,
                                   uint64_t most_calls)
{
    struct bodies *const from = case_spheres(systems, count, one->concentrated);
    for (enum precision p = PRECISION_DOUBLE; p <= one->last; p++) {
        struct bodies *const expected = case_moved(one, from, p, 1, 1);
        for (int threads = 1; threads <= 3; threads++)
            for (uint64_t calls = 1; calls <= most_calls; calls *= 8) {
                char what[80];
                snprintf(what, sizeof what, "%s, %d threads, %d calls", precision_names[p], threads,
                         (int)calls);
                struct bodies *const found = case_moved(one, from, p, threads, calls);
                case_assert_equal(found, expected, what);
                bodies_destroy(found);
            }
        bodies_destroy(expected);
    }
    bodies_destroy(from);
}

/* Checks that neither the number of threads nor that of calls of advance() changes a bit. */
static inline void case_check_schedules(const struct block_case *one)
{
    case_check_bits(one, 1, 1030, 1); /* a large system, moved by all threads together */
    case_check_bits(one, 5, 40, 8);   /* small systems, each moved by one thread */
}

static inline void case_check_alone(const struct block_case *one)
{
    struct bodies *const all = case_spheres(5, 40, one->concentrated);
    struct bodies *const own = motion_bodies(1, 40);
    bodies_copy_system(own, 0, all, 3);
    struct bodies *const together = case_moved(one, all, PRECISION_MIXED, 2, 1);
    struct bodies *const alone = case_moved(one, own, PRECISION_MIXED, 3, 1);
    assert_true(motion_equal(alone, 0, together, 3));
    bodies_destroy(all);
    bodies_destroy(own);
    bodies_destroy(together);
    bodies_destroy(alone);
}

/* Checks that an object with a loaded state moves the bodies as the one that saved it does, and
 * that damaged states are refused: steps by which a body would miss the grid point, and the index
 * of a body that does not exist. */
static inline void case_check_saved(const struct block_case *one)
{
    struct bodies *const whole = case_spheres(3, 40, one->concentrated);
    struct adaptive *const first = one->start(whole, PRECISION_MIXED, 2, 1);
    case_advance(first, 0.0625, 3);
    struct saved saved = saved_from(first);
    struct bodies *const rest = case_copy(whole);
    struct adaptive *const second = one->start(rest, PRECISION_MIXED, 1, 1);
    assert_int_equal(saved_load(&saved, second), STATUS_OK);
    case_advance(first, 0.0625, 5);
    case_advance(second, 0.0625, 5);
    case_assert_equal(rest, whole, "loaded");
    for (size_t s = 0; s < 3; s++) {
        const struct work_done a = case_statistics(first, s), b = case_statistics(second, s);
        assert_close(a.steps, b.steps, 0);
        assert_close(a.interactions, b.interactions, 0);
        assert_close(a.smallest, b.smallest, 0);
        assert_int_equal(a.pair[0], b.pair[0]);
    }
    double *const step = (double *)saved.items[0].words + one->arrays * 40 + 3;
    const double wrong[] = { NAN, INFINITY, 0, -0.03125, 0.125, 0.0312, ldexp(0.0625, -51) };
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        *step = wrong[k];
        assert_int_equal(saved_load(&saved, second), STATUS_DATA);
    }
    *step = ldexp(0.0625, -50); /* the shortest step that is allowed */
    assert_int_equal(saved_load(&saved, second), STATUS_OK);
    *step = 0.0625;
    assert_int_equal(saved_load(&saved, second), STATUS_OK);
    ((struct adaptive_clock *)saved.items[1].words)->limiting = 40;
    assert_int_equal(saved_load(&saved, second), STATUS_DATA);
    saved_free(&saved);
    first->class_->destroy(first);
    second->class_->destroy(second);
    bodies_destroy(whole);
    bodies_destroy(rest);
}

/* Checks a shadow, a copy that goes on from the state of a system with steps half as long, on a
 * grid of half the step: it takes twice as many steps, and its bodies come to nearly the same
 * positions. */
static inline void case_check_finer(const struct block_case *one)
{
    struct bodies *const all = case_spheres(2, 40, one->concentrated);
    struct adaptive *const own = one->start(all, PRECISION_DOUBLE, 1, 1);
    case_advance(own, 0.0625, 4);
    struct bodies *const copy = case_copy(all);
    struct adaptive *const shadow = one->start(copy, PRECISION_DOUBLE, 1, 2);
    own->class_->copy_system(shadow, 0, own, 0);
    own->class_->copy_system(shadow, 1, own, 1);
    assert_close(case_statistics(shadow, 1).current, case_statistics(own, 1).current / 2, 0);
    double levels[2][ADAPTIVE_LEVELS]; /* of the grid of the run: one further for each body */
    own->class_->count_levels(own, 1, levels[0]);
    own->class_->count_levels(shadow, 1, levels[1]);
    for (int k = 0; k + 1 < ADAPTIVE_LEVELS; k++)
        assert_close(levels[1][k + 1], levels[0][k], 0);
    const double before = case_statistics(own, 0).steps;
    assert_close(case_statistics(shadow, 0).steps, before, 0);
    case_advance(own, 0.0625, 4);
    case_advance(shadow, 0.03125, 8);
    const double ratio =
        (case_statistics(shadow, 0).steps - before) / (case_statistics(own, 0).steps - before);
    assert_close(ratio, 2, one->steps);
    double largest = 0;
    for (size_t i = 0; i < all->count; i++)
        largest = fmax(largest, fabs(all->x[i] - copy->x[i]));
    assert_true(largest > 0 && largest < one->differences);
    own->class_->destroy(own);
    shadow->class_->destroy(shadow);
    bodies_destroy(all);
    bodies_destroy(copy);
}

#endif
