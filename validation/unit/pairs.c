#include "unit.h"

#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "space/pairs.h"

enum { BINS = 40 };

/* Bodies in a lopsided cloud with a dense corner, so that cells are anything but even. */
static struct bodies *cloud(size_t count, double scale)
{
    struct error error = { 0 };
    struct bodies *b;
    assert_int_equal(bodies_create(2, count, &b, &error), STATUS_OK);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < count; i++) {
            const size_t at = s * b->stride + i;
            const double power = i % 3 == 0 ? 4.0 : 1.0;
            b->x[at] = scale * pow(gsl_rng_uniform(random), power);
            b->y[at] = scale * (1.7 * pow(gsl_rng_uniform(random), power) - 0.4);
            b->z[at] = scale * (0.6 * pow(gsl_rng_uniform(random), power) + 0.2);
        }
    gsl_rng_free(random);
    return b;
}

static void count(const struct physics *physics, const struct bodies *bodies, double r_max,
                  enum pairs_method method, int threads, uint64_t counts[BINS])
{
    struct error error = { 0 };
    memset(counts, 0, BINS * sizeof *counts);
    if (pairs_count(physics, bodies, 1, r_max, BINS, method, threads, counts, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

/* As a student would write it. */
static void count_plainly(const struct physics *physics, const struct bodies *b, double r_max,
                          uint64_t counts[BINS])
{
    memset(counts, 0, BINS * sizeof *counts);
    for (size_t i = b->stride; i < b->stride + b->count; i++)
        for (size_t j = i + 1; j < b->stride + b->count; j++) {
            double d[3] = { b->x[j] - b->x[i], b->y[j] - b->y[i], b->z[j] - b->z[i] };
            for (int k = 0; k < 3 && physics->boundary == BOUNDARY_PERIODIC; k++)
                d[k] = physics_nearest_image(d[k], physics->box_length);
            const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            const double bin = floor(r / (r_max / BINS));
            if (bin < BINS)
                counts[(size_t)bin]++;
        }
}

static void assert_counts_agree_of(const struct physics *physics, const struct bodies *b,
                                   double r_max)
{
    uint64_t plain[BINS], counts[BINS];
    count_plainly(physics, b, r_max, plain);
    for (int threads = 1; threads < 6; threads += 2) {
        count(physics, b, r_max, PAIRS_ALL, threads, counts);
        assert_memory_equal(counts, plain, sizeof plain);
        count(physics, b, r_max, PAIRS_AUTO, threads, counts);
        assert_memory_equal(counts, plain, sizeof plain);
    }
}

static void assert_counts_agree(const struct physics *physics, size_t bodies, double scale,
                                double r_max)
{
    struct bodies *b = cloud(bodies, scale);
    assert_counts_agree_of(physics, b, r_max);
    bodies_destroy(b);
}

static void test_open_space(void **state)
{
    (void)state;
    const struct physics physics = { .boundary = BOUNDARY_OPEN };
    const size_t sizes[] = { 1, 2, 5, 63, 64, 257, 1800 }; /* ragged against blocks and chunks */
    const double reaches[] = { 0.03, 0.21, 3.0 };
    for (size_t k = 0; k < COUNT_OF(sizes); k++)
        for (size_t r = 0; r < COUNT_OF(reaches); r++)
            assert_counts_agree(&physics, sizes[k], 1.0, reaches[r]);
}

static void test_periodic_box(void **state)
{
    (void)state;
    const struct physics physics = { .boundary = BOUNDARY_PERIODIC, .box_length = 1.375 };
    /* The cloud reaches over several boxes: nothing says that bodies are wrapped into the first.
     * Cells of 0.2 or 0.34 do not divide the side; 0.45 leaves three of them, 0.5 two,
     * which would meet each other from either side, and 0.68 none. */
    const double reaches[] = { 0.03, 0.2, 0.34, 0.45, 0.5, 0.68 };
    for (size_t r = 0; r < COUNT_OF(reaches); r++)
        assert_counts_agree(&physics, 1800, 4.2, reaches[r]);
}

/* Bodies of a lattice, four bins from one to the next: many pairs stand on the edge of a
 * bin, where the last digit decides; and scales whose squares are no longer numbers. */
static void test_separations_on_the_edges_of_bins(void **state)
{
    (void)state;
    enum { SIDE = 7 };
    const double scales[] = { 1.0, 0.1, 1.0 / 3.0, 1e-170, 1e170 };
    const struct physics physics = { .boundary = BOUNDARY_OPEN };
    for (size_t k = 0; k < COUNT_OF(scales); k++) {
        struct bodies *b = cloud((size_t)SIDE * SIDE * SIDE, 1.0);
        for (size_t i = 0; i < b->count; i++) {
            b->x[b->stride + i] = scales[k] * (double)(i % SIDE);
            b->y[b->stride + i] = scales[k] * (double)(i / SIDE % SIDE);
            b->z[b->stride + i] = scales[k] * (double)(i / (SIDE * SIDE));
        }
        assert_counts_agree_of(&physics, b, scales[k] * BINS / 4.0);
        bodies_destroy(b);
    }
}

static void test_lost_bodies_have_no_pairs(void **state)
{
    (void)state;
    const struct physics physics = { .boundary = BOUNDARY_OPEN };
    struct bodies *b = cloud(300, 1.0);
    uint64_t plain[BINS], counts[BINS];
    b->x[b->stride + 17] = NAN;
    b->z[b->stride + 18] = INFINITY;
    b->count = 299;
    count_plainly(&physics, b, 0.2, plain);
    count(&physics, b, 0.2, PAIRS_AUTO, 2, counts);
    assert_memory_equal(counts, plain, sizeof plain);
    bodies_destroy(b);
}

/* Cells are bounded by the bodies, not by how far they have flown: what a grid of the reach would
 * take is 1e13 and more cells, whose number is none, or one that overflows. */
static void test_bodies_far_away_take_no_memory(void **state)
{
    (void)state;
    const double far[][3] = { { 1e13, 0, 0 },        { 1e150, 1e100, 0 },   { 1e80, 1e40, 1e20 },
                              { 1e300, -1e300, 0 },  { 1.7e308, 1, 1 },     { 1e9, 1e9, 1e9 },
                              { -1e-300, 1e5, 1e5 }, { 1e60, 1e-60, 1e-60 } };
    const size_t sizes[] = { 3, 300 };
    for (size_t k = 0; k < COUNT_OF(far) * COUNT_OF(sizes); k++) {
        const double *const to = far[k / COUNT_OF(sizes)];
        struct bodies *b = cloud(sizes[k % COUNT_OF(sizes)], 1.0);
        const size_t at = b->stride + b->count / 2;
        b->x[at] = to[0], b->y[at] = to[1], b->z[at] = to[2];
        b->x[at + 1] = -to[0], b->y[at + 1] = -to[1];
        assert_counts_agree_of(&(struct physics){ .boundary = BOUNDARY_OPEN }, b, 0.21);
        assert_counts_agree_of(&(struct physics){ .boundary = BOUNDARY_OPEN }, b, 1e-9);
        bodies_destroy(b);
    }
}

/* A grid has to find out in which box a body is; far from the first one, rounding would put it into
 * the wrong cell. */
static void test_bodies_in_distant_boxes(void **state)
{
    (void)state;
    const struct physics physics = { .boundary = BOUNDARY_PERIODIC, .box_length = 1 };
    struct bodies *b = cloud(1000, 1.0);
    for (size_t i = 0; i < b->count; i++) {
        b->x[b->stride + i] = ldexp(floor(ldexp(b->x[b->stride + i], 12)), -12);
        b->x[b->stride + i] += i % 2 ? 0x1p36 : -0x1p36;
    }
    assert_counts_agree_of(&physics, b, 0x1p-12 * BINS);
    bodies_destroy(b);
}

/* As with ulimit -v: the process has what it has, and 1 GB. */
static void limit_memory(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return;
    if (fscanf(file, "%zu", &pages) == 1) {
        const rlim_t bytes = (rlim_t)pages * 4096 + (1u << 30);
        setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes });
    }
    fclose(file);
}

#ifdef __SANITIZE_ADDRESS__ /* whose shadow memory is larger than any limit */
static const bool has_limit = false;
#else
static const bool has_limit = true;
#endif

int main(void)
{
    if (has_limit)
        limit_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_space),
        cmocka_unit_test(test_periodic_box),
        cmocka_unit_test(test_separations_on_the_edges_of_bins),
        cmocka_unit_test(test_lost_bodies_have_no_pairs),
        cmocka_unit_test(test_bodies_far_away_take_no_memory),
        cmocka_unit_test(test_bodies_in_distant_boxes),
    };
    return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
