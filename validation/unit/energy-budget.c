/* The energy budget: accounts of intervals whose energies are given by hand. */
#include "unit.h"

#include <math.h>

#include "accuracy/energy-budget.h"
#include "observe.h"

enum { ENERGY_CHANGE, TRUNCATION, ENCOUNTERS, FORCE, ROUNDING, REST, COLUMNS };

struct trial {
    struct scene scene;
    struct config *config;
    struct diagnostic *budget;
    double row[COLUMNS];
};

static enum status keep(void *context, size_t system, const double *values, struct error *error)
{
    (void)system;
    (void)error;
    memcpy(((struct trial *)context)->row, values, COLUMNS * sizeof *values);
    return STATUS_OK;
}

/* The pair turns by 0.125 / tau in a step of 0.125, tau^2 = distance^3 / 2; its energy is given. */
static void place(struct trial *trial, double distance, double energy)
{
    scene_body(&trial->scene, 0, 1, 1.0, (const double[]){ distance, 0, 0 },
               (const double[]){ 0, 0.5, 0 });
    trial->scene.conserved[0].potential = energy;
}

static void look(struct trial *trial, uint64_t step)
{
    struct error error = { 0 };
    const struct row_sink sink = { keep, trial };
    struct moment now = *scene_moment(&trial->scene, step, 0.125, false);
    now.conserved = trial->scene.conserved;
    assert_int_equal(diagnostic_measure(trial->budget, &now, &sink, &error), STATUS_OK);
}

/* E0 = -2. */
static struct trial trial_start(bool exact)
{
    static struct group groups[] = { { .name = "" }, { .name = "energy_budget" } };
    static const struct schema schema = { groups, COUNT_OF(groups) };
    groups[1].parameters = energy_budget_parameters;
    groups[1].parameter_count = energy_budget_parameter_count;
    struct trial trial = { .scene = scene_create(1, 2, 1.0, 0.0),
                           .config = config_from(&schema, "energy_budget = { every = 10; };") };
    struct error error = { 0 };
    scene_body(&trial.scene, 0, 0, 1.0, (const double[]){ 0, 0, 0 }, (const double[]){ 0, 0, 0 });
    place(&trial, 2.0, -2.0);
    const struct moment start = { .physics = &trial.scene.physics,
                                  .bodies = trial.scene.bodies,
                                  .first = trial.scene.conserved };
    assert_int_equal(energy_budget_create(config_section(trial.config, "energy_budget"), &start,
                                          integrator_find("velocity-verlet"), exact, &trial.budget,
                                          &error),
                     STATUS_OK);
    look(&trial, 0);
    return trial;
}

static void trial_end(struct trial *trial)
{
    diagnostic_destroy(trial->budget);
    scene_destroy(&trial->scene);
    config_free(trial->config);
}

static void test_each_part_has_its_account(void **state)
{
    (void)state;
    struct trial trial = trial_start(false);
    /* Order 2: an error of 0.4 with the step is one of 0.1 with half of it; the forces add 0.02. */
    /* The run's energies, unlike those of replays, are 0.3 too large all the time. */
    energy_budget_replayed(trial.budget, 0, REPLAY_START, -2.3);
    energy_budget_replayed(trial.budget, 0, REPLAY_EXACT_FORCE, -1.9);
    energy_budget_replayed(trial.budget, 0, REPLAY_HALF_STEP, -2.2);
    place(&trial, 2.0, -1.58);
    look(&trial, 10);
    assert_close(trial.row[ENERGY_CHANGE], 0.21, 1e-12);
    assert_close(trial.row[TRUNCATION], 0.2, 1e-12);
    assert_close(trial.row[FORCE], 0.01, 1e-12);
    assert_close(trial.row[REST], 0.0, 1e-12);
    assert_true(trial.row[ROUNDING] > 1e-18 && trial.row[ROUNDING] < 1e-15);
    place(&trial, 2.0, 77.0);
    look(&trial, 15); /* within an interval nothing is booked */
    assert_close(trial.row[ENERGY_CHANGE], 0.21, 1e-12);
    trial_end(&trial);
}

static void test_an_encounter_within_the_interval_is_seen(void **state)
{
    (void)state;
    struct trial trial = trial_start(true);
    struct error error = { 0 };
    char text[ENERGY_BUDGET_TEXT_SIZE];
    place(&trial, 0.25, -2.0); /* in the replay: 0.125 / sqrt(1 / 128) = 1.4 rad in a step */
    struct moment near = *scene_moment(&trial.scene, 0, 0.125, false);
    assert_int_equal(energy_budget_sample(trial.budget, &near, 0, &error), STATUS_OK);
    energy_budget_replayed(trial.budget, 0, REPLAY_HALF_STEP, 33.0); /* as wrong as can be */
    place(&trial, 2.0, -1.0);
    look(&trial, 10);
    assert_close(trial.row[ENCOUNTERS], 0.5, 1e-12);
    assert_close(trial.row[TRUNCATION], 0.0, 0.0);
    assert_non_null(strstr(energy_budget_text(trial.budget, text), "(most of bodies 1 and 2)"));
    assert_null(strstr(text, "NOT EXPLAINED"));
    /* The next interval is a quiet one again. */
    energy_budget_replayed(trial.budget, 0, REPLAY_HALF_STEP, -1.075);
    place(&trial, 2.0, -0.9);
    look(&trial, 20);
    assert_close(trial.row[ENCOUNTERS], 0.5, 1e-12);
    assert_close(trial.row[TRUNCATION], 4.0 / 3.0 * 0.175 / 2.0, 1e-12);
    /* A smaller encounter of others is not the worst. */
    trial.scene.bodies->id[0] = 7;
    place(&trial, 0.25, -0.9);
    near = *scene_moment(&trial.scene, 20, 0.125, false);
    assert_int_equal(energy_budget_sample(trial.budget, &near, 0, &error), STATUS_OK);
    place(&trial, 2.0, -0.8);
    look(&trial, 30);
    assert_close(trial.row[ENCOUNTERS], 0.55, 1e-12);
    assert_non_null(strstr(energy_budget_text(trial.budget, text), "(most of bodies 1 and 2)"));
    trial_end(&trial);
}

static void test_what_does_not_add_up_is_told(void **state)
{
    (void)state;
    struct trial trial = trial_start(true);
    char text[ENERGY_BUDGET_TEXT_SIZE];
    energy_budget_replayed(trial.budget, 0, REPLAY_HALF_STEP, -1.4);
    place(&trial, 2.0, -1.4); /* the error is there, and the step does not matter */
    look(&trial, 10);
    assert_non_null(strstr(energy_budget_text(trial.budget, text), "NOT EXPLAINED: 0.3"));
    json_t *json = energy_budget_json(trial.budget);
    assert_true(json_is_false(json_object_get(json, "adds_up")));
    json_decref(json);
    /* An end near E0 by chance is no merit: the largest error is told. */
    energy_budget_replayed(trial.budget, 0, REPLAY_HALF_STEP, -2.0);
    place(&trial, 2.0, -2.0);
    look(&trial, 20);
    assert_non_null(strstr(energy_budget_text(trial.budget, text),
                           "of 0.3, the largest of its rows "
                           "(every 10 steps): step"));
    trial_end(&trial);
}

static void test_a_lost_replay_explains_nothing(void **state)
{
    (void)state;
    struct trial trial = trial_start(true);
    char text[ENERGY_BUDGET_TEXT_SIZE];
    energy_budget_replayed(trial.budget, 0, REPLAY_HALF_STEP, NAN);
    place(&trial, 2.0, -1.4);
    look(&trial, 10);
    assert_non_null(strstr(energy_budget_text(trial.budget, text), "NOT EXPLAINED"));
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_part_has_its_account),
        cmocka_unit_test(test_an_encounter_within_the_interval_is_seen),
        cmocka_unit_test(test_what_does_not_add_up_is_told),
        cmocka_unit_test(test_a_lost_replay_explains_nothing),
    };
    return cmocka_run_group_tests_name("energy-budget", tests, NULL, NULL);
}
