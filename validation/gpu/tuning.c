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

static void test_what_is_stored_is_found_again(void **state)
{
    (void)state;
    struct gpu_tuning_table table, again;
    struct error error = { 0 };
    const struct gpu_device other = { .name = "another device", .isa = "sm_90" };
    gpu_tuning_load(&device, path, &table);
    assert_int_equal(table.stored, 0);
    const struct gpu_tuning_row before = *gpu_tuning_find(&table, "blocked", PRECISION_MIXED);
    struct gpu_tuning_row *row = gpu_tuning_find(&table, "blocked", PRECISION_MIXED);
    row->block = 64, row->tile = 1024, row->bodies = 2, row->warps = 24;
    assert_int_equal(gpu_tuning_store(&other, path, &table, &error), STATUS_OK);
    gpu_tuning_load(&device, path, &again);
    assert_int_equal(again.stored, 0); /* another device's are not this one's */
    assert_int_equal(gpu_tuning_store(&device, path, &table, &error), STATUS_OK);
    gpu_tuning_load(&other, path, &again);
    assert_true(again.stored > 0); /* and stay beside them */
    gpu_tuning_load(&device, path, &again);
    assert_true(again.stored > 0);
    row = gpu_tuning_find(&again, "blocked", PRECISION_MIXED);
    assert_int_equal(row->block, 64);
    assert_int_equal(row->tile, 1024);
    assert_int_equal(row->bodies, 2);
    assert_int_equal(row->warps, 24);
    assert_true(before.block != 64 || before.tile != 1024);
}

/* Launches that no kernel was built for, and files that are none. */
static void test_nonsense_is_not_believed(void **state)
{
    (void)state;
    const char *const texts[] = {
        "",
        "[1, 2",
        "\"text\"",
        "{\"a device sm_90\": 3}",
        "{\"a device sm_90\": [{\"kernel\": \"blocked\", \"precision\": \"single\", \"block\": 33, "
        "\"tile\": 256, \"bodies\": 4, \"warps\": 16}]}",
        "{\"a device sm_90\": [{\"kernel\": \"blocked\", \"precision\": \"single\", \"block\": "
        "128, "
        "\"tile\": 4096, \"bodies\": 4, \"warps\": 16}]}",
        "{\"a device sm_90\": [{\"kernel\": \"blocked\", \"precision\": \"single\", \"block\": "
        "128, "
        "\"tile\": 256, \"bodies\": 3, \"warps\": 16}]}",
        "{\"a device sm_90\": [{\"kernel\": \"quick\", \"precision\": \"single\", \"block\": 128, "
        "\"tile\": 256, \"bodies\": 4, \"warps\": 16}]}"
    };
    struct gpu_tuning_table defaults, table;
    gpu_tuning_load(&device, path, &defaults);
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        write_file(texts[k]);
        gpu_tuning_load(&device, path, &table);
        assert_int_equal(table.stored, 0);
        assert_memory_equal(gpu_tuning_find(&table, "blocked", PRECISION_SINGLE),
                            gpu_tuning_find(&defaults, "blocked", PRECISION_SINGLE),
                            sizeof(struct gpu_tuning_row));
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

/* 132 multiprocessors that want 16 warps each: 2112. */
static void test_launches_fill_the_device(void **state)
{
    (void)state;
    const struct gpu_tuning_row row = { "blocked", PRECISION_SINGLE, 128, 512, 4, 16 };
    /* 8192 warps of one body a thread are 2048 of four: not quite enough. */
    struct gpu_tuning tuning = gpu_tuning_fit(&row, &device, 1, 262144, 32);
    assert_int_equal(tuning.bodies, 4);
    assert_int_equal(tuning.split, 2);
    /* Twice as many are enough. */
    tuning = gpu_tuning_fit(&row, &device, 1, 524288, 16);
    assert_int_equal(tuning.split, 1);
    /* 512 warps, 128 of four bodies: 2112 / 128 = 16.5 parts. */
    tuning = gpu_tuning_fit(&row, &device, 1, 16384, 32);
    assert_int_equal(tuning.bodies, 4);
    assert_int_equal(tuning.split, 17);
    /* 32 warps of one body a thread, in 32 parts: 1024, the most that can be had. */
    tuning = gpu_tuning_fit(&row, &device, 1, 1024, 32);
    assert_int_equal(tuning.bodies, 1);
    assert_int_equal(tuning.split, 32);
    /* An ensemble fills it as one system of all bodies does. */
    tuning = gpu_tuning_fit(&row, &device, 64, 8192, 32);
    assert_int_equal(tuning.bodies, 4);
    assert_int_equal(tuning.split, 1);
    tuning = gpu_tuning_fit(&row, &device, 1, 1, 1);
    assert_int_equal(tuning.split, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_stored_is_found_again, remove_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_nonsense_is_not_believed, remove_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_cache_that_cannot_be_written, remove_file,
                                        remove_file),
        cmocka_unit_test(test_launches_fill_the_device),
    };
    return cmocka_run_group_tests_name("GPU tuning", tests, NULL, NULL);
}
