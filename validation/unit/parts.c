/* The parts of a run that stand alone: its clocks, when it saves, its members, what it continues.
 */
#include "unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "run/parts.h"
#include "run/schema.h"

static void test_clocks(void **state)
{
    (void)state;
    struct clocks clocks;
    clocks_start(&clocks);
    clocks.started -= 100.0; /* begun so long ago */
    clocks.cpu_started -= 40.0;
    assert_true(clocks_wall(&clocks) >= 100.0 && clocks_cpu(&clocks) >= 40.0);
    clocks_stop(&clocks);
    const double wall = clocks_wall(&clocks), cpu = clocks_cpu(&clocks);
    clocks.started -= 1.0;
    assert_close(clocks_wall(&clocks), wall + 1.0, 1e-6); /* the end stays */
    assert_close(clocks_cpu(&clocks), cpu, 0.0);
    assert_int_equal(strlen(clocks.stamp), strlen("2026-11-21T04:00:47Z"));
}

/* The group `checkpoint` with this in it; free the config. */
static const struct section *read_checkpoint(const char *group, struct config **config)
{
    char path[] = "/tmp/orrery-parts-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file, "bodies = { initial = \"pythagorean\"; };\ntime = { step = 0.1; end = 1.0; };\n");
    fprintf(file, "checkpoint = { %s };\n", group);
    assert_int_equal(fclose(file), 0);
    struct error error = { 0 };
    if (schema_load(path, NULL, 0, config, &error))
        fail_msg("%s: %s", group, error.text);
    unlink(path);
    return config_section(*config, "checkpoint");
}

static void test_saving_by_the_clock(void **state)
{
    (void)state;
    struct config *config;
    const struct section *section = read_checkpoint("every_minutes = 2.5;", &config);
    struct autosave autosave = { .last = 1000.0 };
    assert_false(autosave_due(&autosave, section, 1149.0));
    assert_true(autosave_due(&autosave, section, 1151.0));
    assert_close(autosave.last, 1151.0, 0.0);
    assert_false(autosave_due(&autosave, section, 1152.0));
    autosave.wanted = true; /* the clock begins anew with it */
    assert_true(autosave_due(&autosave, section, 1200.0));
    assert_false(autosave.wanted);
    assert_false(autosave_due(&autosave, section, 1349.0));
    config_free(config);
}

static void test_what_was_saved(void **state)
{
    (void)state;
    struct schedule schedule = { .step = 12 };
    struct autosave autosave = { 0 };
    assert_false(autosave_is_current(&autosave, &schedule));
    autosave_note(&autosave, &schedule, 0.75);
    autosave_note(&autosave, &schedule, 0.5);
    assert_close(autosave.longest, 0.75, 0.0);
    assert_true(autosave_is_current(&autosave, &schedule));
    schedule.events_done = true; /* rows that the checkpoint has not counted */
    assert_false(autosave_is_current(&autosave, &schedule));
    autosave_note(&autosave, &schedule, 0.5);
    schedule_advance(&schedule, 3);
    assert_int_equal(schedule.step, 15);
    assert_false(schedule.events_done || autosave_is_current(&autosave, &schedule));
}

/* Energies of E0 = -2 and what they are now; the errors are halves of the changes. */
static void test_members(void **state)
{
    (void)state;
    enum { SYSTEMS = 4 };
    struct ensemble ensemble;
    struct conserved now[SYSTEMS] = { 0 }, first[SYSTEMS] = { 0 };
    struct error error = { 0 };
    struct bodies bodies = { .systems = SYSTEMS };
    struct simulation simulation = { .bodies = &bodies, .now = now, .first = first };
    assert_int_equal(ensemble_create(&simulation, 0.1, &ensemble, &error), STATUS_OK);
    for (size_t s = 0; s < SYSTEMS; s++)
        now[s] = (struct conserved){ .internal = 1.0, .potential = -3.0 };
    now[3] = (struct conserved){ 0 }; /* E0 = U0 = 0: its error is undefined */
    memcpy(first, now, sizeof first);
    ensemble_judge(&ensemble);
    assert_int_equal(ensemble_worst(&ensemble), 3);
    assert_true(isnan(simulation_energy_error(&simulation, 3)) && ensemble.left_out[3]);
    now[1].internal = 1.5;
    now[2].potential = -3.25;
    ensemble_judge(&ensemble);
    assert_close(simulation_energy_error(&simulation, 1), 0.5 / 3.0, 0.0);
    assert_close(simulation_energy_error(&simulation, 2), -0.25 / 3.0, 0.0);
    assert_true(!ensemble.left_out[0] && ensemble.left_out[1] && !ensemble.left_out[2]);
    now[1].internal = 1.0; /* back, but it was beyond the limit */
    ensemble_judge(&ensemble);
    assert_close(ensemble.largest_error[1], 0.5 / 3.0, 0.0);
    assert_true(ensemble.left_out[1]);
    now[2].potential = NAN; /* once undefined, the largest error stays so */
    ensemble_judge(&ensemble);
    now[2].potential = -3.0;
    ensemble_judge(&ensemble);
    assert_true(isnan(ensemble.largest_error[2]) && ensemble.left_out[2]);
    assert_true(isnan(ensemble_largest_error(&ensemble)));
    ensemble_destroy(&ensemble);
    memset(now, 0, sizeof now);
    memset(first, 0, sizeof first);
    assert_int_equal(ensemble_create(&simulation, INFINITY, &ensemble, &error), STATUS_OK);
    ensemble_judge(&ensemble); /* without a limit none is left out, whatever its error */
    assert_true(isnan(ensemble.largest_error[0]) && !ensemble.left_out[0]);
    ensemble_destroy(&ensemble);
}

static void test_files_of_the_run_that_is_continued(void **state)
{
    (void)state;
    struct continuation continuation = { .before = json_pack("{s:[s, s]}", "files", "run.json",
                                                             "failure.xyz") };
    assert_true(continuation_owns(&continuation, "failure.xyz"));
    assert_false(continuation_owns(&continuation, "failure"));
    continuation_destroy(&continuation);
    continuation = (struct continuation){ 0 }; /* one that begins */
    assert_false(continuation_owns(&continuation, "run.json"));
    continuation_destroy(&continuation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_saving_by_the_clock),
        cmocka_unit_test(test_what_was_saved),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_files_of_the_run_that_is_continued),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
