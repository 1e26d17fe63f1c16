/* The force kernels, on the executor or on a GPU: ragged sizes, many systems, every tuning, every
 * precision and space, against the reference and against each other. */
#include "gpu-case.h"

#include "external/external.h"
#include "force/jerk.h"
#include "gpu/host/due.h"
#include "motion-case.h"

static const struct physics *const spaces[] = { &case_soft, &case_sharp, &case_periodic };

/*
 * The bounds on the relative error of a pair's term. fp32: the estimate of 1/r by 2^-22.9 = 1.3e-7,
 * three times in r^-3; r^2 by 3 roundings, so 1.5 times 3 in r^-3; then 4 more roundings of 6e-8:
 * 8.9e-7 at most. The sum of up to 256 terms adds its own, of random sign: less than 1e-6 in all.
 * fp64: e^3 35/16 < 6e-17 and some 9 roundings of 1.1e-16, and those of the sum.
 */
static const double bounds[] = {
    [PRECISION_DOUBLE] = 4e-15, [PRECISION_MIXED] = 1e-6, [PRECISION_SINGLE] = 1e-6
};

static int reset(void **state)
{
    (void)state;
    executor_reset();
    case_energies = GPU_ENERGIES_AUTO;
    return 0;
}

static void check_force(size_t systems, size_t count, const struct physics *physics,
                        const char *kernel, enum precision precision,
                        const struct gpu_tuning *tuning)
{
    struct bodies *b = case_bodies(systems, count, 100 + count);
    case_accelerations(b, physics, kernel, precision, tuning);
    const double error = case_error(b, physics);
    if (!(error <= bounds[precision]))
        fail_msg("%s, %s, %zu bodies, softening %g, box %g: error %g > %g", kernel,
                 precision_names[precision], count, physics->softening, physics->box_length, error,
                 bounds[precision]);
    bodies_destroy(b);
}

/* Warps of 32, granules of 32, chunks of 256, tiles of 256 and 512. */
static void test_forces_agree_with_the_reference(void **state)
{
    (void)state;
    const size_t sizes[] = { 1, 2, 31, 32, 33, 63, 65, 255, 257, 511, 513 };
    for (size_t n = 0; n < COUNT_OF(sizes); n++)
        for (size_t k = 0; k < 3; k++)
            for (size_t s = 0; s < COUNT_OF(spaces); s++)
                for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++)
                    check_force(1, sizes[n], spaces[s], gpu_catalog[k].name, (enum precision)p,
                                NULL);
}

/* Two tiles, where they fit; in every space. */
static void test_third_law_in_every_space(void **state)
{
    (void)state;
    check_force(1, 1025, &case_sharp, "symmetric", PRECISION_SINGLE, NULL);
    check_force(1, 1025, &case_periodic, "symmetric", PRECISION_MIXED, NULL);
    check_force(1, 600, &case_periodic, "symmetric", PRECISION_DOUBLE, NULL);
    check_force(3, 600, &case_soft, "symmetric", PRECISION_MIXED, NULL);
}

/* Tiles of 256, 512 and (not in fp64) 1024 bodies, in rings of 1 to 9. */
static void test_third_law_agrees_with_the_reference(void **state)
{
    (void)state;
    not_sanitized();
    const size_t sizes[] = { 1, 33, 513, 1023, 1025, 2049 };
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        const struct gpu_limits *limits = &gpu_catalog[GPU_SYMMETRIC].limits[p];
        for (int bodies = limits->bodies.least; bodies <= limits->bodies.most; bodies *= 2)
            for (size_t n = 0; n < COUNT_OF(sizes); n++) {
                const struct gpu_tuning tuning = { 128, 256, bodies, 1, limits->start.at_once };
                if (thorough() || sizes[n] < 1000 || (sizes[n] < 2000 && p == PRECISION_SINGLE))
                    check_force(1, sizes[n], &case_soft, "symmetric", (enum precision)p, &tuning);
            }
    }
}

/* The kernels of textbook.cu: those of one `group` give the same bits. */
static const struct {
    const char *name;
    cudaError_t (*sum)(const struct gpu_sum_call *call, unsigned *slots);
    int components, group;
} textbook[] = {
    { "structures", gpu_textbook_structures, 3, 0 },
    { "arrays", gpu_textbook_arrays, 5, 0 },
    { "root", gpu_textbook_root, 3, 0 },
    { "simt", gpu_textbook_simt, 3, 1 },
    { "tile 1", gpu_textbook_tile_1, 3, 1 },
    { "tile 2", gpu_textbook_tile_2, 3, 1 },
    { "tile 4", gpu_textbook_tile_4, 3, 1 },
    { "tile 8", gpu_textbook_tile_8, 3, 1 },
    { "tile 16", gpu_textbook_tile_16, 3, 1 },
};

static void textbook_accelerations(size_t k, struct bodies *b, const struct gpu_tuning *tuning)
{
    struct gpu_kernel kernel = *gpu_kernel_of(GPU_SIMT);
    struct case_device on;
    struct error error = { 0 };
    kernel.sum = textbook[k].sum;
    kernel.components = textbook[k].components;
    case_open_kernel(&on, b, &case_soft, &kernel, PRECISION_SINGLE, tuning, b->count);
    case_upload(&on, b->systems);
    assert_int_equal(gpu_steps_accelerations(&on.team, &error), 0);
    case_fetch(&on);
    case_close(&on);
}

/* One float takes the sum: each of `count` additions rounds by 2^-24 of sum |a_ij| at most. */
static void test_the_textbook_agrees_with_the_reference(void **state)
{
    (void)state;
    const size_t sizes[] = { 1, 2, 33, 257, 511 };
    for (size_t n = 0; n < COUNT_OF(sizes) * COUNT_OF(textbook); n++) {
        const size_t size = sizes[n % COUNT_OF(sizes)], k = n / COUNT_OF(sizes);
        struct bodies *b = case_bodies(3, size, 100 + size);
        textbook_accelerations(k, b, NULL);
        const double found = case_error(b, &case_soft);
        const double bound = bounds[PRECISION_SINGLE] + (double)size * 0x1p-24;
        if (!(found <= bound))
            fail_msg("%s, %zu bodies: error %g > %g", textbook[k].name, size, found, bound);
        bodies_destroy(b);
    }
}

/* 300 bodies: five tiles of 64, the last one ragged. */
static void test_the_rungs_of_the_textbook_give_equal_bits(void **state)
{
    (void)state;
    const struct gpu_tuning small = { 64, 0, 1, 1, 1 };
    struct bodies *b = case_bodies(2, 300, 8);
    struct case_vectors first[2] = { { 0 }, { 0 } };
    for (size_t k = 0; k < COUNT_OF(textbook); k++) {
        struct case_vectors *expected = &first[textbook[k].group];
        textbook_accelerations(k, b, &small);
        const struct case_vectors a = case_save_accelerations(b);
        if (!expected->a)
            *expected = a;
        else if (!case_same(*expected, a))
            fail_msg("%s: other bits", textbook[k].name);
        if (expected->a != a.a)
            free(a.a);
    }
    for (size_t k = 0; k < COUNT_OF(first); k++)
        free(first[k].a);
    bodies_destroy(b);
}

static void test_many_systems(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)GPU_KERNELS; k++)
        check_force(3, 70, &case_soft, gpu_catalog[k].name, case_precision(k, PRECISION_SINGLE),
                    NULL);
}

static void expect_same(struct bodies *b, const struct physics *physics, const char *kernel,
                        enum precision precision, const struct gpu_tuning *tuning,
                        struct case_vectors expected)
{
    case_accelerations(b, physics, kernel, precision, tuning);
    const struct case_vectors a = case_save_accelerations(b);
    if (!case_same(a, expected))
        fail_msg("%s, %s, block %d, tile %d, %d bodies per thread, split %d: other bits", kernel,
                 precision_names[precision], tuning->block, tuning->tile, tuning->bodies,
                 tuning->split);
    free(a.a);
}

/* 1061 bodies: 17 segments of 64 bodies, the last one ragged. */
static void test_plain_kernels_give_equal_bits(void **state)
{
    (void)state;
    not_sanitized();
    struct bodies *b = case_bodies(1, 1061, 7);
    static const struct gpu_tuning tunings[] = {
        { 64, 64, 1, 1, 0 },    { 256, 64, 2, 3, 3 },   { 64, 256, 4, 17, 2 },
        { 128, 1024, 4, 1, 3 }, { 32, 96, 1, 1000, 3 }, { 256, 512, 2, 16, 2 },
    };
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        const enum precision precision = (enum precision)p;
        case_accelerations(b, &case_soft, "simt", precision, &tunings[0]);
        const struct case_vectors expected = case_save_accelerations(b);
        expect_same(b, &case_soft, "simt", precision, &tunings[1], expected);
        for (size_t t = 0; t < COUNT_OF(tunings); t++)
            expect_same(b, &case_soft, "blocked", precision, &tunings[t], expected);
        for (size_t t = 0; t < 2; t++)
            expect_same(b, &case_soft, "tiled", precision, &tunings[t], expected);
        free(expected.a);
    }
    bodies_destroy(b);
}

/* The pairs of tile and block that the tutorial of GPU n-body codes tries (experiments A6). */
static void test_tiled_gives_equal_bits_for_every_tile_and_block(void **state)
{
    (void)state;
    not_sanitized();
    static const int sizes[] = { 64, 256, 512, 1024 };
    struct bodies *b = case_bodies(1, 300, 8);
    const struct gpu_tuning simt = { 128, 0, 1, 1, 0 };
    case_accelerations(b, &case_soft, "simt", PRECISION_SINGLE, &simt);
    const struct case_vectors expected = case_save_accelerations(b);
    for (size_t t = 0; t < COUNT_OF(sizes); t++)
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            const struct gpu_tuning tuning = { sizes[k], sizes[t], 1, 1, 0 };
            expect_same(b, &case_soft, "tiled", PRECISION_SINGLE, &tuning, expected);
        }
    free(expected.a);
    bodies_destroy(b);
}

/* The CPU's order and its operations: nothing is off by a bit, whatever the launch. Two bodies of
 * the systems are in one place. */
static void test_portable_has_the_bits_of_the_reference(void **state)
{
    (void)state;
    const size_t shapes[][2] = { { 1, 1 }, { 1, 2 }, { 1, 17 }, { 1, 1000 }, { 3, 65 } };
    const struct gpu_limits *limits = &gpu_catalog[GPU_PORTABLE].limits[PRECISION_DOUBLE];
    const int blocks[] = { limits->block.least, limits->start.block, limits->block.most };
    for (size_t n = 0; n < COUNT_OF(shapes) * COUNT_OF(spaces) * COUNT_OF(blocks); n++) {
        const size_t *shape = shapes[n % COUNT_OF(shapes)];
        const struct physics *physics = spaces[n / COUNT_OF(shapes) % COUNT_OF(spaces)];
        struct gpu_tuning tuning = limits->start;
        struct bodies *b = case_bodies(shape[0], shape[1], 100 + n);
        for (size_t i = 0; i < bodies_length(b); i++)
            b->x[i] *= M_PI; /* 53 digits */
        for (size_t s = 0; s < b->systems && b->count > 2; s++) {
            const size_t i = s * b->stride;
            b->x[i + 1] = b->x[i], b->y[i + 1] = b->y[i], b->z[i + 1] = b->z[i];
        }
        tuning.block = blocks[n / COUNT_OF(shapes) / COUNT_OF(spaces)];
        reference_accelerations(physics, b);
        const struct case_vectors expected = case_save_accelerations(b);
        expect_same(b, physics, "portable", PRECISION_DOUBLE, &tuning, expected);
        free(expected.a);
        bodies_destroy(b);
    }
}

/* A kernel whose threads raced for shared memory would depend on who comes first. */
static void test_bits_do_not_depend_on_the_order_of_threads(void **state)
{
    (void)state;
    not_sanitized();
    struct bodies *b = case_bodies(2, 1100, 9);
    for (size_t k = 0; k < (size_t)GPU_KERNELS; k++) {
        const enum precision precision = case_precision(k, PRECISION_SINGLE);
        executor_settings.order = EXECUTOR_FORWARD;
        case_accelerations(b, &case_soft, gpu_catalog[k].name, precision, NULL);
        const struct case_vectors expected = case_save_accelerations(b);
        for (int order = EXECUTOR_BACKWARD; order <= EXECUTOR_SHUFFLED; order++) {
            executor_settings.order = (enum executor_order)order;
            case_accelerations(b, &case_soft, gpu_catalog[k].name, precision, NULL);
            const struct case_vectors a = case_save_accelerations(b);
            if (!case_same(a, expected))
                fail_msg("%s: other bits in another order", gpu_catalog[k].name);
            free(a.a);
        }
        free(expected.a);
    }
    bodies_destroy(b);
}

static void test_a_system_alone_has_the_bits_it_has_among_others(void **state)
{
    (void)state;
    enum { SYSTEMS = 3, COUNT = 300 };
    struct bodies *all = case_bodies(SYSTEMS, COUNT, 10), *one = case_bodies(1, COUNT, 11);
    for (size_t k = 0; k < (size_t)GPU_KERNELS; k++) {
        const enum precision precision = case_precision(k, PRECISION_MIXED);
        case_accelerations(all, &case_soft, gpu_catalog[k].name, precision, NULL);
        for (size_t s = 0; s < SYSTEMS; s++) {
            const size_t first = s * all->stride, size = COUNT * sizeof(double);
            memcpy(one->m, all->m + first, size);
            memcpy(one->x, all->x + first, size);
            memcpy(one->y, all->y + first, size);
            memcpy(one->z, all->z + first, size);
            case_accelerations(one, &case_soft, gpu_catalog[k].name, precision, NULL);
            assert_memory_equal(one->ax, all->ax + first, size);
            assert_memory_equal(one->az, all->az + first, size);
        }
    }
    bodies_destroy(all);
    bodies_destroy(one);
}

/* The kernel without masses, which needs its padding far away. Compared with the general one,
 * which a single body of another mass in a system of its own brings about. */
static void compare_equal_masses(const char *kernel, enum precision precision,
                                 const struct gpu_tuning *tuning, size_t count)
{
    struct bodies *equal = case_bodies(1, count, 12), *mixed = case_bodies(2, count, 12);
    const size_t size = count * sizeof(double);
    struct case_device on;
    case_equal_masses(equal, 2.385);
    case_equal_masses(mixed, 2.385);
    mixed->m[mixed->stride + 5] = 1.21;
    for (int both = 0; both < 2; both++) {
        case_open(&on, both ? mixed : equal, &case_soft, kernel, precision, tuning, count);
        assert_int_equal(on.setup.interaction.equal_masses, !both);
        case_close(&on);
    }
    case_accelerations(equal, &case_soft, kernel, precision, tuning);
    case_accelerations(mixed, &case_soft, kernel, precision, tuning);
    assert_memory_equal(equal->ax, mixed->ax, size);
    assert_memory_equal(equal->ay, mixed->ay, size);
    assert_memory_equal(equal->az, mixed->az, size);
    assert_true(case_error(equal, &case_soft) < bounds[precision]);
    assert_true(case_error(mixed, &case_soft) < bounds[precision]);
    bodies_destroy(equal);
    bodies_destroy(mixed);
}

static void test_equal_masses_change_no_bits(void **state)
{
    (void)state;
    not_sanitized();
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        const struct gpu_limits *limits = &gpu_catalog[GPU_SYMMETRIC].limits[p];
        compare_equal_masses("blocked", (enum precision)p, NULL, 77);
        for (int bodies = limits->bodies.least; bodies <= limits->bodies.most; bodies *= 2) {
            const struct gpu_tuning tuning = { 128, 256, bodies, 1, limits->start.at_once };
            /* Two tiles: within one, what the second body of a pair gets is not used. */
            compare_equal_masses("symmetric", (enum precision)p, &tuning,
                                 (size_t)(128 * bodies + 13));
        }
    }
}

/* Two bodies in one place without softening, and a third: it alone pulls, and exactly as if the
 * other of the two were not there. */
static void test_coincident_bodies_do_not_pull(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)GPU_KERNELS; k++)
        for (int p = PRECISION_DOUBLE; case_has(k, p); p++) {
            struct bodies *b = case_bodies(1, 3, 13);
            b->x[1] = b->x[0], b->y[1] = b->y[0], b->z[1] = b->z[0];
            case_accelerations(b, &case_sharp, gpu_catalog[k].name, (enum precision)p, NULL);
            assert_true(isfinite(b->ax[0]) && b->ax[0] != 0);
            assert_true(b->ax[0] == b->ax[1] && b->ay[0] == b->ay[1]);
            assert_true(case_error(b, &case_sharp) < bounds[p]);
            bodies_destroy(b);
        }
}

/* 1e6 away from the origin a float has steps of 1/16: `single` cannot see the bodies' places, and
 * `mixed` can. */
static void test_mixed_holds_far_from_the_origin(void **state)
{
    (void)state;
    double error[PRECISION_SINGLE + 1];
    for (int p = PRECISION_MIXED; p <= PRECISION_SINGLE; p++) {
        struct bodies *b = case_bodies(1, 200, 14);
        for (size_t i = 0; i < b->count; i++)
            b->x[i] += 1e6, b->y[i] -= 1e6;
        case_accelerations(b, &case_soft, "blocked", (enum precision)p, NULL);
        error[p] = case_error(b, &case_soft);
        bodies_destroy(b);
    }
    assert_close(error[PRECISION_MIXED], 0, bounds[PRECISION_MIXED]);
    assert_true(error[PRECISION_SINGLE] > 1e-3);
}

/* Positions are measured from the origin of coordinates, which no escaper moves: around it the
 * others keep their digits. */
static void test_an_escaper_takes_no_digits(void **state)
{
    (void)state;
    const double distances[] = { 1e6, -1e10 };
    for (size_t k = 0; k < (size_t)GPU_KERNELS * COUNT_OF(distances); k++)
        for (int p = 0; case_has(k / COUNT_OF(distances), p); p++) {
            struct bodies *b = case_bodies(1, 200, 18);
            const double far = distances[k % COUNT_OF(distances)];
            b->x[7] = far, b->y[7] = 0.3 * far, b->z[7] = -far;
            case_accelerations(b, &case_soft, gpu_catalog[k / COUNT_OF(distances)].name,
                               (enum precision)p, NULL);
            assert_true(case_error(b, &case_soft) < bounds[p]);
            bodies_destroy(b);
        }
}

/* In SI units r^2 of a planetary system is 1e26 and that of a galaxy 1e42, past what fp32 holds. */
static void test_units_do_not_matter_to_fp32(void **state)
{
    (void)state;
    const double lengths[] = { 1e-15, 1e21 }, masses[] = { 1e-30, 1e41 };
    for (size_t k = 0; k < COUNT_OF(lengths); k++) {
        struct physics physics = case_soft;
        physics.softening *= lengths[k];
        struct bodies *b = case_bodies(1, 100, 15);
        for (size_t i = 0; i < b->count; i++) {
            b->m[i] *= masses[k];
            b->x[i] *= lengths[k], b->y[i] *= lengths[k], b->z[i] *= lengths[k];
        }
        /* Positions are no longer floats: each coordinate of d may be off by 2^-24 of the cube. */
        case_accelerations(b, &physics, "blocked", PRECISION_SINGLE, NULL);
        assert_true(case_error(b, &physics) < 4 * bounds[PRECISION_SINGLE]);
        bodies_destroy(b);
    }
}

/* Pairs act and react alike: momentum is conserved to the last bits of its terms. */
static void test_third_law_conserves_momentum(void **state)
{
    (void)state;
    not_sanitized();
    struct bodies *b = case_bodies(1, 2100, 16);
    double sums[2], terms = 0;
    for (int p = 0; p < 2; p++) {
        case_accelerations(b, &case_soft, p == 0 ? "symmetric" : "blocked", PRECISION_DOUBLE, NULL);
        sums[p] = terms = 0;
        for (size_t i = 0; i < b->count; i++) {
            sums[p] += b->m[i] * b->ax[i];
            terms += fabs(b->m[i] * b->ax[i]);
        }
        assert_close(sums[p], 0, 1e-14 * terms); /* 2100 roundings of 1.1e-16, of random sign */
    }
    bodies_destroy(b);
}

/* Positions are exact in fp64, and so is a number of boxes: not a bit may change by it. A float has
 * no digits left for a place 2^20 boxes away. */
static void test_bodies_far_outside_the_box(void **state)
{
    (void)state;
    struct physics physics = case_periodic;
    physics.box_length = 1.375;
    for (size_t k = 0; k < (size_t)GPU_KERNELS; k++)
        for (int p = PRECISION_DOUBLE; case_has(k, p); p++) {
            struct bodies *b = case_bodies(1, 100, 34);
            case_accelerations(b, &physics, gpu_catalog[k].name, (enum precision)p, NULL);
            const struct case_vectors near = case_save_accelerations(b);
            assert_true(case_error(b, &physics) < bounds[p]);
            for (size_t i = 0; i < b->count; i++) {
                b->x[i] += physics.box_length * (double)(i % 3) * 0x1p20;
                b->y[i] -= physics.box_length * (double)(i % 5) * 0x1p18;
                b->z[i] += physics.box_length * (double)i;
            }
            case_accelerations(b, &physics, gpu_catalog[k].name, (enum precision)p, NULL);
            const struct case_vectors far = case_save_accelerations(b);
            if (!case_same(near, far))
                fail_msg("%s, %s: other bits some boxes away", gpu_catalog[k].name,
                         precision_names[p]);
            free(near.a);
            free(far.a);
            bodies_destroy(b);
        }
}

/*
 * Body 0 between two bodies that pull it apart with the same force, 2^28 times that of a third one
 * on their line. The three are in three chunks of one segment, the light one in any of them: fp32
 * holds the sum of two chunks to 2^-24 of the great force, and what the light one adds is in the
 * low part alone, whichever of two terms is the larger.
 */
static void check_light_body(const char *kernel, enum precision precision, size_t light_chunk)
{
    enum { COUNT = GPU_MAX_SEGMENTS * 3 * GPU_CHUNK };
    static const struct gpu_tuning tuning = { 32, 256, 1, 1, 0 };
    const double d = 0.5, light = 0x1p-28, side[] = { d, d, -d }, m[] = { light, 1, 1 };
    const double r2 = d * d + case_soft.softening * case_soft.softening;
    const double expected = case_soft.gravitational_constant * light * d / (r2 * sqrt(r2));
    struct bodies *b = case_bodies(1, COUNT, 35);
    case_equal_masses(b, 0);
    b->x[0] = b->y[0] = b->z[0] = 0;
    for (size_t n = 0; n < 3; n++) {
        const size_t i = 1 + (light_chunk + n) % 3 * GPU_CHUNK;
        b->m[i] = m[n];
        b->x[i] = side[n];
        b->y[i] = b->z[i] = 0;
    }
    case_some_accelerations(b, &case_soft, kernel, precision, &tuning, 32);
    if (!(fabs(b->ax[0] - expected) < bounds[precision] * expected))
        fail_msg("%s, %s, chunk %zu: %g instead of %g", kernel, precision_names[precision],
                 light_chunk, b->ax[0], expected);
    bodies_destroy(b);
}

static void test_chunks_lose_nothing(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (int p = PRECISION_MIXED; p <= PRECISION_SINGLE; p++)
            for (size_t chunk = 0; chunk < 3; chunk++)
                check_light_body(gpu_catalog[k].name, (enum precision)p, chunk);
}

/* Kick, drift and kick on the host, with the reference's forces. */
static void step_on_the_host(struct bodies *b, const struct physics *physics, double dt)
{
    double *const x[] = { b->x, b->y, b->z }, *const v[] = { b->vx, b->vy, b->vz },
                  *const a[] = { b->ax, b->ay, b->az };
    for (int half = 0; half < 2; half++) {
        reference_accelerations(physics, b);
        for (int c = 0; c < 3; c++)
            for (size_t i = 0; i < b->count; i++) {
                v[c][i] += 0.5 * dt * a[c][i];
                x[c][i] += half == 0 ? dt * v[c][i] : 0;
            }
    }
}

/* One body moves straight, to the last bit; of two each is off by what the other's pull is. */
static void check_one_step(size_t count, const struct physics *physics, const char *kernel,
                           enum precision precision)
{
    const double dt = 1.0 / 16;
    struct bodies *b = case_bodies(1, count, 36), *expected = case_bodies(1, count, 36);
    struct case_device on;
    case_open(&on, b, physics, kernel, precision, NULL, count);
    case_upload(&on, 1);
    case_advance(&on, "velocity-verlet", dt, 1);
    case_fetch(&on);
    case_close(&on);
    step_on_the_host(expected, physics, dt);
    for (size_t i = 0; i < count; i++) {
        const double pull = case_scale(expected, physics, i);
        const double bound = count == 1 ? 0 : 4 * bounds[precision] * dt * pull + 4e-16;
        if (!(fabs(b->x[i] - expected->x[i]) <= bound && fabs(b->z[i] - expected->z[i]) <= bound &&
              fabs(b->vx[i] - expected->vx[i]) <= bound &&
              fabs(b->vy[i] - expected->vy[i]) <= bound))
            fail_msg("%s, %s, body %zu of %zu: (%.17g, %.17g), not (%.17g, %.17g)", kernel,
                     precision_names[precision], i + 1, count, b->x[i], b->vx[i], expected->x[i],
                     expected->vx[i]);
    }
    bodies_destroy(b);
    bodies_destroy(expected);
}

/* `symmetric` pads both to a tile, which takes its time: in one space. `blocked` keeps them in a
 * block. */
static void test_one_body_and_two(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 2; count++)
        for (size_t k = 0; k < (size_t)GPU_KERNELS; k++)
            for (size_t s = 0; s < (k < 3 ? COUNT_OF(spaces) : 1); s++)
                for (int p = PRECISION_DOUBLE; case_has(k, p); p++)
                    check_one_step(count, spaces[s], gpu_catalog[k].name, (enum precision)p);
}

/* The accelerations at the start of a step of Euler. */
static struct case_vectors resident_forces(size_t count, const struct physics *physics,
                                           enum precision precision,
                                           const struct gpu_tuning *tuning)
{
    struct bodies *b = case_bodies(1, count, 37);
    struct case_device on;
    case_open(&on, b, physics, "blocked", precision, tuning, count);
    case_upload(&on, 1);
    case_advance(&on, "euler", 1.0 / 128, 1);
    case_fetch(&on);
    case_close(&on);
    const struct case_vectors a = case_save_accelerations(b);
    bodies_destroy(b);
    return a;
}

/* 100 bodies: 4 segments of 32; 150: 5; 200: 7. Threads that share the sum of a body take them in
 * rounds, the last of which is not full. With two bodies of a thread, the last one of an odd number
 * has one. */
static void test_rounds_of_a_resident_system_change_no_bits(void **state)
{
    (void)state;
    const size_t counts[] = { 1, 2, 3, 33, 64, 97, 100, 150, 200 };
    for (size_t n = 0; n < COUNT_OF(counts) * COUNT_OF(spaces); n++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
            const size_t count = counts[n % COUNT_OF(counts)];
            const struct physics *physics = spaces[n / COUNT_OF(counts)];
            struct bodies *b = case_bodies(1, count, 37);
            case_accelerations(b, physics, "simt", (enum precision)p, NULL);
            const struct case_vectors expected = case_save_accelerations(b);
            for (int k = 0; k < 3 * GPU_RESIDENT_MOST; k++) {
                const struct gpu_tuning tuning = { 256, 256, 1 + k / 3, 1 + k % 3, 0 };
                const struct case_vectors a =
                    resident_forces(count, physics, (enum precision)p, &tuning);
                if (!case_same(a, expected))
                    fail_msg("%zu bodies, %d of a thread, split %d, %s: other bits", count,
                             tuning.bodies, tuning.split, precision_names[p]);
                free(a.a);
            }
            free(expected.a);
            bodies_destroy(b);
        }
}

static struct field resident_field = { .kind = FIELD_PLUMMER,
                                       .gravitational_constant = 1.0625,
                                       .center = { 0.3, -0.2, 0.1 },
                                       .mass = 2.3,
                                       .scale_radius = 0.7 };
static struct external resident_fields = { .count = 1,
                                           .fields = &resident_field,
                                           .center = { 0.3, -0.2, 0.1 } };

/* The positions, velocities and accelerations after five steps, one after the other; `bodies` of a
 * thread, or 0: those of the model. */
static struct case_vectors resident_steps(const char *integrator, size_t systems, size_t count,
                                          const struct physics *physics, enum precision precision,
                                          int bodies)
{
    struct bodies *b = case_bodies(systems, count, 38);
    struct case_device on;
    case_resident_bodies = bodies;
    case_open(&on, b, physics, "blocked", precision, NULL, count);
    case_resident_bodies = 0;
    assert_true(bodies == 0 || on.part->resident.bodies == bodies);
    case_upload(&on, systems);
    case_advance(&on, integrator, 1.0 / 128, 5);
    case_fetch(&on);
    case_close(&on);
    const struct case_vectors parts[] = { case_save(b, b->x, b->y, b->z),
                                          case_save(b, b->vx, b->vy, b->vz),
                                          case_save_accelerations(b) };
    const size_t length = 3 * parts[0].length;
    struct case_vectors all = { COUNT_OF(parts) * parts[0].length,
                                malloc(COUNT_OF(parts) * length * sizeof(double)) };
    for (size_t k = 0; k < COUNT_OF(parts); k++) {
        memcpy(all.a + k * length, parts[k].a, length * sizeof(double));
        free(parts[k].a);
    }
    bodies_destroy(b);
    return all;
}

/* Steps of every integrator, with a field and without, of systems that share a block (five of 21)
 * and of one whose bodies have several threads: one and two bodies of a thread give equal bits, and
 * so does the launch that the model chooses. */
static void test_two_bodies_of_a_resident_thread_change_no_bits(void **state)
{
    (void)state;
    const size_t shapes[][2] = { { 5, 21 }, { 1, 77 } };
    for (size_t i = 0; integrator_has_stages(integrator_at(i)); i++)
        for (size_t k = 0; k < 2 * COUNT_OF(shapes); k++)
            for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
                const char *const name = integrator_at(i)->variant.name;
                const size_t *const shape = shapes[k / 2];
                struct physics physics = *spaces[(i + k + (size_t)p) % COUNT_OF(spaces)];
                physics.external = k % 2 ? &resident_fields : NULL;
                struct case_vectors found[1 + GPU_RESIDENT_MOST];
                for (int bodies = 0; bodies <= GPU_RESIDENT_MOST; bodies++) {
                    found[bodies] = resident_steps(name, shape[0], shape[1], &physics,
                                                   (enum precision)p, bodies);
                    if (!case_same(found[bodies], found[0]))
                        fail_msg("%s, %s, %zu x %zu, %d bodies of a thread: other bits", name,
                                 precision_names[p], shape[0], shape[1], bodies);
                }
                for (int bodies = 0; bodies <= GPU_RESIDENT_MOST; bodies++)
                    free(found[bodies].a);
            }
}

static bool stop_at_third(void *context)
{
    return ++*(int *)context == 3;
}

/* The third law takes one distance between tiles after another, with two launches each, and stops
 * where it is told to: 1280 bodies and their padding make 8 tiles of 256, so 5 distances. */
static void test_sums_stop_between_launches(void **state)
{
    (void)state;
    if (executor_is_a_gpu)
        skip();
    struct bodies *b = case_bodies(1, 1280, 43);
    struct case_device on;
    int asked = 0;
    unsigned slots;
    case_open(&on, b, &case_soft, "symmetric", PRECISION_SINGLE, NULL, 1280);
    case_upload(&on, 1);
    struct gpu_sum_call call = { .shape = on.part->shape,
                                 .interaction = on.setup.interaction,
                                 .sources = on.part->force.sources,
                                 .partial = on.part->partial,
                                 .sides = on.part->force.sides,
                                 .distances = 1,
                                 .tuning = on.part->force.tuning,
                                 .stream = on.part->stream,
                                 .context = &asked };
    for (int stops = 0; stops < 2; stops++) {
        const size_t before = executor_count().launches;
        call.stopped = stops ? stop_at_third : NULL;
        assert_int_equal(gpu_symmetric(&call, &slots), 0);
        assert_int_equal(executor_count().launches - before, 2 * (stops ? 3 : 5));
    }
    case_close(&on);
    bodies_destroy(b);
}

/* --- bodies that are due -----------------------------------------------------------------------*/

enum { DUE_SUMS = 6 };

/* The sizes against which errors of a body's acceleration and jerk are measured: the sums of
 * G m / r^2 and of 4 G m |v| / r^3, r^2 = d^2 + eps^2. */
static void due_sizes(const struct physics *physics, const struct reference_motion *motion,
                      size_t i, double sizes[2])
{
    sizes[0] = sizes[1] = 0;
    for (size_t j = 0; j < motion->count; j++) {
        double r2 = physics->softening * physics->softening, v2 = 0;
        for (int k = 0; k < 3; k++) {
            double d = motion->x[k][j] - motion->x[k][i];
            if (physics->boundary == BOUNDARY_PERIODIC)
                d = physics_nearest_image(d, physics->box_length);
            r2 += d * d;
            v2 += pow(motion->v[k][j] - motion->v[k][i], 2);
        }
        const double pull = physics->gravitational_constant * motion->m[j] / r2;
        if (j == i || r2 == 0)
            continue;
        sizes[0] += pull;
        sizes[1] += 4 * pull * sqrt(v2 / r2);
    }
}

/* Every third body of the second of two systems is due. */
static void check_due(struct bodies *b, const struct physics *physics, enum precision precision,
                      bool rates)
{
    const struct force_options options = { .precision = precision, .method = &gpu_due };
    const struct reference_motion motion = motion_of(b, 1);
    const double bound = bounds[precision] * (rates ? 2 : 1); /* as many roundings again */
    struct error error = { 0 };
    struct jerk *jerk;
    double *values = calloc(DUE_SUMS * b->count, sizeof *values), *sums[DUE_SUMS];
    uint32_t *due = calloc(b->count, sizeof *due);
    size_t count = 0;
    for (int n = 0; n < DUE_SUMS; n++)
        sums[n] = values + (size_t)n * b->count;
    for (size_t i = 0; i < b->count; i += 3)
        due[count++] = (uint32_t)(b->count - 1 - i);
    assert_int_equal(jerk_create(&options, physics, b->count, rates, &jerk, &error), STATUS_OK);
    assert_string_equal(jerk->kernel, rates ? "hermite" : "due");
    jerk_open(jerk, b, 1);
    jerk_pack(jerk, motion.x, motion.v, 0, b->stride);
    jerk_sum(jerk, due, count, sums, sums + 3);
    for (size_t k = 0; k < count; k++) {
        double expected[DUE_SUMS], sizes[2];
        reference_jerk(physics, &motion, due[k], expected, expected + 3);
        due_sizes(physics, &motion, due[k], sizes);
        for (int n = 0; n < (rates ? DUE_SUMS : 3); n++)
            if (!(fabs(sums[n][k] - expected[n]) <= bound * sizes[n / 3]))
                fail_msg("%s, %zu bodies, softening %g, body %u, sum %d: %.17g in place of %.17g",
                         precision_names[precision], b->count, physics->softening, due[k], n,
                         sums[n][k], expected[n]);
    }
    jerk_destroy(jerk);
    free(values);
    free(due);
}

/* Granules of 32, segments of 128; then numbers as far from 1 as those in SI, in one system. */
static void test_sums_for_bodies_that_are_due(void **state)
{
    (void)state;
    const size_t sizes[] = { 1, 2, 31, 33, 127, 129, 300 };
    for (size_t n = 0; n < COUNT_OF(sizes); n++) {
        struct bodies *b = case_bodies(2, sizes[n], 200 + sizes[n]);
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++)
            for (size_t s = 0; s < COUNT_OF(spaces); s++) {
                check_due(b, spaces[s], (enum precision)p, false);
                if (p <= PRECISION_MIXED && spaces[s] != &case_periodic)
                    check_due(b, spaces[s], (enum precision)p, true);
            }
        for (size_t i = b->stride; i < 2 * b->stride; i++) {
            double *const far[] = { &b->x[i], &b->y[i], &b->z[i], &b->vx[i], &b->vy[i], &b->vz[i] };
            for (size_t k = 0; k < COUNT_OF(far); k++)
                *far[k] *= k < 3 ? 0x1p40 : 0x1p-90;
            b->m[i] *= 0x1p90;
        }
        check_due(b, &case_soft, PRECISION_DOUBLE, true);
        check_due(b, &case_sharp, PRECISION_MIXED, true);
        check_due(b, &case_soft, PRECISION_SINGLE, false);
        bodies_destroy(b);
    }
}

/* Two bodies at one point without softening do not act on one another, however they move; mixed
 * precision keeps the digits of a system that is far away and fast. */
static void test_due_bodies_that_coincide_or_are_far_away(void **state)
{
    (void)state;
    struct bodies *b = case_bodies(2, 70, 211);
    const size_t first = b->stride;
    b->x[first + 69] = b->x[first], b->y[first + 69] = b->y[first], b->z[first + 69] = b->z[first];
    check_due(b, &case_sharp, PRECISION_DOUBLE, true);
    check_due(b, &case_sharp, PRECISION_DOUBLE, false);
    for (size_t i = first; i < first + 70; i++) {
        b->x[i] += 4096;
        b->vy[i] += 512;
    }
    check_due(b, &case_soft, PRECISION_MIXED, true);
    bodies_destroy(b);
}

/* The bytes that copies have sent to devices, since the last call. */
static size_t sent(void)
{
    static size_t before;
    const size_t now = executor_count().sent, since = now - before;
    before = now;
    return since;
}

/* Compares the sums for bodies that the device predicts with those for bodies that the host
 * predicts, over four blocks of bodies, and counts the bytes that both send. */
static void check_prediction(size_t count, enum precision precision, bool jerks)
{
    const struct force_options options = { .precision = precision, .method = &gpu_due };
    struct error error = { 0 };
    struct bodies *b = case_bodies(1, count, 221), *rates = case_bodies(1, count, 222),
                  *at = case_bodies(1, count, 223);
    double *const x[] = { b->x, b->y, b->z }, *const v[] = { b->vx, b->vy, b->vz };
    double *const a[] = { rates->vx, rates->vy, rates->vz };
    double *const jerk[] = { rates->x, rates->y, rates->z }, *const time = rates->ax;
    double *const at_x[] = { at->x, at->y, at->z }, *const at_v[] = { at->vx, at->vy, at->vz };
    struct jerk_motion motion = { .x = { x[0], x[1], x[2] },
                                  .v = { v[0], v[1], v[2] },
                                  .a = { a[0], a[1], a[2] },
                                  .jerk = { jerk[0], jerk[1], jerk[2] },
                                  .time = time,
                                  .tick = 0.0078125 };
    double *const values = calloc(2 * DUE_SUMS * count, sizeof *values);
    double *sums[2][DUE_SUMS];
    uint32_t *const due = calloc(count, sizeof *due);
    struct jerk *there, *here;
    size_t changed = count;
    bool same = false; /* accelerations and jerks of the changed bodies are the device's sums */
    for (size_t n = 0; n < 2 * DUE_SUMS; n++)
        sums[n / DUE_SUMS][n % DUE_SUMS] = values + n * count;
    assert_int_equal(jerk_create(&options, &case_soft, count, jerks, &there, &error), 0);
    assert_int_equal(jerk_create(&options, &case_soft, count, jerks, &here, &error), 0);
    jerk_open(there, b, 0);
    jerk_open(here, b, 0);
    for (size_t block = 0; block < 4; block++) {
        size_t number = 0;
        for (size_t i = block % count; i < count; i += 2 * block + 1)
            due[number++] = (uint32_t)i;
        motion.now = 1.5 * (double)(block + 1);
        sent();
        assert_true(jerk_predict(there, &motion, due, number));
        jerk_sum(there, due, number, sums[0], sums[0] + 3);
        const size_t words = (jerks && !same ? 12 : 6) * changed;
        assert_true(executor_is_a_gpu || sent() == words * sizeof(double) + number * sizeof *due);
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                const double h = (motion.now - time[i]) * motion.tick;
                at_x[k][i] = jerks ? predicted_position(x[k][i], v[k][i], a[k][i], jerk[k][i], h)
                                   : x[k][i] + h * v[k][i];
                at_v[k][i] = predicted_velocity(v[k][i], a[k][i], jerk[k][i], h);
            }
        sent();
        jerk_pack(here, (const double *const *)at_x, (const double *const *)at_v, 0, b->stride);
        jerk_sum(here, due, number, sums[1], sums[1] + 3);
        const size_t stride = (count + GPU_GRANULE - 1) / GPU_GRANULE * GPU_GRANULE;
        assert_true(executor_is_a_gpu ||
                    sent() == (jerks ? 6 : 3) * stride * sizeof(double) + number * sizeof *due);
        for (size_t n = 0; n < (jerks ? DUE_SUMS : 3); n++)
            assert_memory_equal(sums[0][n], sums[1][n], number * sizeof(double));
        same = block % 2 == 0;
        for (size_t k = 0; k < number; k++) {
            const size_t i = due[k];
            for (int axis = 0; axis < 3; axis++) {
                x[axis][i] = at_x[axis][i];
                v[axis][i] = -at_v[axis][i];
                a[axis][i] = sums[0][axis][k];
                jerk[axis][i] = sums[0][3 + axis][k] + (same ? 0 : 1);
            }
            time[i] = motion.now;
        }
        changed = number;
    }
    sent();
    jerk_open(here, b, 0);
    assert_int_equal(sent(), 0); /* the device has the masses */
    jerk_destroy(there);
    jerk_destroy(here);
    bodies_destroy(b);
    bodies_destroy(rates);
    bodies_destroy(at);
    free(values);
    free(due);
}

/* The device predicts with the bits of the host. For a block it gets 48 bytes for each body of the
 * last one, or 96 if forces other than its sums act on these bodies too, and not 48 (24 without
 * velocities) for each body of the system. */
static void test_the_device_predicts_with_the_bits_of_the_host(void **state)
{
    (void)state;
    const size_t counts[] = { 1, 33, 300 };
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++)
            check_prediction(counts[n], (enum precision)p, false);
        check_prediction(counts[n], PRECISION_DOUBLE, true);
        check_prediction(counts[n], PRECISION_MIXED, true);
    }
}

/* The sums for some bodies, by launches with room for `room` of them, into results[SUMS][count]. */
static void sum_due_bodies(const struct bodies *b, enum precision precision, bool rates,
                           const uint32_t *due, uint32_t count, uint32_t room, double *results)
{
    enum { STATE = 7 };
    const uint32_t stride = (uint32_t)((b->count + GPU_GRANULE - 1) / GPU_GRANULE * GPU_GRANULE);
    const uint32_t segments = (stride + GPU_DUE_SEGMENT - 1) / GPU_DUE_SEGMENT;
    const size_t sums = rates ? DUE_SUMS : 3, number = sizeof(double);
    double *const from[STATE] = { b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz };
    double *state;
    struct gpu_due_call call = {
        .shape = { .systems = 1,
                   .count = (uint32_t)b->count,
                   .stride = stride,
                   .last = (uint32_t)b->count,
                   .segment = GPU_DUE_SEGMENT,
                   .segments = segments },
        .interaction = { .precision = precision,
                         .scaled.eps2 = 0x1p-4f,
                         .full.eps2 = 0x1p-4,
                         .inverse_length = 1 },
        .inverse_speed = rates ? 1 : 0,
        .acceleration = 1,
        .jerk = 1,
        .count = count,
        .room = room,
    };
    void *on_device = NULL;
    assert_int_equal(cudaMalloc((void **)&state, STATE * stride * number), 0);
    double **const members[STATE] = { &call.state.m,  &call.state.x,  &call.state.y, &call.state.z,
                                      &call.state.vx, &call.state.vy, &call.state.vz };
    for (size_t k = 0; k < STATE; k++) {
        *members[k] = state + k * stride;
        assert_int_equal(cudaMemcpyAsync(state + k * stride, from[k], b->count * number,
                                         cudaMemcpyHostToDevice, NULL),
                         0);
    }
    assert_int_equal(cudaMalloc(&call.sources, stride * gpu_moving_size()), 0);
    assert_int_equal(cudaMalloc((void **)&call.partial, room * sums * segments * number), 0);
    assert_int_equal(cudaMalloc((void **)&call.results, sums * count * number), 0);
    assert_int_equal(cudaMalloc(&on_device, count * sizeof *due), 0);
    call.due = on_device;
    assert_int_equal(
        cudaMemcpyAsync(on_device, due, count * sizeof *due, cudaMemcpyHostToDevice, NULL), 0);
    assert_int_equal(gpu_due_pack(&call), 0);
    assert_int_equal(gpu_due_sum(&call), 0);
    assert_int_equal(
        cudaMemcpyAsync(results, call.results, sums * count * number, cudaMemcpyDeviceToHost, NULL),
        0);
    assert_int_equal(cudaStreamSynchronize(NULL), 0);
    cudaFree(state);
    cudaFree(call.sources);
    cudaFree(call.partial);
    cudaFree(call.results);
    cudaFree(on_device);
}

/* A body's bits depend neither on which bodies are due with it nor on how many a launch takes. */
static void test_due_bodies_have_the_same_bits_in_any_company(void **state)
{
    (void)state;
    enum { COUNT = 290, DUE = 150 };
    const uint32_t numbers[] = { 1, 31, 33, 129, DUE }, rooms[] = { 7, 64, DUE };
    const int last = executor_is_a_gpu ? EXECUTOR_FORWARD : EXECUTOR_SHUFFLED;
    struct bodies *b = case_bodies(1, COUNT, 212);
    uint32_t due[DUE];
    double *expected = calloc(2 * DUE_SUMS * DUE, sizeof *expected);
    double *const got = expected + DUE_SUMS * DUE;
    for (uint32_t k = 0; k < DUE; k++)
        due[k] = k * 29 % COUNT;
    for (int form = 0; form < 4; form++) {
        const enum precision precision = form % 2 ? PRECISION_MIXED : PRECISION_DOUBLE;
        const bool rates = form < 2;
        executor_reset();
        sum_due_bodies(b, precision, rates, due, DUE, DUE, expected);
        for (size_t n = 0; n < COUNT_OF(numbers); n++) {
            const uint32_t number = numbers[n], from = DUE - number;
            executor_settings.order = (enum executor_order)((form + (int)n) % (last + 1));
            sum_due_bodies(b, precision, rates, due + from, number, rooms[n % COUNT_OF(rooms)],
                           got);
            for (uint32_t c = 0; c < (rates ? DUE_SUMS : 3); c++)
                assert_memory_equal(got + c * number, expected + c * DUE + from,
                                    number * sizeof *got);
        }
    }
    free(expected);
    bodies_destroy(b);
}

/* --- potentials in pairs of floats -----------------------------------------------------------*/

/* Largest errors of phi and psi, relative to the value. */
struct errors {
    double phi, psi;
};

/* Compares the potentials of the first `compared` bodies of each system with those by long double,
 * whose products have 64 bits at least, and whose differences of doubles of like size are exact. */
static struct errors potential_errors(const struct bodies *b, size_t compared,
                                      const struct physics *physics, const double *phi,
                                      const double *psi)
{
    struct errors worst = { 0 };
    const long double eps = physics->softening, eps2 = eps * eps;
    for (size_t i = 0; i < bodies_length(b); i++) {
        const size_t first = i / b->stride * b->stride;
        long double sum = 0, weighted = 0;
        if (i - first >= compared)
            continue;
        for (size_t j = first; j < first + b->count; j++) {
            const long double x = (long double)b->x[j] - b->x[i];
            const long double y = (long double)b->y[j] - b->y[i];
            const long double z = (long double)b->z[j] - b->z[i];
            const long double r2 = x * x + y * y + z * z, h2 = r2 + eps2;
            if (j == i || h2 == 0)
                continue;
            sum += b->m[j] / sqrtl(h2);
            weighted += b->m[j] / sqrtl(h2) * (r2 / h2);
        }
        sum *= -physics->gravitational_constant;
        weighted *= -physics->gravitational_constant;
        if (phi[i] == (double)sum && psi[i] == (double)weighted)
            continue;
        assert_true(isfinite(phi[i]) && isfinite(psi[i]));
        worst.phi = fmax(worst.phi, (double)fabsl((phi[i] - sum) / sum));
        worst.psi = fmax(worst.psi, (double)fabsl((psi[i] - weighted) / weighted));
    }
    return worst;
}

static void find_potentials(struct bodies *b, const struct physics *physics,
                            enum gpu_energies energies, double *phi, double *psi)
{
    struct case_device on;
    case_energies = energies;
    case_open(&on, b, physics, "auto", PRECISION_SINGLE, NULL, b->count);
    case_potentials(&on, b, phi, psi);
    case_close(&on);
}

static struct errors errors_of(struct bodies *b, size_t compared, const struct physics *physics,
                               enum gpu_energies energies)
{
    double *phi = calloc(2 * bodies_length(b), sizeof *phi), *psi = phi + bodies_length(b);
    find_potentials(b, physics, energies, phi, psi);
    const struct errors errors = potential_errors(b, compared, physics, phi, psi);
    free(phi);
    return errors;
}

/* Makes systems of two bodies, whose numbers have all 53 bits. A coordinate of the first body is at
 * most `reach` and down to 2^-range times that; that of the second body is another such number if
 * `apart` is 0, else up to `apart` from the first. */
static struct bodies *make_pairs(double reach, double range, double apart)
{
    enum { SYSTEMS = 500 };
    struct error error = { 0 };
    struct bodies *b = case_bodies(SYSTEMS, 2, 61);
    gsl_rng *random = random_create(62, &error);
    assert_non_null(random);
    for (size_t s = 0; s < SYSTEMS; s++) {
        double *const x[] = { b->x + s * b->stride, b->y + s * b->stride, b->z + s * b->stride };
        for (int k = 0; k < 3; k++) {
            for (int n = 0; n < 2; n++)
                x[k][n] = reach * random_uniform(random, -1, 1) *
                          exp2(-range * random_uniform(random, 0, 1));
            if (apart > 0)
                x[k][1] = x[k][0] + apart * random_uniform(random, -1, 1);
        }
        b->m[s * b->stride] = random_uniform(random, 1e-9, 1);
    }
    random_destroy(random);
    return b;
}

/*
 * A pair's phi has an error of at most some six roundings of 2^-47: two in e = 1 - h s^2, which is
 * up to 2^-21.8, and count half; one of the series, of its product with s, of h^2, and two of the
 * product with m. psi has three times those of 1/h, and those of three products more. If a test
 * finds less than 1e-15, the sums were not those in floats.
 */
static void test_potentials_in_floats_of_pairs(void **state)
{
    (void)state;
    static const struct physics soft = { .gravitational_constant = 1, .softening = 0.18713862943 };
    static const struct {
        double reach, range, apart;
        const struct physics *physics;
    } cases[] = {
        { 1, 0, 0, &case_sharp },      { 1, 0, 0, &soft },
        { 1, 0, 1e-9, &case_sharp },   { 1, 0, 0.3, &soft },
        { 1e6, 0, 1e-3, &case_sharp }, /* of which doubles know 23 bits */
        { 3e20, 60, 0, &case_sharp },  { 3e-20, 40, 1e-26, &case_sharp },
        { 1, 60, 1e-15, &case_sharp },
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *b = make_pairs(cases[k].reach, cases[k].range, cases[k].apart);
        const struct errors in = errors_of(b, 2, cases[k].physics, GPU_ENERGIES_FLOATS);
        if (!(in.phi <= 0x1p-44 && in.psi <= 0x1p-42 && in.phi > 1e-15))
            fail_msg("case %zu: errors of %g and %g", k, in.phi, in.psi);
        const struct errors full = errors_of(b, 2, cases[k].physics, GPU_ENERGIES_DOUBLE);
        assert_true(full.phi < 1e-15 && full.psi < 2e-15);
        bodies_destroy(b);
    }
}

/* Sums of many pairs, whose roundings are of random sign; bodies without mass, in one place with
 * others, and in the origin. Those in one place are summed in fp64, which has other last bits. */
static void test_potentials_in_floats_of_systems(void **state)
{
    (void)state;
    static const size_t counts[] = { 33, 70, 600 };
    for (size_t n = 0; n < COUNT_OF(counts); n++)
        for (size_t k = 0; k < 2; k++)
            for (int together = 0; together < 2; together++) {
                struct bodies *b = case_bodies(2, counts[n], 63);
                const size_t length = bodies_length(b);
                double *phi = calloc(4 * length, sizeof *phi), *full = phi + 2 * length;
                for (size_t i = 0; i < length; i += 7)
                    b->m[i] = 0;
                b->x[0] = b->y[0] = b->z[0] = 0;
                if (together)
                    b->x[20] = b->y[20] = b->z[20] = 0;
                find_potentials(b, spaces[k], GPU_ENERGIES_FLOATS, phi, phi + length);
                find_potentials(b, spaces[k], GPU_ENERGIES_DOUBLE, full, full + length);
                const struct errors in =
                    potential_errors(b, b->count, spaces[k], phi, phi + length);
                if (!(in.phi < 3e-14 && in.psi < 1e-13))
                    fail_msg("%zu bodies: errors of %g and %g", counts[n], in.phi, in.psi);
                if (!together || spaces[k] == &case_soft)
                    assert_true(phi[0] != full[0] || phi[length] != full[length]);
                free(phi);
                bodies_destroy(b);
            }
}

/* Numbers beyond the range of the terms in floats: two bodies `apart` at x, of which the first has
 * `mass`, and a third one at `far`. phi and psi of the two are then those in fp64. */
static void test_potentials_out_of_the_range_of_floats(void **state)
{
    (void)state;
    static const struct {
        double mass, x, apart, far;
    } cases[] = {
        { 1e-40, 0.25, 0.5, 2 }, { 1e-16, 0.25, 0.5, 2 },   { 1e-300, 0.25, 0.5, 1e25 },
        { 1, 1e-25, 1e-24, 2 },  { 1, 0.25, 0.01, 1.5e25 }, { 0, 0.25, 0.3, 3e30 },
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *b = case_bodies(1, 3, 64);
        b->m[0] = cases[k].mass;
        b->x[0] = cases[k].x, b->y[0] = b->z[0] = 0;
        b->x[1] = cases[k].x + cases[k].apart, b->y[1] = b->z[1] = 0;
        b->x[2] = cases[k].far;
        const struct errors in = errors_of(b, 2, &case_sharp, GPU_ENERGIES_FLOATS);
        if (!(in.phi < 1e-15 && in.psi < 2e-15))
            fail_msg("case %zu: errors of %g and %g", k, in.phi, in.psi);
        bodies_destroy(b);
    }
}

/* A body that has gone far from where the run began, and comes back. */
static void test_potentials_in_floats_of_an_escaper(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    static const double places[] = { 0.5, 9e5, 3e6, 0.5 };
    struct bodies *b = case_bodies(1, COUNT, 65);
    struct case_device on;
    double phi[COUNT_OF(places)][2 * COUNT + 64];
    case_energies = GPU_ENERGIES_FLOATS;
    case_open(&on, b, &case_sharp, "auto", PRECISION_SINGLE, NULL, COUNT);
    for (size_t k = 0; k < COUNT_OF(places); k++) {
        b->x[3] = places[k];
        case_potentials(&on, b, phi[k], phi[k] + b->stride);
        const struct errors in =
            potential_errors(b, COUNT, &case_sharp, phi[k], phi[k] + b->stride);
        const double most = places[k] > 0x1p20 ? 5e-15 : 3e-14;
        if (!(in.phi < most && in.psi < 3 * most))
            fail_msg("at %g: errors of %g and %g", places[k], in.phi, in.psi);
    }
    assert_memory_equal(phi[0], phi[3], COUNT * sizeof(double));
    case_close(&on);
    bodies_destroy(b);
}

/* Space is periodic, or the softening beyond all bounds: the terms in floats are not used. */
static void test_potentials_that_floats_cannot_have(void **state)
{
    (void)state;
    const struct physics wide = { .gravitational_constant = 1, .softening = 1e8 };
    const struct physics *const all[] = { &case_periodic, &wide };
    for (size_t k = 0; k < COUNT_OF(all); k++) {
        struct bodies *b = case_bodies(1, 70, 66);
        const size_t length = bodies_length(b);
        double *phi = calloc(4 * length, sizeof *phi), *full = phi + 2 * length;
        find_potentials(b, all[k], GPU_ENERGIES_FLOATS, phi, phi + length);
        find_potentials(b, all[k], GPU_ENERGIES_DOUBLE, full, full + length);
        assert_memory_equal(phi, full, 2 * length * sizeof *phi);
        free(phi);
        bodies_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_forces_agree_with_the_reference, reset),
        cmocka_unit_test_setup(test_third_law_in_every_space, reset),
        cmocka_unit_test_setup(test_third_law_agrees_with_the_reference, reset),
        cmocka_unit_test_setup(test_the_textbook_agrees_with_the_reference, reset),
        cmocka_unit_test_setup(test_the_rungs_of_the_textbook_give_equal_bits, reset),
        cmocka_unit_test_setup(test_many_systems, reset),
        cmocka_unit_test_setup(test_plain_kernels_give_equal_bits, reset),
        cmocka_unit_test_setup(test_tiled_gives_equal_bits_for_every_tile_and_block, reset),
        cmocka_unit_test_setup(test_portable_has_the_bits_of_the_reference, reset),
        cmocka_unit_test_setup(test_bits_do_not_depend_on_the_order_of_threads, reset),
        cmocka_unit_test_setup(test_a_system_alone_has_the_bits_it_has_among_others, reset),
        cmocka_unit_test_setup(test_equal_masses_change_no_bits, reset),
        cmocka_unit_test_setup(test_coincident_bodies_do_not_pull, reset),
        cmocka_unit_test_setup(test_mixed_holds_far_from_the_origin, reset),
        cmocka_unit_test_setup(test_an_escaper_takes_no_digits, reset),
        cmocka_unit_test_setup(test_units_do_not_matter_to_fp32, reset),
        cmocka_unit_test_setup(test_third_law_conserves_momentum, reset),
        cmocka_unit_test_setup(test_bodies_far_outside_the_box, reset),
        cmocka_unit_test_setup(test_chunks_lose_nothing, reset),
        cmocka_unit_test_setup(test_one_body_and_two, reset),
        cmocka_unit_test_setup(test_rounds_of_a_resident_system_change_no_bits, reset),
        cmocka_unit_test_setup(test_two_bodies_of_a_resident_thread_change_no_bits, reset),
        cmocka_unit_test_setup(test_sums_stop_between_launches, reset),
        cmocka_unit_test_setup(test_sums_for_bodies_that_are_due, reset),
        cmocka_unit_test_setup(test_due_bodies_that_coincide_or_are_far_away, reset),
        cmocka_unit_test_setup(test_the_device_predicts_with_the_bits_of_the_host, reset),
        cmocka_unit_test_setup(test_due_bodies_have_the_same_bits_in_any_company, reset),
        cmocka_unit_test_setup(test_potentials_in_floats_of_pairs, reset),
        cmocka_unit_test_setup(test_potentials_in_floats_of_systems, reset),
        cmocka_unit_test_setup(test_potentials_out_of_the_range_of_floats, reset),
        cmocka_unit_test_setup(test_potentials_in_floats_of_an_escaper, reset),
        cmocka_unit_test_setup(test_potentials_that_floats_cannot_have, reset),
    };
    return cmocka_run_group_tests_name("GPU kernels", tests, NULL, NULL);
}
