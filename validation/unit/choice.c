/* The choice of a setting: pilots that may do no more work are not taken for judgements. */
#include "commands/display.h"
#include "unit.h"

#include <string.h>

#include "base/text.h"
#include "estimate/choice.h"
#include "estimate/pilot.h"
#include "run/schema.h"

static const char forty[] = "\"plummer\"; count = 40";

static struct config *load_asking(const char *bodies, double softening, const char *asked,
                                  const char *more)
{
    static struct error error;
    struct config *config;
    FILE *file = fopen("choice.cfg", "w");
    assert_non_null(file);
    fprintf(file,
            "bodies = { initial = %s; seed = 3; };\n"
            "physics = { softening = %g; };\n"
            "time = { %s end = 4.0; };\n"
            "trust = { shadow = true; };\n"
            "%s",
            bodies, softening, asked, more);
    fclose(file);
    error_clear(&error);
    if (schema_load("choice.cfg", NULL, 0, &config, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    remove("choice.cfg");
    return config;
}

static struct config *load(const char *bodies, double softening)
{
    return load_asking(bodies, softening, "energy_error = 1e-4;", "");
}

static void test_nothing_is_said_of_what_was_not_tried(void **state)
{
    (void)state;
    struct config *config = load(forty, 0.05);
    const struct choice_limits limits = { 1.0, 0.0 };
    struct error error = { 0 };
    struct choice choice;
    assert_int_equal(choice_make(config, &limits, NULL, &choice, &error), STATUS_CONFIG);
    for (size_t k = 0; k < choice.count; k++)
        assert_false(choice.candidates[k].tried);
    assert_non_null(strstr(error.text, "was not tried, for its pilots would take too long"));
    assert_non_null(strstr(error.text, "give time.integrator and time.step"));
    assert_null(strstr(error.text, "loses"));
    assert_null(strstr(error.text, "reaches"));
    choice_destroy(&choice);
    config_free(config);
}

/* Work for pilots of the methods of fixed steps alone: these are the first. */
static void test_the_table_tells_what_was_not_tried(void **state)
{
    (void)state;
    struct config *config = load(forty, 0.05);
    const struct choice_limits limits = { 3e4, 0.0 };
    struct error error = { 0 };
    struct choice choice;
    struct text table = { 0 };
    assert_int_equal(choice_make(config, &limits, NULL, &choice, &error), STATUS_OK);
    assert_true(choice.candidates[choice.chosen].tried);
    size_t untried = 0, told = 0;
    for (size_t k = 0; k < choice.count; k++)
        untried += !choice.candidates[k].tried;
    choice_report_table(&choice, "", &table);
    for (const char *at = table.bytes; (at = strstr(at, "not tried\n")); at++)
        told++;
    assert_true(untried > 0);
    assert_int_equal(told, untried);
    assert_null(strstr(table.bytes, "misses it"));
    text_free(&table);
    choice_destroy(&choice);
    config_free(config);
}

/* Orbits: what was not tried, and what was and does not suffice, of the one integrator that is
 * given. Euler's method is 1e5 steps and more from that in a cluster. */
static void test_orbits_that_nothing_keeps(void **state)
{
    (void)state;
    static const struct {
        double work;
        const char *said;
    } cases[] = {
        { 1.0, "nothing can be chosen for it: euler was not tried" },
        { 1e7, "no setting that was tried keeps the orbits within trust.tolerance = 0.01: euler, "
               "step " },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct config *config =
            load_asking(forty, 0.01, "trust_until = 4.0; integrator = \"euler\";", "");
        const struct choice_limits limits = { cases[k].work, 0.0 };
        struct error error = { 0 };
        struct choice choice;
        assert_int_equal(choice_make(config, &limits, NULL, &choice, &error), STATUS_CONFIG);
        assert_non_null(strstr(error.text, "time.trust_until = 4.0: "));
        if (!strstr(error.text, cases[k].said))
            fail_msg("%s", error.text);
        choice_destroy(&choice);
        config_free(config);
    }
}

/* Returns the pilot of the whole run that `config` asks for, by an integrator with a number of
 * steps and with at most `work`. */
static struct pilot pilot_of(const struct config *config, const char *integrator, double steps,
                             double work)
{
    const struct setting setting = setting_of(config, integrator_find(integrator), steps);
    const struct pilot_limits limits = { .work = work, .error = INFINITY, .part = 1.0 };
    struct config *applied = NULL;
    struct experiment x = { 0 };
    struct error error = { 0 };
    struct pilot pilot;
    assert_int_equal(setting_apply(config, &setting, &applied, &error), STATUS_OK);
    assert_int_equal(experiment_create(applied, NULL, &x, &error), STATUS_OK);
    assert_int_equal(pilot_run(&x, config, &setting, &limits, &pilot, &error), STATUS_OK);
    experiment_destroy(&x);
    config_free(applied);
    return pilot;
}

/* Shadows take four times the work of the motion, also before they are compared for the first time,
 * which this pilot does not come to. */
static void test_a_pilot_counts_its_shadows(void **state)
{
    (void)state;
    static const double limit = 1e7;
    struct config *config =
        load_asking(forty, 0.01, "trust_until = 4.0; integrator = \"euler\";", "");
    const struct pilot pilot = pilot_of(config, "euler", 1e7, limit);
    assert_true(pilot.part == 0.0); /* nothing was compared */
    assert_true(pilot.spent >= 4.0 * pilot.work);
    /* The calls double, and the last may be as long as all before it. */
    assert_true(pilot.spent > limit && pilot.spent < 2.1 * limit);
    config_free(config);
}

/* Two bodies that nearly touch may want more steps than an integer can count. */
static void test_a_setting_of_no_end_of_steps(void **state)
{
    (void)state;
    struct config *config = load(forty, 0.05);
    const struct setting most = setting_of(config, integrator_find("velocity-verlet"), INFINITY);
    assert_true(most.refinement == 1e18 && most.step == 4.0 / 1e18);
    /* No fewer steps than by 25 times the default eta, 0.02: then the grid sets the step. */
    const struct setting least = setting_of(config, integrator_find("hermite4"), 1e-6);
    assert_true(least.key > 0.4 && least.key <= 0.5);
    config_free(config);
}

/* A pilot of 16000 fixed steps measures 1000 energies, which cost 1.5 forces each, and some more
 * for the watch. */
static void test_the_rows_of_a_pilot(void **state)
{
    (void)state;
    struct config *config =
        load_asking(forty, 0.05, "energy_error = 1e-4;",
                    "diagnostics = ( { type = \"conservation\"; every = 1; } );\n");
    const struct pilot pilot = pilot_of(config, "velocity-verlet", 16000.0, 1e12);
    const double rows = (pilot.spent / pilot.work - 1) * 16000 / 1.5;
    assert_true(pilot.part == 1 && rows >= 1000 && rows < 1500);
    config_free(config);
}

/* A tenth of the run's work, where no other work is allowed, is enough to choose; and no more is
 * done but for what one pilot goes beyond its limit in a step. */
static void test_a_tenth_of_the_run_is_enough(void **state)
{
    (void)state;
    struct config *config = load(forty, 0.05);
    const struct choice_limits limits = { 0.0, 0.1 };
    struct error error = { 0 };
    struct choice choice;
    assert_int_equal(choice_make(config, &limits, NULL, &choice, &error), STATUS_OK);
    assert_true(choice.candidates[choice.chosen].tried);
    assert_true(choice.pilots < 0.2 * choice.candidates[choice.chosen].cost);
    choice_destroy(&choice);
    config_free(config);
}

/* The one that is tried first: fixed steps where softening is longer than R / N, here 1/40, or 8/40
 * in a collapse. */
static void test_what_is_tried_first(void **state)
{
    (void)state;
    static const struct {
        const char *bodies;
        double softening;
        const char *first; /* NULL: one of fixed steps */
    } cases[] = {
        { forty, 0.05, NULL },
        { forty, 0.01, "hermite4" },
        { "\"plummer\"; count = 8", 0.05, "gauss-radau" },
        { "\"cold-sphere\"; count = 40", 0.05, "hermite4" },
        { "\"cold-sphere\"; count = 40", 0.3, NULL },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct config *config = load(cases[k].bodies, cases[k].softening);
        const struct choice_limits limits = { 1.0, 0.0 };
        struct error error = { 0 };
        struct choice choice;
        choice_make(config, &limits, NULL, &choice, &error);
        const struct integrator *const first = choice.candidates[0].setting.integrator;
        for (size_t c = 0; c < choice.count; c++) /* whose steps mean nothing without softening */
            assert_false(choice.candidates[c].setting.integrator->by_softening);
        if (cases[k].first)
            assert_string_equal(first->variant.name, cases[k].first);
        else
            assert_false(integrator_chooses_steps(first));
        choice_destroy(&choice);
        config_free(config);
    }
}

/* The method of fixed steps whose passage is the cheapest by its table is tried, and none that is
 * dearer by more than 1.3; the energy of all bodies is kept 5 times better than that of a pair. No
 * candidate has steps by the softening alone. */
static void test_the_cheapest_methods_are_candidates(void **state)
{
    (void)state;
    static const char *const asked[] = { "energy_error = 1e-2;", "energy_error = 1e-4;",
                                         "energy_error = 1e-6;", "energy_error = 1e-9;" };
    for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++) {
        struct config *config = load_asking(forty, 0.05, asked[k], "");
        const struct choice_limits limits = { 1.0, 0.0 };
        struct error error = { 0 };
        struct choice choice;
        choice_make(config, &limits, NULL, &choice, &error);
        const double pair = 5.0 * choice_usual_error(&choice.target);
        double least = INFINITY, listed = INFINITY, dearest = 0;
        const struct integrator *row;
        for (size_t i = 0; (row = integrator_at(i)); i++) {
            if (!integrator_has_stages(row) || !row->symplectic || !row->reversible)
                continue;
            const double cost =
                integrator_steps_for(row, pair) * (double)integrator_forces_per_step(row);
            least = fmin(least, cost);
            for (size_t c = 0; c < choice.count; c++)
                if (choice.candidates[c].setting.integrator == row) {
                    listed = fmin(listed, cost);
                    dearest = fmax(dearest, cost);
                }
        }
        assert_true(listed == least && dearest <= 1.3 * least);
        for (size_t c = 0; c < choice.count; c++)
            assert_false(choice.candidates[c].setting.integrator->by_softening);
        choice_destroy(&choice);
        config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_said_of_what_was_not_tried),
        cmocka_unit_test(test_the_table_tells_what_was_not_tried),
        cmocka_unit_test(test_orbits_that_nothing_keeps),
        cmocka_unit_test(test_a_pilot_counts_its_shadows),
        cmocka_unit_test(test_a_setting_of_no_end_of_steps),
        cmocka_unit_test(test_the_rows_of_a_pilot),
        cmocka_unit_test(test_a_tenth_of_the_run_is_enough),
        cmocka_unit_test(test_what_is_tried_first),
        cmocka_unit_test(test_the_cheapest_methods_are_candidates),
    };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
