#include "unit.h"

#include <math.h>
#include <string.h>

#include "accuracy/watch.h"
#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "estimate/need.h"
#include "machine/room.h"
#include "run/schema.h"

static struct config *load(const char *bodies, const char *const *overrides, size_t count)
{
    static struct error error;
    struct config *config;
    FILE *file = fopen("need.cfg", "w");
    assert_non_null(file);
    fprintf(file,
            "bodies = { initial = \"uniform-cube\";\n  count = %s; };\n"
            "physics = { softening = 0.1; };\ntime = { step = 0.1; end = 1.0; };\n",
            bodies);
    fclose(file);
    error_clear(&error);
    if (schema_load("need.cfg", overrides, count, &config, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    remove("need.cfg");
    return config;
}

static void test_bodies_take_eleven_numbers_each(void **state)
{
    (void)state;
    struct config *config = load("1600", NULL, 0);
    struct error error = { 0 };
    struct memory_need need;
    assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
    assert_int_equal(need.count, 1600);
    assert_int_equal(need.systems, 1);
    assert_true(need.bodies == 1600.0 * 11 * 8); /* m, x, v, a and an id; 1600 is whole lines */
    assert_true(need.forces >= 1600.0 * 4 * 8);  /* masses and positions, packed */
    assert_true(need.outputs == 0.0);
    /* The state of the watch is there twice: before and after the events of a step. */
    assert_true(need.checkpoints == 2 * 8.0 * (double)(watch_system_reals() + 1));
    const double sum = need.bodies + need.forces + need.diagnostics + need.outputs +
                       need.checkpoints + need.program;
    assert_true(fabs(need_bytes(&need) - sum) < 1.0);
    config_free(config);
}

/* A run of 16,000 bodies with fast multipoles in their plain form had 11.8 MB more resident memory
 * than one of 4,000: 980 bytes a body, 88 of which are the bodies' own. */
static void test_the_plain_fast_multipoles(void **state)
{
    (void)state;
    const char *const overrides[] = { "compute.backend=serial", "compute.method=fmm",
                                      "compute.accuracy=1e-3" };
    struct config *config = load("100000", overrides, COUNT_OF(overrides));
    struct error error = { 0 };
    struct memory_need need;
    assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
    assert_true(need.forces > 892 * 1e5 && need.forces < 1.25 * 892 * 1e5);
    config_free(config);
}

/* Each output says itself what it borrows, and the largest counts, since they write in turns. */
static void test_outputs_say_what_they_borrow(void **state)
{
    (void)state;
    const double potentials = 2 * 1600.0 * 8, snapshot = 2.5 * (64 * 1600.0 + 16384),
                 points = 4.0 * (80 * 1600.0 + 32768), axes = 3 * 4 * 1600.0;
    const struct {
        const char *outputs;
        double bytes;
    } cases[] = {
        { "outputs=({type=\"xyz\";})", 0 },
        { "outputs=({type=\"xyz\"; columns=\"pos local_energy\";})", potentials },
        { "outputs=({type=\"gadget-hdf5\";})", snapshot },
        { "outputs=({type=\"vtkhdf\";})", points },
        { "outputs=({type=\"dcd\";})", axes },
        { "outputs=({type=\"gadget-hdf5\";}, {type=\"xyz\"; columns=\"local_energy\";})",
          snapshot },
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct config *config = load("1600", &cases[k].outputs, 1);
        struct error error = { 0 };
        struct memory_need need;
        assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
        assert_true(need.outputs == cases[k].bytes);
        config_free(config);
    }
    /* A snapshot of an ensemble says to which system a body belongs. */
    static const char *const ensemble[] = { "ensemble={systems=2;}",
                                            "outputs=({type=\"gadget-hdf5\";})" };
    struct config *config = load("1600", ensemble, COUNT_OF(ensemble));
    struct error error = { 0 };
    struct memory_need need;
    assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
    assert_true(need.outputs == 2.5 * (72 * 3200.0 + 16384));
    config_free(config);
}

static void test_runs_at_a_time_add_up(void **state)
{
    (void)state;
    struct config *config = load("1000000", NULL, 0);
    struct error error = { 0 };
    struct memory_need need;
    assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
    const struct room room = { 1.5 * need_bytes(&need), "the machine" };
    assert_int_equal(need_compare(config, &need, 1, &room, &error), STATUS_OK);
    assert_int_equal(need_compare(config, &need, 2, &room, &error), STATUS_MEMORY);
    assert_non_null(strstr(error.text, "need.cfg:2: bodies.count = 1000000: 2 runs at a time"));
    assert_non_null(strstr(error.text, "the machine has"));
    config_free(config);
}

static void test_the_key_that_is_too_large(void **state)
{
    (void)state;
    const char *const overrides[] = { "ensemble.systems=1000" };
    struct config *config = load("1000", overrides, 1);
    struct error error = { 0 };
    struct memory_need need;
    assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
    const struct room some = { 0.5 * need_bytes(&need), "the machine" }, none = { 1e3, "it" };
    assert_int_equal(need_compare(config, &need, 1, &some, &error), STATUS_MEMORY);
    assert_non_null(strstr(error.text, "ensemble.systems"));
    error_clear(&error);
    assert_int_equal(need_compare(config, &need, 1, &none, &error), STATUS_MEMORY);
    assert_non_null(strstr(error.text, "bodies.count"));
    config_free(config);
}

/* Tests diagnostics that keep as many histograms as there are threads, and ensembles that keep an
 * event until its statistics are made. */
static void test_tables_take_memory_by_their_rows(void **state)
{
    (void)state;
    static const char pairs[] = "diagnostics=({type=\"radial-distribution\";bins=50000;})";
    struct error error = { 0 };
    double diagnostics[3];
    for (size_t k = 0; k < 3; k++) {
        const char *const overrides[] = { pairs, k == 1 ? "compute.threads=9" : "compute.threads=1",
                                          k == 2 ? "ensemble.systems=7" : "ensemble.systems=1" };
        struct config *config = load("10", overrides, 3);
        struct memory_need need;
        assert_int_equal(need_of_run(config, &need, &error), STATUS_OK);
        diagnostics[k] = need.diagnostics;
        config_free(config);
    }
    /* Eight threads more, each with four histograms; and of 7 systems 13 columns, of one none. */
    assert_true(diagnostics[1] - diagnostics[0] >= 8 * 4 * 50000 * 8.0);
    assert_true(diagnostics[2] - diagnostics[0] >= 7 * 13 * 50000 * 8.0);
}

/* Diagnostics that a group asks for keep a state as well, once and in two copies. */
static void test_groups_take_memory(void **state)
{
    (void)state;
    struct error error = { 0 };
    struct memory_need need[2];
    for (size_t k = 0; k < 2; k++) {
        const char *const overrides[] = { "ensemble.systems=1000",
                                          k ? "trust.shadow=true" : "trust.shadow=false" };
        struct config *config = load("10", overrides, 2);
        assert_int_equal(need_of_run(config, &need[k], &error), STATUS_OK);
        config_free(config);
    }
    size_t trust = 0;
    while (strcmp(diagnostic_measured(trust)->variant.name, "trust") != 0)
        trust++;
    const double state_bytes = 1000.0 * (double)diagnostic_measured(trust)->state_reals * 8.0;
    assert_true(state_bytes > 1e6);
    assert_true(need[1].diagnostics - need[0].diagnostics >= state_bytes);
    assert_close(need[1].checkpoints - need[0].checkpoints, 2.0 * state_bytes, 1.0);
}

static void test_sizes_are_told_in_three_digits(void **state)
{
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = { { 0, "0 B" },        { 999, "999 B" },     { 999.6, "1 kB" },
                  { 5012, "5.01 kB" }, { 999499, "999 kB" }, { 999500, "1 MB" },
                  { 2.5e9, "2.5 GB" }, { 7e18, "7 EB" },     { 7e21, "7e+03 EB" } };
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        char buffer[NEED_TEXT_SIZE];
        assert_string_equal(need_text(sizes[k].bytes, buffer), sizes[k].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_take_eleven_numbers_each),
        cmocka_unit_test(test_the_plain_fast_multipoles),
        cmocka_unit_test(test_outputs_say_what_they_borrow),
        cmocka_unit_test(test_runs_at_a_time_add_up),
        cmocka_unit_test(test_the_key_that_is_too_large),
        cmocka_unit_test(test_tables_take_memory_by_their_rows),
        cmocka_unit_test(test_groups_take_memory),
        cmocka_unit_test(test_sizes_are_told_in_three_digits),
    };
    return cmocka_run_group_tests_name("need", tests, NULL, NULL);
}
