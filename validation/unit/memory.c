#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "base/status.h"

static void test_arrays_are_aligned_and_zero(void **state)
{
    (void)state;
    const size_t counts[] = { 0, 1, 7, 8, 9, 63, 64, 65, 1000, 300000 };
    for (int round = 0; round < 3; round++) /* what was given back dirty comes again */
        for (size_t k = 0; k < COUNT_OF(counts); k++) {
            static struct error error;
            double *array = memory_array(counts[k], sizeof *array, &error);
            assert_non_null(array);
            assert_int_equal((uintptr_t)array % MEMORY_ALIGNMENT, 0);
            for (size_t i = 0; i < counts[k]; i++)
                assert_true(array[i] == 0);
            memset(array, 0xff, counts[k] * sizeof *array);
            memory_free(array);
        }
    memory_free(NULL);
}

static void test_large_arrays_are_staggered(void **state)
{
    (void)state;
    enum { ARRAYS = 9, PLACES = 4096 / MEMORY_ALIGNMENT };
    static struct error error;
    void *array[ARRAYS];
    int begin[PLACES] = { 0 }, used = 0;
    for (int k = 0; k < ARRAYS; k++) {
        array[k] = memory_array(1 << 20, 1, &error);
        assert_non_null(array[k]);
        used += begin[(uintptr_t)array[k] / MEMORY_ALIGNMENT % PLACES]++ == 0;
    }
    for (int k = 0; k < ARRAYS; k++)
        memory_free(array[k]);
    assert_true(used > ARRAYS / 2);
}

static void test_what_cannot_be_had_is_an_error(void **state)
{
    (void)state;
    /* The last one, times 8, overflows to 8 bytes, which could be had. */
    const size_t counts[] = { SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 8 - 7, SIZE_MAX / 8 + 2 };
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        struct error error = { 0 };
        assert_null(memory_array(counts[k], 8, &error));
        assert_int_equal(error.status, STATUS_MEMORY);
        assert_non_null(strstr(error.text, "out of memory"));
    }
}

/* Tests that a product that overflows becomes a size that nothing has. */
static void test_bytes_do_not_overflow(void **state)
{
    (void)state;
    assert_true(memory_bytes(3, 8) == 24 && memory_bytes(0, 8) == 0);
    assert_true(memory_bytes(SIZE_MAX / 8 + 1, 8) == SIZE_MAX);
    assert_true(memory_bytes(memory_bytes(SIZE_MAX / 2, 3), 8) == SIZE_MAX);
}

/* Whatever was tried: without memory the exit status is that of memory. */
static void test_no_memory_is_its_own_status(void **state)
{
    (void)state;
    struct error error = { 0 };
    assert_int_equal(error_system(&error, STATUS_IO, ENOMEM, "a.csv"), STATUS_MEMORY);
    error = (struct error){ 0 };
    assert_int_equal(error_system(&error, STATUS_IO, ENOSPC, "a.csv"), STATUS_IO);
    assert_string_equal(error.text, "a.csv: No space left on device");
    error = (struct error){ 0 };
    assert_int_equal(error_file(&error, STATUS_IO, ENOMEM, "a.run", "run.json"), STATUS_MEMORY);
    assert_string_equal(error.text, "a.run/run.json: out of memory");
    error = (struct error){ 0 };
    assert_int_equal(error_memory(&error), STATUS_MEMORY);
    assert_string_equal(error.text, "out of memory");
}

/* Shares follow one another, differ by one at most, and do not overflow. */
static void test_shares_are_even(void **state)
{
    (void)state;
    const size_t totals[] = { 0, 1, 5, 16, 1000003, SIZE_MAX, SIZE_MAX - 5 };
    for (size_t t = 0; t < COUNT_OF(totals); t++)
        for (size_t parts = 1; parts < 20; parts++) {
            size_t least = SIZE_MAX, most = 0;
            assert_true(share_start(totals[t], parts, 0) == 0);
            assert_true(share_start(totals[t], parts, parts) == totals[t]);
            for (size_t k = 0; k < parts; k++) {
                const size_t share =
                    share_start(totals[t], parts, k + 1) - share_start(totals[t], parts, k);
                least = share < least ? share : least;
                most = share > most ? share : most;
            }
            assert_true(most - least <= 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_do_not_overflow),
        cmocka_unit_test(test_arrays_are_aligned_and_zero),
        cmocka_unit_test(test_large_arrays_are_staggered),
        cmocka_unit_test(test_what_cannot_be_had_is_an_error),
        cmocka_unit_test(test_no_memory_is_its_own_status),
        cmocka_unit_test(test_shares_are_even),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
