/* What several processes compute that divide the sums over pairs, taken together. */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "force/force.h"
#include "motion-case.h"

static const struct physics open_space = { .gravitational_constant = 1.37, .softening = 0.083 };
static const struct physics box = { .gravitational_constant = 1.37,
                                    .softening = 0.083,
                                    .boundary = BOUNDARY_PERIODIC,
                                    .box_length = 2.3 };

/* The lines of BODIES_PADDING bodies, dealt out as evenly as they go. */
static struct force_share share_of(const struct bodies *bodies, size_t part, size_t parts)
{
    const size_t lines = bodies->stride / BODIES_PADDING;
    return (struct force_share){ .part = part,
                                 .parts = parts,
                                 .first = lines * part / parts * BODIES_PADDING,
                                 .last = lines * (part + 1) / parts * BODIES_PADDING };
}

/* Sums of one part, or with parts = 0 the whole; false where this kernel is not to be had. */
static bool evaluate(const char *kernel, enum precision precision, const struct physics *physics,
                     const struct bodies *bodies, struct force_share share, double *phi,
                     double *psi, bool *partial)
{
    const struct force_options options = {
        .precision = precision, .kernel = kernel, .isa = "auto", .threads = 2, .share = share
    };
    static struct error error;
    error_clear(&error);
    struct force *force;
    if (force_create(&options, physics, bodies, &force, &error))
        return false;
#pragma omp parallel num_threads(2)
    {
        force_accelerations(force, bodies);
        force_potentials(force, bodies, phi, psi);
    }
    *partial = force_is_partial(force);
    force_destroy(force);
    return true;
}

/* Everything that the sums give, of all bodies. */
struct results {
    double *a[3], *phi, *psi;
};

static struct results results_create(size_t length)
{
    static struct error error;
    struct results results;
    double **const arrays[] = { &results.a[0], &results.a[1], &results.a[2], &results.phi,
                                &results.psi };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        assert_non_null(*arrays[k] = memory_array(length, sizeof(double), &error));
    return results;
}

static void results_destroy(struct results *results)
{
    for (int axis = 0; axis < 3; axis++)
        memory_free(results->a[axis]);
    memory_free(results->phi);
    memory_free(results->psi);
}

/* Takes over what part `share` has computed. */
static void collect(const struct bodies *bodies, struct force_share share, bool partial,
                    const double *phi, const double *psi, struct results *results)
{
    const double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    for (size_t k = 0; k < bodies_length(bodies); k++) {
        const bool own = k % bodies->stride >= share.first && k % bodies->stride < share.last;
        for (int axis = 0; axis < 3; axis++)
            if (partial)
                results->a[axis][k] += a[axis][k];
            else if (own)
                results->a[axis][k] = a[axis][k];
        if (own) {
            results->phi[k] = phi[k];
            results->psi[k] = psi[k];
        }
    }
}

static void set_all(double *array, size_t length, double value)
{
    for (size_t k = 0; k < length; k++)
        array[k] = value;
}

/* All bodies' results where `parts` processes do the work; false as in evaluate(). */
static bool divide(const char *kernel, enum precision precision, const struct physics *physics,
                   const struct bodies *bodies, size_t parts, struct results *results,
                   bool *partial)
{
    const size_t length = bodies_length(bodies);
    struct results part = results_create(length);
    bool here = true;
    for (size_t p = 0; p < parts && here; p++) {
        const struct force_share share = share_of(bodies, p, parts);
        double *const written[] = { bodies->ax, bodies->ay, bodies->az, part.phi, part.psi };
        for (size_t k = 0; k < COUNT_OF(written); k++)
            set_all(written[k], length, 1e300); /* what is left out shows */
        here = evaluate(kernel, precision, physics, bodies, share, part.phi, part.psi, partial);
        if (here)
            collect(bodies, share, *partial, part.phi, part.psi, results);
    }
    results_destroy(&part);
    return here;
}

/*
 * Shares of i-bodies have the bits of the whole. Terms that are added over parts are rounded sums
 * of fp64 (each term is one already): of p + 1 additions, each to within 2^-53 of the sum of sizes,
 * of which the greatest acceleration of the system is a scale.
 */
static void assert_same_forces(const struct bodies *bodies, const struct results *whole,
                               const struct results *sum, bool partial, size_t parts)
{
    const size_t length = bodies_length(bodies);
    double greatest = 0;
    for (size_t k = 0; k < length; k++)
        if (k % bodies->stride < bodies->count)
            greatest = fmax(greatest, fabs(whole->a[0][k]));
    const double tolerance = partial ? 8 * (double)(parts + 1) * 0x1p-53 * greatest : 0;
    for (size_t k = 0; k < length; k++)
        for (int axis = 0; axis < 3 && k % bodies->stride < bodies->count; axis++)
            assert_close(sum->a[axis][k], whole->a[axis][k], tolerance);
}

static void assert_same_potentials(const struct bodies *bodies, const struct results *whole,
                                   const struct results *sum)
{
    for (size_t s = 0; s < bodies->systems; s++) {
        const size_t first = s * bodies->stride, bytes = bodies->count * sizeof(double);
        assert_memory_equal(whole->phi + first, sum->phi + first, bytes);
        assert_memory_equal(whole->psi + first, sum->psi + first, bytes);
    }
}

static void check(const char *kernel, enum precision precision, const struct physics *physics,
                  const struct bodies *bodies, size_t parts)
{
    const size_t length = bodies_length(bodies), bytes = length * sizeof(double);
    struct results whole = results_create(length), sum = results_create(length);
    bool partial;
    if (evaluate(kernel, precision, physics, bodies, (struct force_share){ 0 }, whole.phi,
                 whole.psi, &partial)) {
        assert_false(partial); /* the whole is whole */
        memcpy(whole.a[0], bodies->ax, bytes);
        memcpy(whole.a[1], bodies->ay, bytes);
        memcpy(whole.a[2], bodies->az, bytes);
        assert_true(divide(kernel, precision, physics, bodies, parts, &sum, &partial));
        assert_same_forces(bodies, &whole, &sum, partial, parts);
        assert_same_potentials(bodies, &whole, &sum);
    }
    results_destroy(&whole);
    results_destroy(&sum);
}

/* The counts: less than a line, ragged, more parts than lines, and some tiles with a ragged end. */
static void test_shares_make_the_whole(void **state)
{
    (void)state;
    static const struct {
        size_t systems, count, parts;
    } cases[] = { { 1, 5, 2 }, { 1, 100, 3 }, { 3, 37, 4 }, { 1, 1300, 1 }, { 2, 1300, 3 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct bodies *bodies = motion_cube(cases[c].systems, cases[c].count, 91);
        for (size_t kernel = 0; force_kernel_names[kernel]; kernel++)
            for (int precision = 0; precision_names[precision]; precision++)
                for (int periodic = 0; periodic < 2; periodic++)
                    check(force_kernel_names[kernel], (enum precision)precision,
                          periodic ? &box : &open_space, bodies, cases[c].parts);
        bodies_destroy(bodies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shares_make_the_whole) };
    return cmocka_run_group_tests_name("force-share", tests, NULL, NULL);
}
