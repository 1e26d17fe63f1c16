/* The accuracy watch: what it says, when, of whom, and what it makes of a run. */
#include "unit.h"

#include <string.h>

#include "accuracy/watch-table.h"
#include "accuracy/watch.h"
#include "diagnostics/force-error.h"
#include "force/direct/reference.h"
#include "observe.h"

static const double G = 1.75, EPS = 0.3;

/* The lines that the watch has told. */
struct told {
    size_t count;
    char last[1024];
};

static void tell(void *context, const char *line)
{
    struct told *told = context;
    told->count++;
    snprintf(told->last, sizeof told->last, "%s", line);
}

static struct config *watch_config(const char *text)
{
    static struct group groups[] = { { .name = "" }, { .name = "watch" } };
    static const struct schema schema = { groups, COUNT_OF(groups) };
    groups[1].parameters = watch_parameters;
    groups[1].parameter_count = watch_parameter_count;
    char whole[256];
    snprintf(whole, sizeof whole, "watch = { %s };", text);
    return config_from(&schema, whole);
}

/* Two systems of three bodies on a line, 2 apart, of masses 1, with ids 70 to 72, and 80 to 82. */
static struct scene line_scene(void)
{
    struct scene scene = scene_create(2, 3, G, EPS);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 3; i++) {
            scene_body(&scene, s, i, 1.0, (const double[]){ 2.0 * (double)i, 0, 0 },
                       (const double[]){ 0, 0.5, 0 });
            scene.bodies->id[s * scene.bodies->stride + i] = (int64_t)(70 + 10 * s + i);
        }
    return scene;
}

struct trial {
    struct scene scene;
    struct config *config;
    struct watch *watch;
    struct told told;
    struct error error;
};

static struct trial trial_by(const char *integrator, const char *text, double dt)
{
    struct trial trial = { .scene = line_scene(), .config = watch_config(text) };
    const struct moment *start = scene_moment(&trial.scene, 0, dt, true);
    const struct watch_method method = { { .precision = PRECISION_DOUBLE },
                                         integrator_find(integrator),
                                         1e6 };
    assert_int_equal(watch_create(config_section(trial.config, "watch"), start, &method,
                                  &trial.watch, &trial.error),
                     STATUS_OK);
    return trial;
}

static struct trial trial_start(const char *text, double dt)
{
    return trial_by("velocity-verlet", text, dt);
}

static enum status look(struct trial *trial, uint64_t step, double dt)
{
    const struct moment *now = scene_moment(&trial->scene, step, dt, true);
    return watch_check(trial->watch, now, NEED_STATE | NEED_CONSERVED, false, tell, &trial->told,
                       &trial->error);
}

/* As much energy as body 0 of a system with `speed` has alone, shared with body 1, which moves the
 * other way: the system as a whole does not. */
static void set_speed(struct trial *trial, size_t system, double speed)
{
    double *const vx = trial->scene.bodies->vx + system * trial->scene.bodies->stride;
    vx[0] = speed / sqrt(2.0);
    vx[1] = -vx[0];
}

static void trial_end(struct trial *trial)
{
    watch_destroy(trial->watch);
    config_free(trial->config);
    scene_destroy(&trial->scene);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not say '%s'", text, part);
}

static void test_a_quiet_run(void **state)
{
    (void)state;
    struct trial trial = trial_start("energy_error = 0.06;", 0.01);
    for (uint64_t step = 0; step < 5000; step += 500) {
        set_speed(&trial, 0, step % 1000 ? 0.5 : 0.0); /* 0.125 of 2.17: 5.8 % */
        assert_int_equal(look(&trial, step, 0.001), STATUS_OK);
    }
    char text[WATCH_TEXT_SIZE];
    assert_int_equal(trial.told.count, 0);
    assert_true(watch_holds(trial.watch, NULL));
    assert_string_equal(watch_text(trial.watch, NULL, text), "");
    trial_end(&trial);
}

/* U = -1.75 (2 / sqrt(4.09) + 1 / sqrt(16.09)) = -2.1669 at the start, and so is E about the centre
 * of mass; a speed of 1 adds 0.5: 0.2307 of that. */
static void test_a_jump_is_told_and_fails(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.01);
    struct bodies *b = trial.scene.bodies;
    assert_int_equal(look(&trial, 0, 0.01), STATUS_OK);
    assert_int_equal(trial.told.count, 0);
    assert_true(watch_holds(trial.watch, NULL));
    assert_int_equal(look(&trial, 50, 0.01), STATUS_OK); /* quiet, or a jump is not known as one */
    /* In the second system a close pair shows at a look without sums, and has parted when the
     * energy is measured. */
    b->x[b->stride + 1] = 0.5;
    const struct moment *now = scene_moment(&trial.scene, 100, 0.01, true);
    assert_int_equal(
        watch_check(trial.watch, now, NEED_STATE, false, tell, &trial.told, &trial.error),
        STATUS_OK);
    b->x[b->stride + 1] = 2.0;
    set_speed(&trial, 1, 1.0);
    assert_int_equal(look(&trial, 200, 0.01), STATUS_OK);
    assert_int_equal(trial.told.count, 1);
    assert_says(trial.told.last, "WARNING: system 2: the energy jumped by +0.231");
    assert_says(trial.told.last, "between t = 0 and t = 2");
    assert_says(trial.told.last, "bodies 80 and 81, 0.5 apart at t = 1");
    assert_false(watch_holds(trial.watch, NULL));
    assert_true(watch_holds(trial.watch, (const bool[]){ false, true })); /* without that system */
    assert_false(watch_holds(trial.watch, (const bool[]){ true, false }));
    /* The new energy is the measure of the next look. */
    assert_int_equal(look(&trial, 300, 0.01), STATUS_OK);
    assert_int_equal(trial.told.count, 1);
    char text[WATCH_TEXT_SIZE];
    assert_says(watch_text(trial.watch, NULL, text),
                "1 jump of the energy, the first before t = 2; the fastest pair then, bodies 80 "
                "and 81 of system 2, was 0.5 apart at t = 1");
    json_t *json = watch_json(trial.watch, NULL);
    assert_true(json_is_false(json_object_get(json, "holds")));
    assert_int_equal(json_integer_value(json_object_get(json, "energy_jumps")), 1);
    json_t *pair = json_object_get(json, "first_jump_pair");
    assert_int_equal(json_integer_value(json_object_get(pair, "system")), 2);
    assert_int_equal(json_integer_value(json_object_get(pair, "id_2")), 81);
    assert_close(json_real_value(json_object_get(pair, "distance")), 0.5, 1e-15);
    json_decref(json);
    trial_end(&trial);
}

static void test_many_jumps_are_counted(void **state)
{
    (void)state;
    struct trial trial = trial_start("on_jump = \"warn\"; energy_jump = 0.05;", 0.01);
    for (uint64_t k = 0; k < 12; k++) {
        set_speed(&trial, 0, k % 2 ? 1.0 : 0.0);
        assert_int_equal(look(&trial, k + 1, 0.01), STATUS_OK);
    }
    assert_int_equal(trial.told.count, 3); /* of 11 */
    assert_says(trial.told.last, "system 1: the energy jumped by +0.231");
    assert_says(trial.told.last, "later ones are only counted");
    assert_says(trial.told.last, "a circular orbit would take 966 steps;"); /* enough: no advice */
    char text[WATCH_TEXT_SIZE];
    assert_says(watch_text(trial.watch, NULL, text),
                "11 jumps of the energy, the first before t = 0.02;");
    json_t *json = watch_json(trial.watch, NULL);
    assert_close(json_real_value(json_object_get(json, "first_jump_time")), 0.02, 1e-15);
    json_decref(json);
    assert_true(watch_holds(trial.watch, NULL)); /* it was to warn only */
    trial_end(&trial);
}

static void test_a_jump_can_stop(void **state)
{
    (void)state;
    struct trial trial = trial_start("on_jump = \"stop\";", 0.01);
    assert_int_equal(look(&trial, 5, 0.01), STATUS_OK);
    set_speed(&trial, 0, 2.0);
    assert_int_equal(look(&trial, 7, 0.01), STATUS_NUMERICAL);
    assert_says(trial.error.text, "system 1: the energy jumped by +0.923");
    trial_end(&trial);
}

/* The energy of both systems is raised by `change` of its size in speeds of two bodies. */
static void raise_energy(struct trial *trial, double change)
{
    for (size_t s = 0; s < 2; s++)
        set_speed(trial, s, sqrt(2.0 * change * 2.16688));
}

/* Checks at steps that are `every` apart, of an energy that grows by `growth` in each interval. */
static void grow_steadily(struct trial *trial, uint64_t every, uint64_t checks, double growth)
{
    for (uint64_t k = 0; k <= checks; k++) {
        raise_energy(trial, growth * (double)k);
        assert_int_equal(look(trial, k * every, 0.01), STATUS_OK);
    }
}

/* A steady growth is no jump, however much of it lies between two checks; it fails all the same. */
static void test_a_steady_growth_is_no_jump(void **state)
{
    (void)state;
    static const double growths[] = { 0.03, 0.06, 0.3 };
    char text[WATCH_TEXT_SIZE];
    for (size_t k = 0; k < COUNT_OF(growths); k++) {
        struct trial trial = trial_start("energy_error = 0; energy_drift = 0;", 0.01);
        grow_steadily(&trial, 10, 8, growths[k]);
        assert_says(trial.told.last, "the energy changed by +");
        assert_false(watch_holds(trial.watch, NULL));
        const char *all = watch_text(trial.watch, NULL, text);
        assert_says(all, " changes of the energy by more than 0.1 of max(|E0|, |U0|) within 1000 "
                         "steps, none seen to be sudden, the first before t = ");
        assert_null(strstr(all, "jump"));
        json_t *json = watch_json(trial.watch, NULL);
        assert_true(json_integer_value(json_object_get(json, "energy_jumps")) >= 4);
        assert_int_equal(json_integer_value(json_object_get(json, "sudden_energy_jumps")), 0);
        json_decref(json);
        trial_end(&trial);
    }
}

/* Nor is it one where checks become fewer; a jump on the way is told from it. */
static void test_a_jump_in_a_steady_growth(void **state)
{
    (void)state;
    struct trial trial = trial_start("energy_error = 0; energy_drift = 0;", 0.01);
    char text[WATCH_TEXT_SIZE];
    grow_steadily(&trial, 10, 4, 0.02);
    raise_energy(&trial, 0.02 * 9); /* 50 steps later, of which none is faster */
    assert_int_equal(look(&trial, 90, 0.01), STATUS_OK);
    assert_says(trial.told.last, "the energy changed by +0.18");
    raise_energy(&trial, 0.02 * 10 + 0.3);
    assert_int_equal(look(&trial, 100, 0.01), STATUS_OK);
    assert_says(trial.told.last, "the energy jumped by +0.32");
    assert_says(watch_text(trial.watch, NULL, text),
                "4 changes of the energy by more than 0.1 of max(|E0|, |U0|) within 1000 steps, 2 "
                "of them seen to be sudden, the first before t = 0.9;");
    trial_end(&trial);

    trial = trial_start("energy_error = 0; energy_drift = 0;", 0.01);
    static const double unsteady[] = { 0.0, 0.06, 0.07, 0.11 }; /* no half of it comes at once */
    for (uint64_t k = 0; k < COUNT_OF(unsteady); k++) {
        raise_energy(&trial, unsteady[k]);
        assert_int_equal(look(&trial, k, 0.01), STATUS_OK);
    }
    assert_says(trial.told.last, "the energy changed by +0.11");
    trial_end(&trial);
}

/* tau of the closest pair at 0.5: sqrt((0.25 + 0.09)^1.5 / (1.75 x 2)) = 0.238. */
static void test_a_large_step_is_said_once(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.125);
    trial.scene.bodies->x[1] = 0.5;
    for (uint64_t step = 0; step < 5; step++)
        assert_int_equal(watch_check(trial.watch, scene_moment(&trial.scene, step, 0.125, true),
                                     NEED_STATE, false, tell, &trial.told, &trial.error),
                         STATUS_OK);
    assert_int_equal(trial.told.count, 1);
    assert_says(trial.told.last, "system 1: the step is too large for bodies 70 and 71, 0.5 apart");
    assert_says(trial.told.last, "would take 12 steps (200 are"); /* 2 pi 0.238 / 0.125 */
    assert_true(watch_holds(trial.watch, NULL));                  /* a warning, no failure */
    char text[WATCH_TEXT_SIZE];
    assert_says(watch_text(trial.watch, NULL, text), "the step is too large for bodies 70 and 71");
    trial_end(&trial);

    trial = trial_start("", 0.118); /* 2.02 steps */
    trial.scene.bodies->x[1] = 0.5;
    assert_int_equal(watch_check(trial.watch, scene_moment(&trial.scene, 0, 0.118, true),
                                 NEED_STATE, false, tell, &trial.told, &trial.error),
                     STATUS_OK);
    assert_int_equal(trial.told.count, 0);
    assert_string_equal(watch_text(trial.watch, NULL, text), "");
    trial_end(&trial);
}

/* Tests the words of the help and the manual about it. */
static void test_the_warning_is_a_sixteenth_of_the_advice(void **state)
{
    (void)state;
    for (size_t i = 0; i < watch_parameter_count; i++)
        if (strcmp(watch_parameters[i].key, "least_steps") == 0)
            assert_close(2 * M_PI * watch_parameters[i].default_value.real,
                         INTEGRATOR_STEPS_PER_PERIOD / 16.0, 0.1); /* to a digit */
}

static void test_what_is_not_finite_is_named(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.01);
    trial.scene.bodies->vy[trial.scene.bodies->stride + 2] = INFINITY;
    assert_int_equal(look(&trial, 40, 0.01), STATUS_NUMERICAL);
    assert_says(trial.error.text, "system 2, body 82 at step 40");
    trial_end(&trial);

    trial = trial_start("", 0.01);
    scene_moment(&trial.scene, 50, 0.01, true);
    trial.scene.conserved[1].potential = NAN;
    assert_int_equal(watch_check(trial.watch, &trial.scene.moment, NEED_CONSERVED, false, tell,
                                 &trial.told, &trial.error),
                     STATUS_NUMERICAL);
    assert_says(trial.error.text, "system 2: the energy is not finite at step 50");
    trial_end(&trial);
}

/* As a restart does. */
static void take_state(struct watch *to, struct watch *from)
{
    size_t length, other;
    const double *state = watch_state(from, &length);
    double *target = watch_state(to, &other);
    assert_int_equal(length, other);
    memcpy(target, state, length * sizeof *state);
}

/* A run that goes on from the state judges as one that was never interrupted. */
static void test_state(void **state)
{
    (void)state;
    struct trial first = trial_start("", 0.01), second = trial_start("", 0.01);
    set_speed(&first, 0, 2.0);
    assert_int_equal(look(&first, 10, 0.01), STATUS_OK);
    take_state(second.watch, first.watch);
    assert_false(watch_holds(second.watch, NULL));
    set_speed(&second, 0, 2.0);
    assert_int_equal(look(&second, 20, 0.01), STATUS_OK);
    assert_int_equal(second.told.count, 0); /* the energy is what it was */
    trial_end(&first);
    trial_end(&second);
}

/* Tests that an error that grows by less than a jump at a time is found, at any cadence. */
static void test_what_accumulates_fails(void **state)
{
    (void)state;
    for (uint64_t every = 1; every <= 100; every *= 10) {
        struct trial trial = trial_start("energy_drift = 0;", 0.01);
        for (uint64_t step = 0; step <= 1000; step += every) {
            raise_energy(&trial, 6e-6 * (double)step);
            assert_int_equal(look(&trial, step, 0.01), STATUS_OK);
        }
        assert_int_equal(trial.told.count, 2); /* of each system */
        assert_says(trial.told.last, "system 2: the energy is off by +0.00");
        assert_false(watch_holds(trial.watch, NULL));
        assert_false(watch_holds(trial.watch, (const bool[]){ true, false }));
        assert_false(watch_holds(trial.watch, (const bool[]){ true, true })); /* nothing is left */
        char text[WATCH_TEXT_SIZE];
        assert_says(watch_text(trial.watch, NULL, text),
                    "the energy of system 1 is off by 0.006 of max(|E0|, |U0|) at t = 10 (limit "
                    "0.005), the worst of 2 systems");
        json_t *json = watch_json(trial.watch, NULL);
        json_t *energy = json_object_get(json, "energy_error");
        assert_close(json_real_value(json_object_get(energy, "largest")), 0.006, 1e-7);
        assert_close(json_real_value(json_object_get(energy, "time")), 10.0, 1e-12);
        assert_int_equal(json_integer_value(json_object_get(energy, "system")), 1);
        assert_int_equal(json_integer_value(json_object_get(energy, "systems_beyond")), 2);
        assert_int_equal(json_integer_value(json_object_get(json, "energy_jumps")), 0);
        json_decref(json);
        trial_end(&trial);
    }
    struct trial trial = trial_start("energy_error = 0; energy_drift = 0;", 0.01);
    raise_energy(&trial, 0.09);
    assert_int_equal(look(&trial, 1, 0.01), STATUS_OK);
    assert_true(watch_holds(trial.watch, NULL)); /* switched off */
    trial_end(&trial);
}

/* A look beside the watch's own steps is none, whoever asked for it; the last step is one. */
static void test_its_own_steps(void **state)
{
    (void)state;
    struct trial trial = trial_start("", 0.01);
    assert_int_equal(watch_stride(trial.watch, 0), 1);
    assert_int_equal(watch_stride(trial.watch, 199), 1);
    assert_int_equal(watch_stride(trial.watch, 200), 2);
    assert_int_equal(watch_stride(trial.watch, 123456), 50);
    raise_energy(&trial, 0.09);
    assert_int_equal(look(&trial, 123457, 0.01), STATUS_OK);
    assert_true(watch_holds(trial.watch, NULL));
    const struct moment *now = scene_moment(&trial.scene, 123457, 0.01, true);
    assert_int_equal(watch_check(trial.watch, now, NEED_STATE | NEED_CONSERVED, true, tell,
                                 &trial.told, &trial.error),
                     STATUS_OK);
    assert_false(watch_holds(trial.watch, NULL));
    trial_end(&trial);
}

/* A check of energies that both systems have: `deep` times the |U| of the start, and off by
 * `change` of the scale, which is that |U|. */
static enum status look_deep(struct trial *trial, uint64_t step, double deep, double change)
{
    const struct moment *now = scene_moment(&trial->scene, step, 0.01, true);
    for (size_t s = 0; s < 2; s++) {
        struct conserved *const c = &trial->scene.conserved[s];
        const double U = c->potential;
        *c = (struct conserved){ .potential = deep * U, .internal = (1.0 - deep - change) * U };
    }
    return watch_check(trial->watch, now, NEED_STATE | NEED_CONSERVED, false, tell, &trial->told,
                       &trial->error);
}

/* Bodies that come from afar: |U| is 100 times as large while they pass, from step 10000 to 10099.
 * Quiet before, then off by `swing` while they pass and by `rest` afterwards. */
static struct trial pass(double swing, double rest)
{
    struct trial trial = trial_start("", 0.01);
    for (uint64_t step = 0; step < 20000; step += watch_stride(trial.watch, step)) {
        const bool deep = step >= 10000 && step < 10100;
        const double change = deep ? swing : step < 10000 ? 0.0 : rest;
        assert_int_equal(look_deep(&trial, step, deep ? 100.0 : 1.0, change), STATUS_OK);
    }
    return trial;
}

/* An encounter swings the energy by 0.3 of the scale, 0.0033 of |U| - 10 <|U|> there; step 10000,
 * from which changes would be counted anew, is in it. What remains of it is judged over the scale.
 */
static void test_an_encounter_from_afar(void **state)
{
    (void)state;
    static const struct {
        double swing, rest;
        bool holds;
    } cases[] = { { 0.3, 0.0, true },  { -0.3, 0.004, true }, { 0.3, 0.006, false },
                  { 0.5, 0.0, false }, { 0.0, -0.2, false },  { 0.3, -0.2, false } };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct trial trial = pass(cases[k].swing, cases[k].rest);
        json_t *json = watch_json(trial.watch, NULL);
        json_t *energy = json_object_get(json, "energy_error");
        if (watch_holds(trial.watch, NULL) != cases[k].holds)
            fail_msg("case %zu", k);
        /* The reported value is over the scale, wherever it was. */
        assert_close(json_real_value(json_object_get(energy, "largest")),
                     fmax(fabs(cases[k].swing), fabs(cases[k].rest)), 1e-12);
        /* The two jumps are that of what remains, seen after the passage, in each system. */
        assert_int_equal(json_integer_value(json_object_get(json, "energy_jumps")),
                         fabs(cases[k].rest) > 0.1 ? 2 : 0);
        json_decref(json);
        trial_end(&trial);
    }
}

/* A body of each system with a speed of 100: K' = 1/2 (2/3) 100^2 = 3333, 1540 times |U|. Speeds of
 * 0.4 and 0.5 of others are 0.037 and 0.058 of |U| = 2.1669, and some 3e-5 of the scale. */
static void test_fast_bodies_hide_nothing(void **state)
{
    (void)state;
    static const char hides[] = "the energy of system 1 is off by 0.0577 times the largest |U|";
    char text[WATCH_TEXT_SIZE];
    struct trial trial = trial_start("", 0.01);
    struct bodies *const b = trial.scene.bodies;
    const struct watch_method method = { { .precision = PRECISION_DOUBLE },
                                         integrator_find("velocity-verlet"),
                                         1e6 };
    for (size_t s = 0; s < 2; s++)
        b->vz[s * b->stride + 2] = 100.0;
    watch_destroy(trial.watch);
    const struct moment *start = scene_moment(&trial.scene, 0, 0.01, true);
    assert_int_equal(watch_create(config_section(trial.config, "watch"), start, &method,
                                  &trial.watch, &trial.error),
                     STATUS_OK);
    assert_int_equal(look(&trial, 0, 0.01), STATUS_OK);
    set_speed(&trial, 0, 0.4);
    assert_int_equal(look(&trial, 50, 0.01), STATUS_OK);
    assert_true(watch_holds(trial.watch, NULL));
    assert_int_equal(trial.told.count, 0);
    assert_close(watch_error_in_limits(trial.watch), 0.037 / 0.05, 0.01); /* what is left of it */
    set_speed(&trial, 0, 0.5);
    assert_int_equal(look(&trial, 100, 0.01), STATUS_OK);
    assert_false(watch_holds(trial.watch, NULL));
    assert_says(watch_text(trial.watch, NULL, text), hides);
    assert_says(text,
                "beyond the limit 0.05 since t = 1; max(|E0|, |U0|), 1.5e+03 times |U|, hides it");
    assert_says(trial.told.last, "the energy is off by +0.0577 times the largest |U|");
    for (size_t i = 0; i < b->stride; i++) /* |U| of system 1 is three times as large later on */
        b->x[i] /= 3, b->y[i] /= 3, b->z[i] /= 3;
    assert_int_equal(look(&trial, 150, 0.01), STATUS_OK);
    assert_says(watch_text(trial.watch, NULL, text), "|U0|), 1.5e+03 times |U|, hides");
    trial_end(&trial);
}

/* Bodies 0 and 1 have |U| = 1.75 / sqrt(4.09) = 0.8653 beside light ones and the last, a heavy one,
 * with which |U| is 41 times that if it is far away. Speeds of 0.25 and 0.35 make 0.036 and 0.0708
 * of it. If the heavy body is 5 away, nothing is bound for itself, nor if body 1 is so light that
 * its |U| is rounding beside the whole; and 9 bodies are no cluster. */
static void test_the_orbit_of_a_cluster_hides_nothing(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        double distance, mass;
    } cases[] = { { 11, 1e4, 1.0 }, { 11, 5.0, 1.0 }, { 11, 1e4, 1e-14 }, { 10, 1e4, 1.0 } };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        char text[WATCH_TEXT_SIZE];
        struct trial trial = trial_start("least_steps = 0.0; orbit_error = 0.0;", 0.01);
        const size_t last = cases[k].count - 1;
        const struct watch_method method = { { .precision = PRECISION_DOUBLE },
                                             integrator_find("velocity-verlet"),
                                             1e6 };
        watch_destroy(trial.watch);
        scene_destroy(&trial.scene);
        trial.scene = scene_create(1, cases[k].count, G, EPS);
        for (size_t i = 0; i <= last; i++) {
            const double mass = i == 0 ? 1.0 : i == 1 ? cases[k].mass : i == last ? 1e5 : 1e-20;
            const double x = i == last ? cases[k].distance : 2.0 * (double)i;
            scene_body(&trial.scene, 0, i, mass, (const double[]){ x, 0, 0 },
                       (const double[]){ 0, 0.5, 0 });
        }
        const struct moment *start = scene_moment(&trial.scene, 0, 0.01, true);
        assert_int_equal(watch_create(config_section(trial.config, "watch"), start, &method,
                                      &trial.watch, &trial.error),
                         STATUS_OK);
        assert_close(watch_enlarged(trial.watch, 0), k == 0 ? 4.15 : 1.0, 0.01);
        set_speed(&trial, 0, 0.25);
        assert_int_equal(look(&trial, 50, 0.01), STATUS_OK);
        assert_string_equal(trial.told.last, "");
        set_speed(&trial, 0, 0.35);
        assert_int_equal(look(&trial, 100, 0.01), STATUS_OK);
        assert_true(watch_holds(trial.watch, NULL) == (k > 0));
        if (k == 0)
            assert_says(watch_text(trial.watch, NULL, text),
                        "off by 0.0708 times the cluster's own |U0|, beyond the limit 0.05 since");
        trial_end(&trial);
    }
}

/* A swing of the energy is none of an encounter if |U| is usually that large, 100 times that of the
 * start: it is judged over the scale. */
static void test_bodies_that_are_usually_close(void **state)
{
    (void)state;
    struct trial trial = trial_start("energy_drift = 0; energy_jump = 0;", 0.01);
    for (uint64_t step = 0; step < 12000; step += watch_stride(trial.watch, step)) {
        const bool swings = step >= 10000 && step < 10100;
        assert_int_equal(look_deep(&trial, step, step > 0 ? 100.0 : 1.0, swings ? 0.3 : 0.0),
                         STATUS_OK);
    }
    assert_false(watch_holds(trial.watch, NULL));
    trial_end(&trial);
}

/* Bodies that stay close, and an error of 0.3 of the scale that stays with them: no swing. It is
 * told after 1000 steps and a sixteenth of all, from step 16000 on after 1067. */
static void test_what_lasts_is_no_swing(void **state)
{
    (void)state;
    struct trial trial = trial_start("energy_drift = 0; energy_jump = 0;", 0.01);
    uint64_t step = 0;
    for (; step < 20000 && trial.told.count == 0; step += watch_stride(trial.watch, step))
        assert_int_equal(
            look_deep(&trial, step, step < 16000 ? 1.0 : 1e4, step < 16000 ? 0.0 : 0.3), STATUS_OK);
    assert_int_equal(step, 17100 + 50); /* 16000 + step/16 is passed between 17050 and 17100 */
    assert_says(trial.told.last, "the energy is off by +0.3 of max(|E0|, |U0|)");
    assert_false(watch_holds(trial.watch, NULL));
    trial_end(&trial);
}

enum { DRIFT_STEPS = 5000 };

/* The verdict on an energy that goes as f(t / T), of height `size`. */
static bool holds_along(double (*f)(double), double size, const char *integrator, const char *text)
{
    struct trial trial = trial_by(integrator, text, 0.01);
    for (uint64_t step = 0; step <= DRIFT_STEPS; step += watch_stride(trial.watch, step)) {
        raise_energy(&trial, size * f((double)step / DRIFT_STEPS));
        assert_int_equal(look(&trial, step, 0.01), STATUS_OK);
    }
    const bool holds = watch_holds(trial.watch, NULL);
    trial_end(&trial);
    return holds;
}

static double line(double x)
{
    return x;
}

static double line_and_waves(double x)
{
    return x + 0.2 * (1.0 + sin(97.0 * x));
}

static double waves(double x)
{
    return 0.5 - 0.5 * cos(97.0 * x);
}

static double one_jump(double x)
{
    return x > 0.4 ? 1.0 : 0.0;
}

/* T is 50, and a period of the line of bodies some ten. */
static void test_drift(void **state)
{
    (void)state;
    const char *verlet = "velocity-verlet", *euler = "euler";
    assert_false(holds_along(line, 1.5e-3, verlet, ""));
    assert_false(holds_along(line_and_waves, 1.5e-3, verlet, ""));
    assert_true(holds_along(line, 0.8e-3, verlet, "")); /* the limit is 0.001 */
    assert_false(holds_along(line, 0.8e-3, verlet, "energy_drift = 5e-4;"));
    assert_true(holds_along(line, 1.5e-3, verlet, "energy_drift = 0;"));
    assert_true(holds_along(waves, 4e-3, verlet, "")); /* bounded */
    assert_true(holds_along(one_jump, 4e-3, verlet, ""));
    /* A method that is known to drift: whatever is more than noise, unless the config says. */
    assert_false(holds_along(waves, 1e-9, euler, ""));
    assert_true(holds_along(waves, 1e-12, euler, ""));
    assert_true(
        holds_along(line, 9e-4, "rk4", "")); /* little is lost; beyond 0.001 it is too much */
    assert_false(holds_along(line, 1.1e-3, "rk4", ""));
    assert_true(holds_along(line, 1e-3, euler, "energy_drift = 2e-3;"));
    /* Below the noise nothing is judged, whatever the limit. */
    assert_true(holds_along(line, 5e-12, verlet, "energy_drift = 1e-15; energy_error = 1e-15;"));
    assert_false(holds_along(line, 5e-11, verlet, "energy_error = 1e-15;"));
}

/*
 * Two systems of a body of mass 1 that moves, and two test bodies at rest about it, 2 and 4 away,
 * with ids 70, 71, 72. Body 71 has e0 = u0 = -1.75 / sqrt(4.09) = -0.865324; body 72 -0.436279.
 */
static struct trial trial_of_tests(const char *integrator, const char *text)
{
    struct trial trial = { .scene = line_scene(), .config = watch_config(text) };
    struct bodies *b = trial.scene.bodies;
    for (size_t s = 0; s < 2; s++)
        b->m[s * b->stride + 1] = b->m[s * b->stride + 2] = 0.0;
    const struct moment *start = scene_moment(&trial.scene, 0, 0.01, true);
    const struct watch_method method = { { .precision = PRECISION_DOUBLE },
                                         integrator_find(integrator),
                                         1e6 };
    assert_int_equal(watch_create(config_section(trial.config, "watch"), start, &method,
                                  &trial.watch, &trial.error),
                     STATUS_OK);
    return trial;
}

static void test_bodies_without_mass_are_judged(void **state)
{
    (void)state;
    struct trial trial = trial_of_tests("velocity-verlet", "");
    struct bodies *b = trial.scene.bodies;
    assert_int_equal(look(&trial, 1, 0.01), STATUS_OK);
    assert_true(watch_holds(trial.watch, NULL));
    /* The worst is not the one that changes most: 0.0032 of 0.865 and 0.0029 of 0.436. */
    b->vx[b->stride + 1] = 0.08;
    b->vx[b->stride + 2] = -0.076;
    assert_int_equal(look(&trial, 2, 0.01), STATUS_OK);
    assert_int_equal(trial.told.count, 1);
    assert_says(trial.told.last,
                "system 2: the specific energy of test body 82 is off by +0.00662");
    assert_false(watch_holds(trial.watch, NULL));
    assert_true(watch_holds(trial.watch, (const bool[]){ false, true }));
    char text[WATCH_TEXT_SIZE];
    assert_says(
        watch_text(trial.watch, NULL, text),
        "the specific energy of test body 82 of system 2 is off by 0.00662 of max(|e0|, |u0|) at "
        "t = 0.02 (limit 0.005)");
    json_t *json = watch_json(trial.watch, NULL);
    json_t *error = json_object_get(json, "energy_error");
    assert_int_equal(json_integer_value(json_object_get(error, "test_body")), 82);
    assert_true(json_is_null(json_object_get(json, "first_jump_test_body")));
    json_decref(json);

    b->vx[1] = 0.5; /* 0.125 of 0.865 */
    assert_int_equal(look(&trial, 3, 0.01), STATUS_OK);
    assert_says(
        trial.told.last,
        "system 1: the specific energy of test body 71 jumped by +0.144 of max(|e0|, |u0|)");
    assert_says(watch_text(trial.watch, NULL, text),
                "1 jump of the specific energy of test body 71");
    assert_int_equal(look(&trial, 4, 0.01), STATUS_OK);
    assert_says(watch_text(trial.watch, NULL, text), "1 jump of "); /* marks where it is now */

    b->vx[2] = 0.5; /* another one */
    assert_int_equal(look(&trial, 5, 0.01), STATUS_OK);
    assert_says(watch_text(trial.watch, NULL, text),
                "2 jumps of the specific energies of test bodies, the first, of body 71, before t "
                "= 0.03;");
    trial_end(&trial);
}

/* A jump is told of the body of its system. */
static void test_a_jump_without_mass_in_the_second_system(void **state)
{
    (void)state;
    struct trial trial = trial_of_tests("velocity-verlet", "");
    struct bodies *b = trial.scene.bodies;
    b->vx[b->stride + 1] = 0.5; /* 0.125 of 0.865 */
    assert_int_equal(look(&trial, 1, 0.01), STATUS_OK);
    assert_says(trial.told.last, "system 2: the specific energy of test body 81 changed by +0.144");
    json_t *json = watch_json(trial.watch, NULL);
    assert_int_equal(json_integer_value(json_object_get(json, "first_jump_test_body")), 81);
    json_decref(json);
    trial_end(&trial);
}

/* Their drift, by a method that has none and one that does; the period of body 71 is some 13. */
static void test_bodies_without_mass_drift(void **state)
{
    (void)state;
    static const char *const methods[] = { "velocity-verlet", "velocity-verlet", "euler" };
    static const double sizes[] = { 0.8e-3, 1.5e-3, 1e-9 };
    for (int k = 0; k < 3; k++) {
        struct trial trial = trial_of_tests(methods[k], "");
        for (uint64_t step = 0; step <= DRIFT_STEPS; step += watch_stride(trial.watch, step)) {
            const double change = sizes[k] * (double)step / DRIFT_STEPS;
            trial.scene.bodies->vx[1] = sqrt(2.0 * change * 0.865324);
            assert_int_equal(look(&trial, step, 0.01), STATUS_OK);
        }
        char text[WATCH_TEXT_SIZE];
        assert_true(watch_holds(trial.watch, NULL) == (k == 0));
        if (k == 1)
            assert_says(watch_text(trial.watch, NULL, text),
                        "the specific energy of the worst test body of system 1 drifts by +0.001");
        trial_end(&trial);
    }
}

/* A second watch with the state of the first has its levels as well. */
static void test_state_of_bodies_without_mass(void **state)
{
    (void)state;
    struct trial first = trial_of_tests("velocity-verlet", "energy_error = 0;");
    struct trial second = trial_of_tests("velocity-verlet", "energy_error = 0;");
    first.scene.bodies->vx[1] = second.scene.bodies->vx[1] = 0.6;
    assert_int_equal(look(&first, 10, 0.01), STATUS_OK);
    take_state(second.watch, first.watch);
    assert_int_equal(look(&first, 20, 0.01), STATUS_OK);
    assert_int_equal(look(&second, 20, 0.01), STATUS_OK);
    assert_int_equal(second.told.count, 0); /* the energy is what it was */
    size_t length;
    const double *kept = watch_state(first.watch, &length);
    assert_memory_equal(kept, watch_state(second.watch, &length), length * sizeof *kept);
    trial_end(&first);
    trial_end(&second);
}

/* The watch of a run that asks for forces to 1e-3. */
static void watch_forces(struct trial *trial, const struct moment *now, const char *method_name)
{
    const struct watch_method method = { { .precision = PRECISION_DOUBLE,
                                           .kernel = "auto",
                                           .isa = "auto",
                                           .threads = 1,
                                           .method = force_method_find(method_name),
                                           .accuracy = 1e-3 },
                                         integrator_find("velocity-verlet"),
                                         1e6 };
    assert_int_equal(watch_create(config_section(trial->config, "watch"), now, &method,
                                  &trial->watch, &trial->error),
                     STATUS_OK);
}

/* A run that asks for forces to 1e-3 and gets them `too_long` times as long as they are. */
static struct trial trial_of_forces(double too_long, const char *method_name, const char *text)
{
    struct trial trial = { .scene = line_scene(), .config = watch_config(text) };
    const struct moment *now = scene_moment(&trial.scene, 0, 0.01, true);
    struct bodies *const b = trial.scene.bodies;
    watch_forces(&trial, now, method_name);
    reference_accelerations(now->physics, b);
    for (size_t i = b->stride; i < bodies_length(b); i++) { /* of the second system */
        b->ax[i] *= too_long;
        b->ay[i] *= too_long;
        b->az[i] *= too_long;
    }
    assert_int_equal(watch_check(trial.watch, now, NEED_STATE | NEED_CONSERVED | NEED_ACCELERATIONS,
                                 false, tell, &trial.told, &trial.error),
                     STATUS_OK);
    return trial;
}

static void test_forces_that_miss_their_accuracy(void **state)
{
    (void)state;
    const bool second[] = { false, true };
    char text[WATCH_TEXT_SIZE];
    struct findings rows = { 0 };
    struct trial good = trial_of_forces(1.0009, "fmm", "");
    assert_true(watch_audits(good.watch, 0, false) && watch_audits(good.watch, 77, true) &&
                !watch_audits(good.watch, 77, false));
    const size_t force_error = offsetof(struct record, force_error);
    assert_close(watch_table_largest(good.watch, force_error)->force_error, 0.0009, 1e-12);
    assert_true(watch_holds(good.watch, NULL));
    trial_end(&good);
    struct trial bad = trial_of_forces(1.0021, "fmm", "");
    assert_false(watch_holds(bad.watch, NULL));
    assert_true(watch_holds(bad.watch, second));
    const struct finding failure = watch_findings(bad.watch, NULL, &rows);
    assert_true(failure.subject == FINDING_OF_FORCES && failure.severity == FINDING_FAILURE &&
                failure.system == 2 && failure.systems == 1);
    assert_close(failure.value, 0.0021, 1e-12);
    assert_close(failure.bound, 1e-3, 0);
    findings_free(&rows);
    assert_string_equal(watch_text(bad.watch, NULL, text),
                        "the forces of system 2 are off by 0.0021 +- 0 at t = 0 (asked: 0.001)");
    trial_end(&bad);
    struct trial warned = trial_of_forces(1.0021, "fmm", "on_jump = \"warn\";");
    assert_true(watch_holds(warned.watch, NULL));
    trial_end(&warned);
    struct trial direct = trial_of_forces(1.0021, "direct", "");
    assert_false(watch_audits(direct.watch, 0, true));
    assert_true(watch_holds(direct.watch, NULL));
    trial_end(&direct);
}

/* On a ring all accelerations are equally long. One body of the sample has a force that is off by
 * `off`: the error is off / 2000^(1/2), and that of the sample of 256 is 2.8 times as large. */
static struct finding finding_of_ring(double off)
{
    enum { COUNT = 2000 };
    struct trial trial = { .scene = scene_create(1, COUNT, 1.0, 0.05), .config = watch_config("") };
    struct bodies *const b = trial.scene.bodies;
    struct force_audit audit;
    for (size_t i = 0; i < COUNT; i++) {
        const double angle = 2 * M_PI * (double)i / COUNT;
        scene_body(&trial.scene, 0, i, 1.0 / COUNT, (double[]){ cos(angle), sin(angle), 0 },
                   (double[]){ -sin(angle), cos(angle), 0 });
    }
    const struct moment *now = scene_moment(&trial.scene, 0, 0.01, true);
    watch_forces(&trial, now, "fmm");
    reference_accelerations(now->physics, b);
    assert_int_equal(force_audit(now, 0, 1, &audit, &trial.error), STATUS_OK);
    for (size_t i = 0; i < COUNT; i++)
        if ((double)b->id[i] == audit.worst) {
            b->ax[i] *= 1 + off;
            b->ay[i] *= 1 + off;
        }
    assert_int_equal(watch_check(trial.watch, now, NEED_STATE | NEED_CONSERVED | NEED_ACCELERATIONS,
                                 false, tell, &trial.told, &trial.error),
                     STATUS_OK);
    const struct finding row = watch_row_of_forces(trial.watch, trial.watch->records);
    trial_end(&trial);
    return row;
}

/* A sample beyond the bound by less than three of its standard errors is taken anew, larger. */
static void test_forces_in_doubt(void **state)
{
    (void)state;
    const struct finding held = finding_of_ring(0.03), failed = finding_of_ring(0.06);
    assert_true(held.severity == FINDING_HELD && failed.severity == FINDING_FAILURE);
    assert_close(held.value, 0.03 / sqrt(2000), 1e-6);
    assert_close(failed.value, 0.06 / sqrt(2000), 1e-6);
    assert_true(held.uncertainty == 0.0 && failed.uncertainty == 0.0);
}

/* The row of that name in the table of a watch, which it frees; a name of NULL: the worst failure.
 */
static struct finding row_named(const struct trial *trial, const bool *left_out, const char *name)
{
    struct findings findings = { 0 };
    struct finding found = watch_findings(trial->watch, left_out, &findings);
    for (size_t i = 0; name && i < findings.count; i++)
        if (strcmp(findings.rows[i].name, name) == 0)
            found = findings.rows[i];
    assert_true(!findings.failed && (!name || strcmp(found.name, name) == 0));
    findings_free(&findings);
    found.sentence = NULL;
    return found;
}

static void assert_row(struct finding row, enum finding_severity severity, double value,
                       double bound, double since, size_t system, size_t systems)
{
    const bool same_time = isnan(since) ? isnan(row.since) : fabs(row.since - since) < 1e-12;
    /* The values have four digits. */
    const bool same = isnan(value) ? isnan(row.value) : fabs(row.value - value) <= 1e-3 * value;
    if (row.severity != severity || !same || !same_time || row.bound != bound ||
        row.system != system || row.systems != systems)
        fail_msg("%s: severity %d, %g, bound %g, since %g, system %zu of %zu", row.name,
                 row.severity, row.value, row.bound, row.since, row.system, row.systems);
}

/* Speeds of 0.2, 0.5 and 1 are, over 2.1669, 0.009230, 0.05768 and 0.2307. */
static void test_the_table_of_energies(void **state)
{
    (void)state;
    static const bool first[] = { true, false }, second[] = { false, true }, all[] = { true, true };
    static const char error[] = "energy error", change[] = "energy change within 1000 steps";
    for (int warn = 0; warn < 2; warn++) {
        const enum finding_severity bad = warn ? FINDING_WARNING : FINDING_FAILURE;
        struct trial t = trial_start(warn ? "on_jump = \"warn\"; energy_drift = 0;" : "", 0.01);
        assert_int_equal(look(&t, 0, 0.01), STATUS_OK);
        assert_row(row_named(&t, NULL, error), FINDING_HELD, 0, 0.005, NAN, 1, 0);
        if (!warn) /* there are no windows yet, so that no drift is known */
            assert_int_equal(row_named(&t, NULL, "energy drift").severity, FINDING_OPEN);
        set_speed(&t, 0, 0.2);
        assert_int_equal(look(&t, 100, 0.01), STATUS_OK);
        assert_row(row_named(&t, NULL, error), bad, 0.009230, 0.005, 1.0, 1, 1);
        assert_row(row_named(&t, first, error), FINDING_WARNING, 0.009230, 0.005, 1.0, 1, 1);
        assert_row(row_named(&t, NULL, change), FINDING_HELD, NAN, 0.1, NAN, 1, 0);
        set_speed(&t, 1, 1.0);
        assert_int_equal(look(&t, 200, 0.01), STATUS_OK);
        set_speed(&t, 1, 0.5);
        set_speed(&t, 0, 0.5);
        assert_int_equal(look(&t, 300, 0.01), STATUS_OK);
        /* The largest, not the last, and since it was beyond the limit first. */
        assert_row(row_named(&t, NULL, error), bad, 0.2307, 0.005, 2.0, 2, 2);
        assert_row(row_named(&t, second, error), bad, 0.05768, 0.005, 1.0, 1, 1);
        assert_row(row_named(&t, first, error), bad, 0.2307, 0.005, 2.0, 2, 1);
        assert_row(row_named(&t, NULL, change), bad, 0.2307, 0.1, 2.0, 2, 1);
        /* An error 46 times the limit comes before a change of 2.3 times its own. */
        assert_row(row_named(&t, NULL, NULL), bad, 0.2307, 0.005, 2.0, 2, 2);
        assert_string_equal(row_named(&t, NULL, NULL).name, error);
        assert_row(row_named(&t, all, "systems that count"), bad, 0, 1, NAN, 0, 0);
        assert_int_equal(row_named(&t, all, error).severity, FINDING_WARNING);
        /* System 1 is beyond its error since t = 1; its change, from step 0 on, is it since 4. */
        set_speed(&t, 0, 1.0);
        assert_int_equal(look(&t, 400, 0.01), STATUS_OK);
        assert_row(row_named(&t, second, error), bad, 0.2307, 0.005, 1.0, 1, 1);
        assert_row(row_named(&t, second, change), bad, 0.2307, 0.1, 4.0, 1, 1);
        trial_end(&t);
    }
}

/* A jump of 4e-3 changes its line by more than a drift of 1.5e-3 does, but only the latter fails;
 * the line is through whole windows, which end before the run does. */
static void test_the_table_prefers_what_fails(void **state)
{
    (void)state;
    struct trial t = trial_start("energy_error = 0.1;", 0.01);
    for (uint64_t step = 0; step <= DRIFT_STEPS; step += watch_stride(t.watch, step)) {
        const double x = (double)step / DRIFT_STEPS;
        set_speed(&t, 0, sqrt(2.0 * 2.1669 * 4e-3 * one_jump(x)));
        set_speed(&t, 1, sqrt(2.0 * 2.1669 * 1.5e-3 * line(x)));
        assert_int_equal(look(&t, step, 0.01), STATUS_OK);
    }
    const struct finding row = row_named(&t, NULL, "energy drift");
    assert_row(row, FINDING_FAILURE, row.value, 1e-3, NAN, 2, 1);
    assert_true(row.value > 1e-3 && row.value < 1.51e-3);
    const struct finding jump = row_named(&t, (const bool[]){ false, true }, "energy drift");
    assert_int_equal(jump.severity, FINDING_WARNING); /* of the system that does not count */
    trial_end(&t);
}

/* The body of the worst error in the worst of two systems: 72, by
 * test_bodies_without_mass_are_judged 0.0029 of 0.436, against 0.5 x 0.1^2 of 0.865 of body 71 in
 * the other. */
static void test_the_table_names_bodies(void **state)
{
    (void)state;
    char whose[FINDING_WHOSE_SIZE];
    struct trial t = trial_of_tests("velocity-verlet", "");
    struct bodies *b = t.scene.bodies;
    assert_int_equal(look(&t, 1, 0.01), STATUS_OK);
    b->vx[1] = 0.1;
    b->vx[b->stride + 2] = -0.076;
    assert_int_equal(look(&t, 2, 0.01), STATUS_OK);
    const struct finding worst = row_named(&t, NULL, NULL);
    assert_row(worst, FINDING_FAILURE, 0.5 * 0.076 * 0.076 / 0.436279, 0.005, 0.02, 2, 2);
    assert_string_equal(finding_whose(&worst, whose), " of test body 82");
    const struct finding other = row_named(&t, (const bool[]){ false, true }, "energy error");
    assert_row(other, FINDING_FAILURE, 0.5 * 0.1 * 0.1 / 0.865324, 0.005, 0.02, 1, 1);
    assert_string_equal(finding_whose(&other, whose), " of test body 71");
    trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_that_miss_their_accuracy),
        cmocka_unit_test(test_forces_in_doubt),
        cmocka_unit_test(test_the_table_of_energies),
        cmocka_unit_test(test_the_table_names_bodies),
        cmocka_unit_test(test_the_table_prefers_what_fails),
        cmocka_unit_test(test_a_quiet_run),
        cmocka_unit_test(test_a_jump_is_told_and_fails),
        cmocka_unit_test(test_many_jumps_are_counted),
        cmocka_unit_test(test_a_jump_can_stop),
        cmocka_unit_test(test_a_steady_growth_is_no_jump),
        cmocka_unit_test(test_a_jump_in_a_steady_growth),
        cmocka_unit_test(test_a_large_step_is_said_once),
        cmocka_unit_test(test_the_warning_is_a_sixteenth_of_the_advice),
        cmocka_unit_test(test_what_is_not_finite_is_named),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_what_accumulates_fails),
        cmocka_unit_test(test_an_encounter_from_afar),
        cmocka_unit_test(test_fast_bodies_hide_nothing),
        cmocka_unit_test(test_the_orbit_of_a_cluster_hides_nothing),
        cmocka_unit_test(test_bodies_that_are_usually_close),
        cmocka_unit_test(test_what_lasts_is_no_swing),
        cmocka_unit_test(test_its_own_steps),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_bodies_without_mass_are_judged),
        cmocka_unit_test(test_a_jump_without_mass_in_the_second_system),
        cmocka_unit_test(test_bodies_without_mass_drift),
        cmocka_unit_test(test_state_of_bodies_without_mass),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
