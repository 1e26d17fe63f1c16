/*
 * Forces by fast multipoles beside direct sums: the error that was asked for, on distributions that
 * the method was not tuned on alone; momentum; the same bits whatever the threads and the units;
 * whatever bodies a catalogue may hold.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/memory.h"
#include "force/direct/reference.h"
#include "force/fmm/expansion.h"
#include "force/fmm/fmm-plain.h"
#include "force/fmm/fmm.h"
#include "force/method.h"
#include "unit.h"

/* Those from CORE_AND_HALO on have most of their error at few bodies, or all of their attraction.
 */
enum shape {
    CUBE,
    PLUMMER,
    TWO_SPHERES,
    DENSE_CORE,
    CUSP,
    DISC,
    DECADES,
    ESCAPER,
    CORE_AND_HALO,
    TWO_CORES,
    SHEET_AND_CLUMP,
    POWER_LAW,
    NINE_DECADES,
    FILAMENT,
    LONELY,
    BINARIES,
    ESCAPED_BINARIES,
    SHAPES
};

static const char *const shape_names[] = { "cube",
                                           "Plummer",
                                           "two spheres",
                                           "dense core",
                                           "cusp",
                                           "disc",
                                           "six decades",
                                           "escaper",
                                           "core in a halo",
                                           "two cores",
                                           "sheet and clump",
                                           "r^-3 over six decades",
                                           "nine decades",
                                           "filament",
                                           "twenty around a core",
                                           "tight binaries",
                                           "tight binaries with escapers" };

static double uniform(void)
{
    return (rand() + 0.5) / (RAND_MAX + 1.0);
}

static double plummer(double scale)
{
    return scale / sqrt(pow(0.999 * uniform(), -2.0 / 3) - 1);
}

static double radius_of(enum shape shape, size_t i)
{
    switch (shape) {
    case TWO_SPHERES:
        return cbrt(uniform());
    case DENSE_CORE:
        return plummer(uniform() < 0.3 ? 1e-3 : 1);
    case CORE_AND_HALO:
        return plummer(i % 3 == 0 ? 1e-3 : 1);
    case TWO_CORES:
        return plummer(i % 4 == 0 ? 1e-2 : i % 4 == 1 ? 1e-4 : 1);
    case SHEET_AND_CLUMP:
        return plummer(1e-3);
    case LONELY:
        return i < 20 ? 0.1 * pow(10, -4 * uniform()) : plummer(1e-4);
    case CUSP: /* density as r^-2.5 */
        return 0.01 + uniform() * uniform();
    case POWER_LAW:
        return pow(10, -6 * uniform());
    case DISC:
        return -0.3 * log(uniform());
    default:
        return plummer(1);
    }
}

/* Moves a body to where its shape wants it, from a place in a sphere; r is its distance there. */
static void place(enum shape shape, size_t i, double r, double angle, double x[3])
{
    const double t = uniform();
    switch (shape) {
    case CUBE:
        for (int d = 0; d < 3; d++)
            x[d] = uniform();
        break;
    case DISC:
        x[0] = r * cos(angle);
        x[1] = r * sin(angle);
        x[2] = 0.02 * uniform();
        break;
    case TWO_SPHERES:
        x[0] += i % 2 ? 5.385 : 0;
        break;
    case TWO_CORES:
        x[0] += i % 4 == 1 ? 2.385 : 0;
        break;
    case SHEET_AND_CLUMP: /* the clump is above the sheet */
        x[2] += 0.01;
        if (i % 3) {
            x[0] = 2 * t - 1;
            x[1] = 2 * uniform() - 1;
            x[2] = 1e-4 * uniform();
        }
        break;
    case FILAMENT:
        x[0] = 4 * t;
        x[1] = 0.1 * sin(9 * t) + 1e-3 * uniform();
        x[2] = 0.05 * cos(7 * t) + 1e-3 * uniform();
        break;
    case ESCAPER:
        x[2] = i == 17 ? 1e6 : x[2];
        break;
    case ESCAPED_BINARIES: /* pairs are 1e-12 of the whole apart */
        x[2] = i == 16 ? 1e5 : i == 18 ? -1e5 : x[2];
        break;
    default:
        break;
    }
}

static struct bodies *make(enum shape shape, size_t count)
{
    static struct error error;
    struct bodies *bodies = NULL;
    assert_int_equal(bodies_create(1, count, &bodies, &error), STATUS_OK);
    double *const to[3] = { bodies->x, bodies->y, bodies->z };
    const double decades = shape == DECADES ? 6 : shape == NINE_DECADES ? 9 : 0;
    srand(1385);
    for (size_t i = 0; i < count; i++) {
        const double r = radius_of(shape, i), c = 2 * uniform() - 1, s = sqrt(1 - c * c);
        const double angle = 2 * 3.14159265358979 * uniform();
        double x[3] = { r * s * cos(angle), r * s * sin(angle), r * c };
        place(shape, i, r, angle, x);
        for (int d = 0; d < 3; d++)
            to[d][i] = shape >= BINARIES && i % 2 ? to[d][i - 1] + 1e-6 * (uniform() - 0.5) : x[d];
        bodies->m[i] = pow(10, -decades * uniform()) / (double)count;
    }
    return bodies;
}

static struct force_options options_of(double accuracy, int threads)
{
    return (struct force_options){ .kernel = "auto",
                                   .isa = "auto",
                                   .threads = threads,
                                   .method = &force_fmm,
                                   .accuracy = accuracy };
}

static void sum(const struct force_options *options, const struct physics *physics,
                struct bodies *bodies)
{
    static struct error error;
    struct force *force = NULL;
    assert_int_equal(force_create(options, physics, bodies, &force, &error), STATUS_OK);
#pragma omp parallel num_threads(options->threads)
    force_accelerations(force, bodies);
    force_destroy(force);
}

static void take(const struct bodies *bodies, double *a[3], size_t count)
{
    const double *const from[3] = { bodies->ax, bodies->ay, bodies->az };
    for (int d = 0; d < 3; d++) {
        a[d] = test_malloc(count * sizeof(double));
        memcpy(a[d], from[d], count * sizeof(double));
    }
}

static void give(double *a[3])
{
    for (int d = 0; d < 3; d++)
        test_free(a[d]);
}

/* Returns the error of the accelerations of `bodies` beside others: rms error over rms
 * acceleration. */
static double error_beside(double *const exact[3], const struct bodies *bodies)
{
    const double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    double error2 = 0, a2 = 0;
    for (size_t i = 0; i < bodies->count; i++)
        for (int d = 0; d < 3; d++) {
            error2 += (a[d][i] - exact[d][i]) * (a[d][i] - exact[d][i]);
            a2 += exact[d][i] * exact[d][i];
        }
    return a2 > 0 ? sqrt(error2 / a2) : sqrt(error2);
}

static double error_beside_direct(const struct physics *physics, struct bodies *bodies)
{
    double *a[3], *exact[3];
    double *const to[3] = { bodies->ax, bodies->ay, bodies->az };
    take(bodies, a, bodies->count);
    reference_accelerations(physics, bodies);
    take(bodies, exact, bodies->count);
    for (int d = 0; d < 3; d++)
        memcpy(to[d], a[d], bodies->count * sizeof(double));
    const double error = error_beside(exact, bodies);
    give(a);
    give(exact);
    return error;
}

/* Returns |sum m a| over sum m |a|. */
static double momentum_of(const struct bodies *bodies)
{
    double P[3] = { 0 }, sizes = 0;
    for (size_t i = 0; i < bodies->count; i++) {
        P[0] += bodies->m[i] * bodies->ax[i];
        P[1] += bodies->m[i] * bodies->ay[i];
        P[2] += bodies->m[i] * bodies->az[i];
        sizes += bodies->m[i] * hypot(bodies->ax[i], hypot(bodies->ay[i], bodies->az[i]));
    }
    return hypot(P[0], hypot(P[1], P[2])) / sizes;
}

/* Thousands of bodies: more than one branch of the tree, and direct sums of a tenth of a second.
 * Every shape with one of the softenings and half of the accuracies, or with all where the tests
 * are thorough. */
static void test_accuracy(void **state)
{
    static const double accuracies[] = { 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8 };
    static const double softenings[] = { 0, 0.01 };
    (void)state;
    not_sanitized();
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t e = 0; e < COUNT_OF(softenings); e++) {
            if (!thorough() && e != (size_t)shape % COUNT_OF(softenings))
                continue;
            const struct physics physics = { .gravitational_constant = 1,
                                             .softening = softenings[e] };
            struct bodies *const bodies = make((enum shape)shape, thorough() ? 7000 : 4000);
            double *exact[3];
            reference_accelerations(&physics, bodies);
            take(bodies, exact, bodies->count);
            for (size_t k = 0; k < COUNT_OF(accuracies); k++) {
                if (!thorough() && (k + (size_t)shape / 2) % 2)
                    continue;
                const struct force_options options = options_of(accuracies[k], 2);
                sum(&options, &physics, bodies);
                const double error = error_beside(exact, bodies) / accuracies[k];
                const double momentum = momentum_of(bodies);
                printf("# %s, softening %g, accuracy %g: error %.2f of it, momentum %.0e\n",
                       shape_names[shape], softenings[e], accuracies[k], error, momentum);
                assert_true(error <= 1);
                /* The target of forces in float, with doubles from 1e-6 on; coordinates that are a
                 * millionth of the whole, or pairs that close, have six digits less. */
                const double in_double = shape < ESCAPER ? 1e-14 : 1e-12;
                assert_true(momentum < (accuracies[k] < 2e-6 ? in_double : 1e-6));
            }
            give(exact);
            bodies_destroy(bodies);
        }
}

/* Samples count pairs that are 1e-13 of the whole apart: without them every accuracy is missed, and
 * the tolerance falls until all bodies are near each other. */
static void test_pairs_of_escaped_binaries(void **state)
{
    static struct error error;
    const struct physics physics = { .gravitational_constant = 1 };
    struct force_options options = options_of(1e-2, 1);
    struct force_profile profile;
    struct force *force = NULL;
    (void)state;
    options.profiled = true;
    struct bodies *const bodies = make(ESCAPED_BINARIES, 4000);
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
    force_accelerations(force, bodies);
    force_fmm.profile(force, &profile);
    printf("# tight binaries with escapers: %.0f pairs per body\n", profile.pairs);
    assert_true(profile.pairs < 2000);
    force_destroy(force);
    bodies_destroy(bodies);
}

/* The plain form, and the fast one beside it; every shape with one of the accuracies, or with all.
 */
static void test_plain_form(void **state)
{
    static const double accuracies[] = { 1e-2, 1e-4, 1e-6 };
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t k = 0; k < COUNT_OF(accuracies); k++) {
            if (!thorough() && k != (size_t)shape % COUNT_OF(accuracies))
                continue;
            static struct error error;
            const struct physics physics = { .gravitational_constant = 2.385,
                                             .softening = k % 2 ? 0 : 0.01 };
            const struct force_options options = options_of(accuracies[k], 2);
            struct bodies *const bodies = make((enum shape)shape, 1500);
            struct fmm_plain *plain = NULL;
            double *a[3];
            assert_int_equal(fmm_plain_create(&physics, bodies, accuracies[k], &plain, &error),
                             STATUS_OK);
            fmm_plain_sum(plain, bodies, 0, NULL, NULL);
            take(bodies, a, bodies->count);
            const double beside_direct = error_beside_direct(&physics, bodies) / accuracies[k];
            sum(&options, &physics, bodies);
            const double beside_fast = error_beside(a, bodies) / accuracies[k];
            printf("# plain form, %s, accuracy %g: error %.2f of it, beside the fast one %.2f\n",
                   shape_names[shape], accuracies[k], beside_direct, beside_fast);
            assert_true(beside_direct <= 1);
            assert_true(beside_fast <= 2);
            fmm_plain_destroy(plain);
            give(a);
            bodies_destroy(bodies);
        }
}

static void test_same_bits(void **state)
{
    const struct physics physics = { .gravitational_constant = 1, .softening = 0.01 };
    static const int threads[] = { 1, 2, 3, 7 };
    double *first[3] = { NULL };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(threads); k++) {
        const struct force_options options = options_of(1e-4, threads[k]);
        struct bodies *const bodies = make(PLUMMER, 9000);
        const double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
        sum(&options, &physics, bodies);
        if (k == 0)
            take(bodies, first, bodies->count);
        for (int d = 0; d < 3; d++)
            assert_memory_equal(a[d], first[d], bodies->count * sizeof(double));
        bodies_destroy(bodies);
    }
    give(first);
}

/* --- bodies that are due ---------------------------------------------------------------------- */

/* Sums a, in the order of `active`, by a team that divides the packing too. */
static void sum_due(struct jerk *jerk, int threads, const struct bodies *bodies,
                    const uint32_t *active, size_t count, double *const a[3])
{
    const double *const x[3] = { bodies->x, bodies->y, bodies->z };
    const double *const v[3] = { bodies->vx, bodies->vy, bodies->vz };
#pragma omp parallel num_threads(threads)
    {
        const size_t blocks = bodies->stride / BODIES_PADDING;
        const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
        jerk_pack(jerk, x, v, blocks * rank / size * BODIES_PADDING,
                  blocks * (rank + 1) / size * BODIES_PADDING);
        jerk_sum(jerk, active, count, a, NULL);
    }
}

/* Every `part`-th body, the last ones first. */
static size_t choose(uint32_t *active, size_t bodies, size_t part)
{
    const size_t count = bodies / part;
    for (size_t k = 0; k < count; k++)
        active[k] = (uint32_t)(part * (count - 1 - k));
    return count;
}

/* Tests that forces on bodies that are due are those of a force on all at the same positions, to
 * the bit, for any number of threads; after bodies have moved, too, where the tolerance is kept;
 * and that few bodies have direct sums. Where the tests are not thorough, each accuracy with two
 * numbers of threads. */
static void test_due(void **state)
{
    enum { BODIES = 9000, MANY = 5, MORE = 3, FEWER = 45 /* parts of the bodies */ };
    const struct physics physics = { .gravitational_constant = 1.37, .softening = 0.01 };
    static const int threads[] = { 1, 2, 3, 7 };
    static const double accuracies[] = { 1e-3, 1e-4, 1e-7 };
    static uint32_t active[BODIES];
    static double a[3][BODIES], b[3][BODIES], moved[3][BODIES];
    double *const to_a[3] = { a[0], a[1], a[2] }, *const to_b[3] = { b[0], b[1], b[2] };
    static struct error error;
    (void)state;
    for (size_t q = 0; q < COUNT_OF(accuracies); q++)
        for (size_t t = 0; t < COUNT_OF(threads); t++) {
            if (!thorough() && t != 0 && t != q + 1)
                continue;
            const struct force_options options = options_of(accuracies[q], threads[t]);
            struct bodies *const bodies = make(PLUMMER, BODIES);
            double *const x[3] = { bodies->x, bodies->y, bodies->z };
            double *whole[3], error2 = 0, a2 = 0;
            struct jerk *jerk;
            sum(&options, &physics, bodies);
            take(bodies, whole, BODIES);
            assert_int_equal(jerk_create(&options, &physics, BODIES, false, &jerk, &error),
                             STATUS_OK);
            jerk_open(jerk, bodies, 0);

            /* all, which finds the tolerance, then some */
            sum_due(jerk, threads[t], bodies, active, choose(active, BODIES, 1), to_a);
            const double tolerance = jerk->tolerance;
            assert_true(tolerance > 0);
            for (size_t k = 0; k < BODIES; k++)
                for (int d = 0; d < 3; d++)
                    assert_memory_equal(&a[d][k], &whole[d][active[k]], sizeof(double));
            const size_t many = choose(active, BODIES, MANY);
            sum_due(jerk, threads[t], bodies, active, many, to_a);
            for (size_t k = 0; k < many; k++)
                for (int d = 0; d < 3; d++)
                    assert_memory_equal(&a[d][k], &whole[d][active[k]], sizeof(double));
            assert_true(jerk->tolerance == tolerance);

            /* few */
            const size_t few = choose(active, BODIES, FEWER);
            sum_due(jerk, threads[t], bodies, active, few, to_a);
            for (size_t k = 0; k < few; k++) {
                const struct reference_motion motion = {
                    bodies->m, { x[0], x[1], x[2] }, { x[0], x[1], x[2] }, BODIES
                };
                double direct[3], rate[3];
                reference_jerk(&physics, &motion, active[k], direct, rate);
                for (int d = 0; d < 3; d++) {
                    error2 += (a[d][k] - direct[d]) * (a[d][k] - direct[d]);
                    a2 += direct[d] * direct[d];
                }
            }
            /* pair terms have 24 digits, and the sums lose some of them */
            assert_true(sqrt(error2 / a2) < (accuracies[q] > 1e-6 ? 1e-6 : 1e-12));

            /* elsewhere, by two choices of bodies; the second one with a new object */
            for (int d = 0; d < 3; d++)
                for (size_t i = 0; i < BODIES; i++)
                    x[d][i] *= 1.03 + 0.01 * d;
            sum_due(jerk, threads[t], bodies, active, choose(active, BODIES, MANY), to_a);
            assert_true(jerk->tolerance == tolerance);
            jerk_destroy(jerk);
            assert_int_equal(jerk_create(&options, &physics, BODIES, false, &jerk, &error),
                             STATUS_OK);
            jerk_open(jerk, bodies, 0);
            jerk->tolerance = tolerance;
            const size_t more = choose(active, BODIES, MORE);
            sum_due(jerk, threads[t], bodies, active, more, to_b);
            for (size_t k = 0; k < many; k++)
                for (int d = 0; d < 3 && MANY * k % MORE == 0; d++)
                    assert_memory_equal(&a[d][many - 1 - k], &b[d][more - 1 - MANY * k / MORE],
                                        sizeof(double));
            for (int d = 0; d < 3; d++) {
                if (t == 0)
                    memcpy(moved[d], b[d], more * sizeof(double));
                assert_memory_equal(b[d], moved[d], more * sizeof(double));
            }

            /* the tolerance of another place is good here: the error is below the accuracy */
            double *const place[3] = { bodies->ax, bodies->ay, bodies->az };
            sum_due(jerk, threads[t], bodies, active, choose(active, BODIES, 2), to_a);
            reference_accelerations(&physics, bodies);
            error2 = a2 = 0;
            for (size_t k = 0; k < BODIES / 2; k++)
                for (int d = 0; d < 3; d++) {
                    error2 += pow(a[d][k] - place[d][active[k]], 2);
                    a2 += pow(place[d][active[k]], 2);
                }
            assert_true(sqrt(error2 / a2) < accuracies[q]);
            assert_true(sqrt(error2 / a2) > 0.05 * accuracies[q]);

            /* a tolerance that is not known is found, though some bodies alone are due */
            give(whole);
            sum(&options, &physics, bodies);
            take(bodies, whole, BODIES);
            jerk->tolerance = 0;
            sum_due(jerk, threads[t], bodies, active, many, to_a);
            for (size_t k = 0; k < many; k++)
                for (int d = 0; d < 3; d++)
                    assert_memory_equal(&a[d][k], &whole[d][active[k]], sizeof(double));
            jerk_destroy(jerk);
            give(whole);
            bodies_destroy(bodies);
        }
}

/* Tests the same of the plain form, and that neither has jerks. */
static void test_plain_due(void **state)
{
    enum { BODIES = 900, PART = 7 };
    const struct physics physics = { .gravitational_constant = 1.37, .softening = 0.01 };
    struct force_options options = options_of(1e-3, 1);
    struct bodies *const bodies = make(PLUMMER, BODIES);
    double *const whole[3] = { bodies->ax, bodies->ay, bodies->az };
    static uint32_t active[BODIES];
    static double a[3][BODIES];
    static struct error error;
    struct fmm_plain *plain;
    struct jerk *jerk;
    (void)state;
    options.kernel = "reference";
    assert_int_equal(jerk_create(&options, &physics, BODIES, false, &jerk, &error), STATUS_OK);
    assert_int_equal(fmm_plain_create(&physics, bodies, 1e-3, &plain, &error), STATUS_OK);
    fmm_plain_sum(plain, bodies, 0, NULL, NULL);
    jerk_open(jerk, bodies, 0);
    const size_t count = choose(active, BODIES, PART);
    sum_due(jerk, 1, bodies, active, count, (double *const[]){ a[0], a[1], a[2] });
    for (size_t k = 0; k < count; k++)
        for (int d = 0; d < 3; d++)
            assert_memory_equal(&a[d][k], &whole[d][active[k]], sizeof(double));
    fmm_plain_destroy(plain);
    jerk_destroy(jerk);
    for (int k = 0; k < 2; k++) {
        options.kernel = k ? "auto" : "reference";
        assert_int_equal(jerk_create(&options, &physics, BODIES, true, &jerk, &error),
                         STATUS_CONFIG);
        assert_string_equal(error.text, "compute.method = \"fmm\" has no jerks");
        error_clear(&error);
    }
    bodies_destroy(bodies);
}

/* In lengths 2^k times as large, accelerations are 4^k times as small, to the bit. */
static bool always(void *context)
{
    (void)context;
    return true;
}

/* Tests that the plain form leaves its sums out once somebody wants them to end, and that the next
 * ones are whole. */
static void test_plain_form_interrupted(void **state)
{
    static struct error error;
    struct interruption interruption = { .asked = always };
    const struct physics physics = { .gravitational_constant = 1,
                                     .softening = 0.01,
                                     .interruption = &interruption };
    struct bodies *const bodies = make(PLUMMER, 4000);
    struct fmm_plain *plain = NULL;
    size_t without[2] = { 0 };
    (void)state;
    assert_int_equal(fmm_plain_create(&physics, bodies, 1e-4, &plain, &error), STATUS_OK);
    for (int whole = 0; whole < 2; whole++) {
        interruption_lower(&interruption);
        if (whole)
            interruption.next_look = INT64_MAX;
        fmm_plain_sum(plain, bodies, 0, NULL, NULL);
        assert_int_equal(interruption_noticed(&interruption), !whole);
        for (size_t i = 0; i < bodies->count; i++)
            without[whole] += bodies->ax[i] == 0;
    }
    assert_true(without[0] > bodies->count / 2);
    assert_int_equal(without[1], 0);
    fmm_plain_destroy(plain);
    bodies_destroy(bodies);
}

static void test_units(void **state)
{
    const struct force_options options = options_of(1e-3, 2);
    struct physics physics = { .gravitational_constant = 1, .softening = 0.01 };
    struct bodies *const small = make(PLUMMER, 3000), *const large = make(PLUMMER, 3000);
    (void)state;
    for (size_t i = 0; i < large->count; i++) {
        large->x[i] *= 1024;
        large->y[i] *= 1024;
        large->z[i] *= 1024;
    }
    sum(&options, &physics, small);
    physics.softening *= 1024;
    sum(&options, &physics, large);
    for (size_t i = 0; i < small->count; i++)
        assert_true(small->ax[i] == large->ax[i] * 1024 * 1024);
    bodies_destroy(small);
    bodies_destroy(large);
}

/* Every instruction set of this machine. */
static void test_instruction_sets(void **state)
{
    const struct physics physics = { .gravitational_constant = 1, .softening = 0.01 };
    static const double accuracies[] = { 1e-3, 1e-5, 1e-7 };
    struct bodies *const bodies = make(PLUMMER, 4000);
    double *exact[3];
    (void)state;
    reference_accelerations(&physics, bodies);
    take(bodies, exact, bodies->count);
    for (size_t isa = 1; force_isa_names[isa]; isa++)
        for (size_t k = 0; k < COUNT_OF(accuracies) && force_isa_runs(force_isa_names[isa]); k++) {
            struct force_options options = options_of(accuracies[k], 2);
            options.isa = force_isa_names[isa];
            sum(&options, &physics, bodies);
            assert_true(error_beside(exact, bodies) <= accuracies[k]);
        }
    give(exact);
    bodies_destroy(bodies);
}

static void test_few_bodies(void **state)
{
    const struct physics physics = { .gravitational_constant = 2.385, .softening = 0 };
    static const size_t counts[] = { 1, 2, 3, 17, 33, 65, 200 };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        const struct force_options options = options_of(1e-4, 2);
        struct bodies *const bodies = make(PLUMMER, counts[k]);
        sum(&options, &physics, bodies);
        assert_true(error_beside_direct(&physics, bodies) <= 1e-4);
        bodies_destroy(bodies);
    }
}

/* All at one point with softening: no forces, and no time that grows as the square. Half of them
 * without mass; all without mass. */
static void test_odd_bodies(void **state)
{
    const struct physics physics = { .gravitational_constant = 1, .softening = 0.01 };
    const struct force_options options = options_of(1e-4, 2);
    (void)state;
    for (int odd = 0; odd < 4; odd++) {
        struct bodies *const bodies = make(PLUMMER, 5000);
        for (size_t i = 0; i < bodies->count; i++) {
            if (odd == 0 || (odd == 1 && i % 2))
                bodies->x[i] = bodies->y[i] = bodies->z[i] = 0.385;
            if (odd == 2 && i % 2)
                bodies->m[i] = 0;
            if (odd == 3)
                bodies->m[i] = 0;
        }
        sum(&options, &physics, bodies);
        assert_true(error_beside_direct(&physics, bodies) <= 1e-4);
        bodies_destroy(bodies);
    }
}

static void test_potentials(void **state)
{
    /* The last: the middle of the box is far from the mass, and forces sum to zero but for
     * rounding. */
    static const struct {
        enum shape shape;
        double softening;
    } cases[] = { { PLUMMER, 0 }, { PLUMMER, 0.01 }, { ESCAPER, 0.01 } };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        static struct error error;
        const struct physics physics = { .gravitational_constant = 2.385,
                                         .softening = cases[k].softening };
        const struct force_options options = options_of(1e-4, 2);
        struct bodies *const bodies = make(cases[k].shape, 4000);
        struct force *force = NULL;
        double *p[4]; /* phi, psi, and those of direct sums */
        for (int i = 0; i < 4; i++) {
            p[i] = memory_array(bodies->stride, sizeof(double), &error);
            assert_non_null(p[i]);
        }
        assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
#pragma omp parallel num_threads(2)
        force_potentials(force, bodies, p[0], p[1]);
        reference_potentials(&physics, bodies, p[2], p[3]);
        double energy[2] = { 0 }, virial[2] = { 0 }, difference = 0;
        for (size_t i = 0; i < bodies->count; i++)
            for (int j = 0; j < 2; j++) {
                energy[j] += bodies->m[i] * p[2 * j][i];
                virial[j] += bodies->m[i] * p[2 * j + 1][i];
                difference = fmax(difference, fabs(p[0][i] / p[2][i] - 1));
            }
        printf("# potential %.1e, energy %.1e, virial %.1e\n", difference,
               fabs(energy[0] / energy[1] - 1), fabs(virial[0] / virial[1] - 1));
        assert_true(difference < 1e-3);
        assert_true(fabs(energy[0] - energy[1]) < 1e-5 * fabs(energy[1]));
        assert_true(fabs(virial[0] - virial[1]) < 1e-4 * fabs(virial[1]));
        force_destroy(force);
        for (int i = 0; i < 4; i++)
            memory_free(p[i]);
        bodies_destroy(bodies);
    }
}

static void test_periodic_box(void **state)
{
    static struct error error;
    const struct physics physics = { .gravitational_constant = 1,
                                     .boundary = BOUNDARY_PERIODIC,
                                     .box_length = 1 };
    const struct force_options options = options_of(1e-4, 1);
    struct bodies *const bodies = make(CUBE, 10);
    struct force *force = NULL;
    (void)state;
    assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_CONFIG);
    assert_non_null(strstr(error.text, "open space"));
    bodies_destroy(bodies);
}

/* Multipoles of a point at distance b: the power of degree k is m b^k. */
static void test_powers(void **state)
{
    static const double y[3] = { 0.3, -0.5, 0.7 };
    const double b = sqrt(0.09 + 0.25 + 0.49);
    (void)state;
    for (int order = EXPANSION_LEAST; order <= EXPANSION_MOST; order++) {
        static struct error error;
        struct expansion *e = NULL;
        double M[EXPANSION_COEFFICIENTS], P[EXPANSION_MOST + 1], norms[EXPANSION_MOST + 1];
        assert_int_equal(expansion_create(order, &e, &error), STATUS_OK);
        M[0] = 2.385;
        for (size_t k = 1; k < e->count; k++) {
            const struct expansion_monomial m = e->monomial[e->in_order[k]];
            M[e->in_order[k]] = M[m.from] * y[m.axis] / m.power;
        }
        expansion_powers(e, M, P, norms);
        for (int k = 0; k <= order; k++) {
            assert_true(fabs(P[k] - 2.385 * pow(b, k)) < 1e-12);
            assert_true(fabs(norms[k] - 2.385 * pow(b, k)) < 1e-12);
        }
        expansion_destroy(e);
    }
}

/* The multipoles of the root, which are shifted up the tree in every order and arithmetic, are
 * those of all bodies: sum m (z - x)^n/n!, over the radius to the power |n|. */
static void test_multipoles(void **state)
{
    static const double accuracies[] = { 1e-2, 1e-3, 1e-4, 1e-5, 1e-7, 1e-8 };
    static struct error error;
    const struct physics physics = { .gravitational_constant = 1, .softening = 0.01 };
    struct bodies *const bodies = make(TWO_SPHERES, 1000);
    (void)state;
    for (size_t k = 0; k < COUNT_OF(accuracies); k++) {
        const struct force_options options = options_of(accuracies[k], 1);
        struct force *force = NULL;
        assert_int_equal(force_create(&options, &physics, bodies, &force, &error), STATUS_OK);
        force_accelerations(force, bodies);
        const struct fmm *const fmm = (const struct fmm *)force;
        const struct fmm_cell *const root = &fmm->field.cells[0];
        const bool in_double = fmm_in_double(&options);
        double M[EXPANSION_COEFFICIENTS] = { 0 }, mass = 0, center[3], worst = 0;
        assert_true(root->child[0] > 0);
        fmm_center(root, center);
        for (size_t i = 0; i < bodies->count; i++) {
            const struct body_tree_body *const body = &fmm->tree->bodies[i];
            double one[EXPANSION_COEFFICIENTS] = { body->m };
            mass += body->m;
            for (size_t n = 1; n < fmm->expansion->count; n++) {
                const size_t at = fmm->expansion->in_order[n];
                const struct expansion_monomial m = fmm->expansion->monomial[at];
                one[at] = one[m.from] * (center[m.axis] - body->x[m.axis]) /
                          (m.power * (double)root->radius);
            }
            for (size_t n = 0; n < fmm->expansion->count; n++)
                M[n] += one[n];
        }
        for (size_t n = 0; n < fmm->expansion->count; n++)
            worst = fmax(worst, fabs(M[n] - (in_double ? ((double *)fmm->field.multipoles)[n]
                                                       : ((float *)fmm->field.multipoles)[n])));
        printf("# order %d: root multipoles right to %.1e\n", fmm->expansion->order, worst / mass);
        /* Some ten levels round to 6e-8 of the mass each, or to 1e-16 in double. */
        assert_true(worst < (in_double ? 1e-14 : 1e-6) * mass);
        force_destroy(force);
    }
    bodies_destroy(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_multipoles),
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_pairs_of_escaped_binaries),
        cmocka_unit_test(test_plain_form),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_due),
        cmocka_unit_test(test_plain_due),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_few_bodies),
        cmocka_unit_test(test_odd_bodies),
        cmocka_unit_test(test_potentials),
        cmocka_unit_test(test_periodic_box),
        cmocka_unit_test(test_plain_form_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
