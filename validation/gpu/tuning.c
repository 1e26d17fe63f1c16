/* The tuning of the kernels: what is stored, what is believed, what is launched. */
#include "gpu-case.h"

#include <unistd.h>

static const char path[] = "gpu-tuning-test/cache/tuning.json";
static const struct gpu_device device = { .name = "a device",
                                          .isa = "sm_90",
                                          .multiprocessors = 132 };

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    rmdir("gpu-tuning-test/cache");
    rmdir("gpu-tuning-test");
    return 0;
}

static void write_file(const char *text)
{
    struct gpu_tuning_table table;
    struct error error = { 0 };
    gpu_tuning_load(&device, path, &table);
    assert_int_equal(gpu_tuning_store(&device, path, &table, &error), STATUS_OK);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* C++ reads the members of the catalog in their order, C by their names. */
static void test_the_catalog_is_the_same_in_c_and_c_plus_plus(void **state)
{
    (void)state;
    static const struct gpu_kernel_facts in_order[] = {
#define GPU_CATALOG_IN_ORDER
#define GPU_KERNEL(id, name, help, ...) { #name, __VA_ARGS__ },
#include "gpu/kernels/catalog.inc"
#undef GPU_CATALOG_IN_ORDER
    };
    assert_int_equal(COUNT_OF(in_order), GPU_KERNELS);
    for (size_t k = 0; k < COUNT_OF(in_order); k++) {
        const struct gpu_kernel_facts *const one = &in_order[k], *const other = &gpu_catalog[k];
        assert_string_equal(one->name, other->name);
        assert_int_equal(one->third_law, other->third_law);
        assert_int_equal(one->portable, other->portable);
        assert_int_equal(one->resident, other->resident);
        assert_int_equal(one->splits, other->splits);
        assert_int_equal(one->padding, other->padding);
        assert_int_equal(one->from, other->from);
        assert_memory_equal(one->limits, other->limits, sizeof one->limits);
    }
}

static void test_what_is_stored_is_found_again(void **state)
{
    (void)state;
    struct gpu_tuning_table table, again;
    struct error error = { 0 };
    const struct gpu_device other = { .name = "another device", .isa = "sm_90" };
    const struct gpu_tuning_row row = { GPU_BLOCKED, PRECISION_MIXED, 5000, { 64, 1024, 2, 1, 2 } };
    gpu_tuning_load(&device, path, &table);
    const size_t starts = table.count;
    gpu_tuning_set(&table, &row);
    assert_int_equal(gpu_tuning_store(&other, path, &table, &error), STATUS_OK);
    gpu_tuning_load(&device, path, &again);
    assert_int_equal(again.count, starts); /* another device's are not this one's */
    assert_int_equal(gpu_tuning_store(&device, path, &table, &error), STATUS_OK);
    gpu_tuning_load(&other, path, &again);
    assert_int_equal(again.count, starts + 1); /* and stay beside them */
    gpu_tuning_load(&device, path, &again);
    assert_int_equal(again.count, starts + 1);
    assert_memory_equal(gpu_tuning_find(&again, GPU_BLOCKED, PRECISION_MIXED, 100), &row,
                        sizeof row);
    assert_int_equal(gpu_tuning_find(&again, GPU_BLOCKED, PRECISION_SINGLE, 5000)->count, 0);
}

/* Each kernel's own start is a launch that it was built for, and may come out of a file; so may any
 * at the ends of its limits, and none beyond. */
static void test_every_kernel_takes_its_own_rows(void **state)
{
    (void)state;
    for (int id = 0; id < GPU_KERNELS; id++)
        for (int p = 0; case_has((size_t)id, p); p++) {
            const struct gpu_limits *limits = &gpu_catalog[id].limits[p];
            struct gpu_tuning_row row = { (enum gpu_kernel_id)id, (enum precision)p, 1000,
                                          limits->start };
            struct gpu_tuning_table table;
            struct error error = { 0 };
            assert_true(gpu_limits_allow(limits, &row.tuning));
            gpu_tuning_load(&device, path, &table);
            gpu_tuning_set(&table, &row);
            assert_int_equal(gpu_tuning_store(&device, path, &table, &error), STATUS_OK);
            gpu_tuning_load(&device, path, &table);
            assert_memory_equal(gpu_tuning_find(&table, row.kernel, row.precision, 1000), &row,
                                sizeof row);
            int *const members[] = { &row.tuning.block, &row.tuning.tile, &row.tuning.bodies,
                                     &row.tuning.at_once };
            const struct gpu_range ranges[] = { limits->block, limits->tile, limits->bodies,
                                                limits->at_once };
            const int steps[] = { 32, 32, 1, 1 };
            for (size_t k = 0; k < COUNT_OF(members); k++) {
                const int own = *members[k];
                *members[k] = ranges[k].least;
                assert_true(gpu_limits_allow(limits, &row.tuning));
                *members[k] = ranges[k].least - steps[k];
                assert_false(gpu_limits_allow(limits, &row.tuning));
                *members[k] = ranges[k].most;
                assert_true(gpu_limits_allow(limits, &row.tuning));
                *members[k] = ranges[k].most + steps[k];
                assert_false(gpu_limits_allow(limits, &row.tuning));
                *members[k] = own;
            }
        }
}

static void test_the_nearest_size_counts(void **state)
{
    (void)state;
    struct gpu_tuning_table table;
    const size_t counts[] = { 4096, 131072, 1048576 };
    gpu_tuning_load(&device, path, &table);
    assert_int_equal(gpu_tuning_find(&table, GPU_BLOCKED, PRECISION_SINGLE, 4096)->count, 0);
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        const struct gpu_tuning_row row = {
            GPU_BLOCKED, PRECISION_SINGLE, counts[k], { 64, 128, 1, 1, 2 }
        };
        gpu_tuning_set(&table, &row);
    }
    const size_t asked[][2] = { { 1, 4096 },        { 20000, 4096 },     { 30000, 131072 },
                                { 300000, 131072 }, { 400000, 1048576 }, { 9000000, 1048576 } };
    for (size_t k = 0; k < COUNT_OF(asked); k++)
        assert_int_equal(gpu_tuning_find(&table, GPU_BLOCKED, PRECISION_SINGLE, asked[k][0])->count,
                         asked[k][1]);
}

/* Launches that no kernel was built for, and files that are none. */
static void test_nonsense_is_not_believed(void **state)
{
    (void)state;
    const char *const files[] = { "", "[1, 2", "\"text\"", "{\"a device sm_90\": 3}" };
    static const struct {
        const char *kernel;
        double count;
        int block, tile, bodies, at_once;
    } rows[] = {
        { "blocked", 1000, 33, 256, 4, 2 },    { "blocked", 1000, 512, 256, 4, 2 },
        { "blocked", 1000, 128, 4096, 4, 2 },  { "blocked", 1000, 128, 256, 3, 2 },
        { "blocked", 1000, 128, 256, 8, 2 },   { "blocked", 1000, 128, 256, 4, 4 },
        { "blocked", 0, 128, 256, 4, 2 },      { "blocked", -1, 128, 256, 4, 2 },
        { "blocked", 1e12, 128, 256, 4, 2 },   { "quick", 1000, 128, 256, 4, 2 },
        { "symmetric", 1000, 256, 256, 8, 3 }, { "symmetric", 1000, 128, 512, 8, 3 },
        { "symmetric", 1000, 128, 256, 1, 3 }, { "tiled", 1000, 2048, 256, 1, 1 },
        { "simt", 1000, 256, 256, 1, 1 },
    };
    struct gpu_tuning_table starts, table;
    gpu_tuning_load(&device, path, &starts);
    for (size_t k = 0; k < COUNT_OF(files) + COUNT_OF(rows); k++) {
        char text[300];
        if (k < COUNT_OF(files))
            snprintf(text, sizeof text, "%s", files[k]);
        else
            snprintf(text, sizeof text,
                     "{\"a device sm_90\": [{\"kernel\": \"%s\", \"precision\": \"single\", "
                     "\"count\": %.0f, \"block\": %d, \"tile\": %d, \"bodies\": %d, "
                     "\"at_once\": %d}]}",
                     rows[k - COUNT_OF(files)].kernel, rows[k - COUNT_OF(files)].count,
                     rows[k - COUNT_OF(files)].block, rows[k - COUNT_OF(files)].tile,
                     rows[k - COUNT_OF(files)].bodies, rows[k - COUNT_OF(files)].at_once);
        write_file(text);
        gpu_tuning_load(&device, path, &table);
        if (table.count != starts.count ||
            memcmp(table.rows, starts.rows, table.count * sizeof *table.rows) != 0)
            fail_msg("believed: %s", text);
    }
}

static void test_a_cache_that_cannot_be_written(void **state)
{
    (void)state;
    struct gpu_tuning_table table;
    struct error error = { 0 };
    gpu_tuning_load(&device, path, &table);
    assert_int_equal(gpu_tuning_store(&device, "/dev/null/tuning.json", &table, &error),
                     STATUS_CANT_CREATE);
    assert_non_null(strstr(error.text, "/dev/null/tuning.json"));
}

/* --- waves -------------------------------------------------------------------------------------*/

/* As many blocks as the registers allow that the assembler gives `blocked` in fp32 (sm_90): 125, 92
 * and 72 for four, two and one bodies of a thread. */
static unsigned by_registers(const void *context, const struct gpu_tuning *tuning)
{
    (void)context;
    const int registers = tuning->bodies == 4 ? 128 : tuning->bodies == 2 ? 96 : 72;
    return (unsigned)(65536 / registers / tuning->block);
}

/* Segments as part.c cuts them. */
static struct gpu_tuning_problem problem_of(size_t systems, size_t bodies, int multiprocessors)
{
    const size_t extent = (bodies + 31) / 32 * 32, wanted = ((size_t)1 << 23) / extent;
    const size_t most = wanted < 1 ? 1 : wanted > 32 ? 32 : wanted;
    const size_t segment = ((extent + most - 1) / most + 31) / 32 * 32;
    return (struct gpu_tuning_problem){
        systems, bodies,          (unsigned)((extent + segment - 1) / segment),
        segment, multiprocessors, by_registers,
        NULL
    };
}

/* Blocks of a launch over those that its waves have room for. */
static double filled(const struct gpu_tuning_problem *problem, const struct gpu_tuning *tuning)
{
    const size_t size = (size_t)(tuning->block * tuning->bodies);
    const size_t blocks =
        problem->systems * ((problem->bodies + size - 1) / size) * (size_t)tuning->split;
    const size_t wave = by_registers(NULL, tuning) * (size_t)problem->multiprocessors;
    return (double)blocks / (double)((blocks + wave - 1) / wave * wave);
}

/*
 * Whole waves on a device of 132 multiprocessors (H100, H200), 108 (A100), 84, 128 (RTX 4090) and
 * 170 (RTX 5090). Below some 30000 bodies there are not enough of them to fill such devices with
 * four bodies a thread; above, nineteen twentieths of the time are theirs, but for sizes that fit
 * no number of waves.
 */
static void test_launches_are_whole_waves(void **state)
{
    (void)state;
    static const size_t counts[] = { 1000,   2048,    4096,    8192,   10000,  16384,
                                     32768,  50000,   65536,   100000, 131072, 262144,
                                     500000, 1000000, 2000000, 4000000 };
    static const int multiprocessors[] = { 132, 108, 84, 128, 170 };
    const struct gpu_tuning_row row = { GPU_BLOCKED, PRECISION_SINGLE, 0,
                                        gpu_catalog[GPU_BLOCKED].limits[PRECISION_SINGLE].start };
    size_t large = 0;
    double sum = 0;
    print_message(
        "# bodies: filled, used (bodies of a thread x split) of 132, 108, 84, 128, 170\n");
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        print_message("# %7zu:", counts[k]);
        for (size_t m = 0; m < COUNT_OF(multiprocessors); m++) {
            const struct gpu_tuning_problem problem = problem_of(1, counts[k], multiprocessors[m]);
            double used;
            const struct gpu_tuning tuning = gpu_tuning_fit(&row, &problem, &used);
            const double part = filled(&problem, &tuning);
            print_message("  %.2f, %.2f (%d x %2d)", part, used, tuning.bodies, tuning.split);
            assert_true(used > 0 && used <= 1 && part <= 1);
            if (counts[k] >= 32768) {
                large++;
                sum += part;
                assert_true(part >= 0.92 && used >= 0.9);
            }
        }
        print_message("\n");
    }
    assert_true(sum / (double)large >= 0.97);
}

/* 32 systems of 8192 bodies are 512 blocks of four bodies a thread: 528 fit. What took 1024 blocks,
 * of which 792 fitted, is one wave too. */
static void test_ensembles_are_whole_waves(void **state)
{
    (void)state;
    const struct gpu_tuning_row row = { GPU_BLOCKED, PRECISION_SINGLE, 0,
                                        gpu_catalog[GPU_BLOCKED].limits[PRECISION_SINGLE].start };
    const size_t shapes[][2] = { { 32, 8192 }, { 1000, 1024 }, { 64, 4096 } };
    for (size_t k = 0; k < COUNT_OF(shapes); k++) {
        const struct gpu_tuning_problem problem = problem_of(shapes[k][0], shapes[k][1], 132);
        double used;
        const struct gpu_tuning tuning = gpu_tuning_fit(&row, &problem, &used);
        if (filled(&problem, &tuning) < 0.93 || used < 0.9)
            fail_msg("%zu x %zu: %g filled, %g used", shapes[k][0], shapes[k][1],
                     filled(&problem, &tuning), used);
    }
    const struct gpu_tuning_problem galaxies = problem_of(32, 8192, 132);
    assert_int_equal(gpu_tuning_fit(&row, &galaxies, NULL).split, 1);
    const struct gpu_tuning_problem one = problem_of(1, 1, 132);
    assert_int_equal(gpu_tuning_fit(&row, &one, NULL).split, 1);
}

/* gpu_step() takes bodies that leave no multiprocessor more than GPU_STEP_BODIES. */
static void test_steps_of_one_launch(void **state)
{
    (void)state;
    static const struct {
        size_t systems, count;
        int multiprocessors;
        unsigned bodies;
    } cases[] = { { 1, 1024, 132, 8 }, { 1, 1, 132, 1 },     { 1, 132 * 32, 132, 32 },
                  { 1, 4225, 132, 0 }, { 3, 1408, 132, 32 }, { 3, 1409, 132, 0 },
                  { 1, 512, 16, 32 },  { 1, 32, 1, 32 },     { 1, 33, 1, 0 } };
    for (size_t k = 0; k < COUNT_OF(cases); k++)
        assert_int_equal(
            gpu_tuning_step(cases[k].systems, cases[k].count, cases[k].multiprocessors),
            cases[k].bodies);
}

/*
 * The bodies of a thread of gpu_resident(), and the threads that share a sum, on 132
 * multiprocessors. A scheduler has one in four of the warps of a multiprocessor; a warp's pair
 * takes it 16 cycles in single with one body of a thread, since shared memory is busy so long,
 * and 13.66, the instructions, with two. 96 bodies have 3 segments of 32: 9 warps with one body of
 * a thread, so 3 x 32 pairs x 16 = 1536 cycles; 5 warps with two, so 2 x 64 x 13.66 = 1748. 97
 * bodies have 4: 13 warps, 4 x 32 x 16 = 2048; 7 warps, 2 x 64 x 13.66 = 1748. In mixed a pair
 * takes 32 or 20.16 cycles; in double the fp64 unit takes 32 anyway. 171 bodies have 6 segments,
 * and room for 2 or 5 threads that share a sum: 3 rounds; or 2, for which 3 threads are enough.
 */
static void test_bodies_of_a_resident_thread(void **state)
{
    (void)state;
    static const struct {
        size_t systems, count;
        enum precision precision;
        int bodies, split;
    } cases[] = {
        { 1, 1, PRECISION_SINGLE, 1, 1 },     { 1, 64, PRECISION_SINGLE, 1, 2 },
        { 1, 96, PRECISION_SINGLE, 1, 3 },    { 1, 97, PRECISION_SINGLE, 2, 4 },
        { 1, 128, PRECISION_SINGLE, 2, 4 },   { 132, 64, PRECISION_SINGLE, 1, 2 },
        { 264, 64, PRECISION_SINGLE, 2, 2 },  { 1000, 64, PRECISION_SINGLE, 2, 2 },
        { 100, 512, PRECISION_SINGLE, 2, 2 }, { 1, 64, PRECISION_MIXED, 1, 2 },
        { 1, 96, PRECISION_MIXED, 2, 3 },     { 100, 512, PRECISION_MIXED, 2, 2 },
        { 66, 171, PRECISION_SINGLE, 1, 2 },  { 66, 171, PRECISION_MIXED, 2, 3 },
        { 66, 200, PRECISION_SINGLE, 2, 4 },  { 66, 200, PRECISION_DOUBLE, 1, 2 },
        { 1, 128, PRECISION_DOUBLE, 1, 4 },   { 100, 512, PRECISION_DOUBLE, 1, 1 },
    };
    const struct gpu_range any = { 1, GPU_RESIDENT_MOST };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct gpu_tuning like = { 128, 256, 4, 7, 2 };
        const struct gpu_tuning_problem problem = problem_of(cases[k].systems, cases[k].count, 132);
        const struct gpu_tuning found =
            gpu_tuning_resident(&like, cases[k].precision, &problem, any);
        const struct gpu_tuning expected = { 128, 256, cases[k].bodies, cases[k].split, 2 };
        if (memcmp(&found, &expected, sizeof found) != 0)
            fail_msg("%zu x %zu, %s: %d bodies of a thread, split %d", cases[k].systems,
                     cases[k].count, precision_names[cases[k].precision], found.bodies,
                     found.split);
        for (int bodies = 1; bodies <= GPU_RESIDENT_MOST; bodies++) {
            const struct gpu_range one = { bodies, bodies };
            assert_int_equal(gpu_tuning_resident(&like, cases[k].precision, &problem, one).bodies,
                             bodies);
        }
    }
}

/* gpu_resident() takes systems of up to 128 bodies, and up to 512 if there are half as many as
 * multiprocessors. */
static void test_systems_that_stay_in_a_block(void **state)
{
    (void)state;
    assert_true(gpu_tuning_stays(1, 128, 132) && gpu_tuning_stays(66, 129, 132));
    assert_true(gpu_tuning_stays(66, 512, 132) && gpu_tuning_stays(1, 512, 2));
    assert_false(gpu_tuning_stays(1, 129, 132) || gpu_tuning_stays(65, 512, 132));
    assert_false(gpu_tuning_stays(1000, 513, 132));
}

/* Kernels that cannot share sums are launched as they are. */
static void test_what_cannot_be_split_is_not(void **state)
{
    (void)state;
    for (int id = 0; id < GPU_KERNELS; id++)
        for (int p = 0; case_has((size_t)id, p); p++) {
            const struct gpu_limits *limits = &gpu_catalog[id].limits[p];
            const struct gpu_tuning_row row = { (enum gpu_kernel_id)id, (enum precision)p, 0,
                                                limits->start };
            struct gpu_tuning_problem problem = problem_of(1, 20000, 132);
            problem.at_once = NULL; /* as many as the kernel was built for */
            const struct gpu_tuning tuning = gpu_tuning_fit(&row, &problem, NULL);
            assert_true(gpu_limits_allow(limits, &tuning));
            assert_true(gpu_catalog[id].splits || tuning.split == 1);
        }
}

/* The largest tile of which a system has 32: by the number of bodies alone, for the tile is part of
 * the order of the sums. */
static void test_tiles_follow_from_the_number_of_bodies(void **state)
{
    (void)state;
    static const struct {
        enum precision precision;
        size_t count;
        int bodies;
    } rows[] = {
        { PRECISION_SINGLE, 8192, 2 },  { PRECISION_SINGLE, 15872, 2 },
        { PRECISION_SINGLE, 15873, 4 }, { PRECISION_SINGLE, 31744, 4 },
        { PRECISION_SINGLE, 31745, 8 }, { PRECISION_SINGLE, 1000000, 8 },
        { PRECISION_MIXED, 31745, 8 },  { PRECISION_DOUBLE, 15872, 2 },
        { PRECISION_DOUBLE, 15873, 4 }, { PRECISION_DOUBLE, 31745, 4 },
    };
    for (size_t k = 0; k < COUNT_OF(rows); k++)
        for (size_t systems = 1; systems < 1000; systems *= 30)
            for (int multiprocessors = 1; multiprocessors < 1000; multiprocessors *= 13) {
                const struct gpu_tuning_row row = {
                    GPU_SYMMETRIC, rows[k].precision, 0,
                    gpu_catalog[GPU_SYMMETRIC].limits[rows[k].precision].start
                };
                struct gpu_tuning_problem problem =
                    problem_of(systems, rows[k].count, multiprocessors);
                problem.at_once = NULL;
                assert_int_equal(gpu_tuning_fit(&row, &problem, NULL).bodies, rows[k].bodies);
            }
}

/* The third law wins where there are tiles enough to fill a device, and needs whole systems. */
static void test_auto_takes_the_third_law_where_it_wins(void **state)
{
    (void)state;
    assert_int_equal(gpu_catalog_choose(1, true), GPU_BLOCKED);
    assert_int_equal(gpu_catalog_choose(8191, true), GPU_BLOCKED);
    assert_int_equal(gpu_catalog_choose(8192, true), GPU_SYMMETRIC);
    assert_int_equal(gpu_catalog_choose(65536, false), GPU_BLOCKED);
    assert_int_equal(gpu_catalog_choose(4000000, true), GPU_SYMMETRIC);
    assert_int_equal(gpu_catalog_find("symmetric"), GPU_SYMMETRIC);
    assert_int_equal(gpu_catalog_find("plain"), GPU_KERNELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_catalog_is_the_same_in_c_and_c_plus_plus),
        cmocka_unit_test_setup_teardown(test_what_is_stored_is_found_again, remove_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_every_kernel_takes_its_own_rows, remove_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_the_nearest_size_counts, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(test_nonsense_is_not_believed, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_cache_that_cannot_be_written, remove_file,
                                        remove_file),
        cmocka_unit_test(test_launches_are_whole_waves),
        cmocka_unit_test(test_ensembles_are_whole_waves),
        cmocka_unit_test(test_bodies_of_a_resident_thread),
        cmocka_unit_test(test_systems_that_stay_in_a_block),
        cmocka_unit_test(test_steps_of_one_launch),
        cmocka_unit_test(test_what_cannot_be_split_is_not),
        cmocka_unit_test(test_tiles_follow_from_the_number_of_bodies),
        cmocka_unit_test(test_auto_takes_the_third_law_where_it_wins),
    };
    return cmocka_run_group_tests_name("GPU tuning", tests, NULL, NULL);
}
