/* Simulations: whatever they are copies of, they move and are measured as the settings say. */
#include "unit.h"

#include "accuracy/watch.h"
#include "backend/backend.h"
#include "base/memory.h"
#include "motion-case.h"
#include "observe.h"
#include "simulation/simulation.h"

static const struct physics soft = { .gravitational_constant = 1.3, .softening = 0.07 };

enum { SYSTEMS = 3, COUNT = 19 }; /* ragged beside the vectors and the padding */

/* A simulation of bodies that are drawn, with steps of 1/64; to be started. */
static struct simulation make(const char *backend, const char *integrator)
{
    struct simulation simulation = {
        .physics = soft,
        .integrator = integrator_find(integrator),
        .step = 1.0 / 64,
        .class_ = backend_find(backend),
        .options.force = { .precision = PRECISION_DOUBLE,
                           .kernel = strcmp(backend, "serial") ? "auto" : "reference",
                           .isa = "auto",
                           .threads = 1 },
    };
    struct error error = { 0 };
    assert_int_equal(simulation_take(&simulation, motion_cube(SYSTEMS, COUNT, 385), &error),
                     STATUS_OK);
    return simulation;
}

static void start(struct simulation *simulation)
{
    struct error error = { 0 };
    if (simulation_start(simulation, &error))
        fail_msg("%s", error.text);
}

static void copy(struct simulation *copy, const struct simulation *from,
                 struct simulation_changes changes)
{
    struct error error = { 0 };
    if (simulation_copy(copy, from, &changes, &error))
        fail_msg("%s", error.text);
}

static void advance(struct simulation *simulation, uint64_t steps)
{
    struct error error = { 0 };
    if (simulation_advance(simulation, steps, &error) || simulation_fetch(simulation, &error))
        fail_msg("%s", error.text);
}

static void expect_equal(const struct simulation *a, const struct simulation *b)
{
    assert_int_equal(a->bodies->systems, b->bodies->systems);
    for (size_t s = 0; s < a->bodies->systems; s++)
        assert_true(motion_equal(a->bodies, s, b->bodies, s));
}

/* Expects of a copy with changes what a simulation with these settings computes. */
static void expect_like(const struct simulation *from, struct simulation_changes changes,
                        struct simulation *set, uint64_t steps)
{
    struct simulation changed;
    copy(&changed, from, changes);
    if (changes.later)
        start(&changed);
    start(set);
    advance(&changed, steps);
    advance(set, steps);
    expect_equal(&changed, set);
    assert_true(changed.step == set->step);
    simulation_destroy(&changed);
    simulation_destroy(set);
}

static void test_changes(void **state)
{
    (void)state;
    struct simulation from = make("openmp", "pefrl"), set = make("openmp", "pefrl");
    start(&from);
    set.step = 0.003;
    expect_like(&from, (struct simulation_changes){ .step = 0.003 }, &set, 7);
    set = make("openmp", "rk4");
    expect_like(&from, (struct simulation_changes){ .integrator = set.integrator }, &set, 7);
    set = make("openmp", "pefrl");
    set.options.force.precision = PRECISION_MIXED;
    set.options.force.kernel = "symmetric";
    set.options.force.isa = "baseline";
    set.options.force.threads = 2;
    struct force_options force = set.options.force;
    expect_like(&from, (struct simulation_changes){ .force = &force }, &set, 7);
    set = make("serial", "pefrl");
    force = set.options.force;
    expect_like(&from, (struct simulation_changes){ .backend = &backend_serial, .force = &force },
                &set, 7);
    simulation_destroy(&from);
    from = make("openmp", "hermite4"); /* whose state means nothing to another integrator */
    set = make("openmp", "gauss-radau");
    start(&from);
    expect_like(&from, (struct simulation_changes){ .integrator = set.integrator }, &set, 7);
    simulation_destroy(&from);
}

/* Steps that are finer, both of the grid and of the integrator's own choice. */
static void test_refinement(void **state)
{
    (void)state;
    static const char *const integrators[] = { "yoshida4", "gauss-radau", "hermite4",
                                               "block-leapfrog" };
    for (size_t k = 0; k < COUNT_OF(integrators); k++) {
        struct simulation from = make("openmp", integrators[k]);
        struct simulation set = make("openmp", integrators[k]);
        set.step /= 2;
        set.options.refinement = 2;
        start(&from);
        expect_like(&from, (struct simulation_changes){ .refinement = 2, .later = true }, &set, 6);
        simulation_destroy(&from);
    }
}

/* Some of the systems, and the first bodies of each, are a simulation as if there were no others.
 */
static void test_parts(void **state)
{
    (void)state;
    struct simulation from = make("openmp", "leapfrog-dkd"), some, all;
    start(&from);
    copy(&some, &from, (struct simulation_changes){ .systems = 2, .which = (size_t[]){ 2, 0 } });
    copy(&all, &from, (struct simulation_changes){ 0 });
    advance(&some, 9);
    advance(&all, 9);
    assert_true(motion_equal(some.bodies, 0, all.bodies, 2));
    assert_true(motion_equal(some.bodies, 1, all.bodies, 0));
    simulation_destroy(&some);
    copy(&some, &from, (struct simulation_changes){ .systems = 1, .count = 5 });
    assert_int_equal(some.bodies->count, 5);
    assert_memory_equal(some.bodies->vz, from.bodies->vz, 5 * sizeof(double));
    simulation_destroy(&some);
    simulation_destroy(&all);
    simulation_destroy(&from);
}

/* A copy that is taken on the way goes on with the integrator's state to the bits of the original,
 * which goes on as if there were no copy. */
static void test_on_the_way(void **state)
{
    (void)state;
    static const char *const integrators[] = { "euler", "velocity-verlet", "gauss-radau",
                                               "hermite4", "block-leapfrog" };
    for (size_t k = 0; k < COUNT_OF(integrators); k++) {
        struct simulation from = make("openmp", integrators[k]), whole, other, some;
        whole = make("openmp", integrators[k]);
        start(&from);
        start(&whole);
        advance(&whole, 30);
        advance(&from, 11);
        copy(&other, &from, (struct simulation_changes){ 0 });
        copy(&some, &from,
             (struct simulation_changes){ .systems = 2, .which = (size_t[]){ 2, 0 } });
        advance(&other, 19);
        advance(&some, 19);
        advance(&from, 19);
        for (size_t s = 0; s < 2; s++) /* each goes on with the state of its own system */
            assert_true(motion_equal(some.bodies, s, whole.bodies, s == 0 ? 2 : 0));
        simulation_destroy(&some);
        expect_equal(&from, &whole);
        expect_equal(&other, &whole);
        for (size_t s = 0; s < SYSTEMS; s++) {
            const struct work_done one = simulation_work_done(&other, s);
            const struct work_done two = simulation_work_done(&whole, s);
            assert_true(one.steps == two.steps && one.interactions == two.interactions);
            assert_true(one.smallest == two.smallest && one.time == two.time);
            if (integrator_has_stages(from.integrator)) /* one force in a step, of all pairs */
                assert_true(one.steps == 30 && one.interactions == 30.0 * COUNT * COUNT);
            assert_true(one.interactions > 0 && one.time <= 30.0 / 64);
        }
        simulation_destroy(&other);
        simulation_destroy(&from);
        simulation_destroy(&whole);
    }
}

/* Bodies that were moved by hand: only the systems that begin anew forget what was before. */
static void test_renew(void **state)
{
    (void)state;
    static const char *const integrators[] = { "velocity-verlet", "gauss-radau", "hermite4",
                                               "block-leapfrog" };
    for (size_t k = 0; k < COUNT_OF(integrators); k++) {
        struct simulation changed = make("openmp", integrators[k]), whole, moved;
        struct error error = { 0 };
        bool anew[SYSTEMS] = { false, true, false };
        whole = make("openmp", integrators[k]);
        start(&changed);
        start(&whole);
        advance(&changed, 10);
        advance(&whole, 20);
        for (size_t i = 0; i < COUNT; i++)
            changed.bodies->x[changed.bodies->stride + i] *= 1.01;
        copy(&moved, &changed, (struct simulation_changes){ .later = true });
        start(&moved); /* all of its systems begin anew */
        assert_int_equal(simulation_renew(&changed, anew, &error), STATUS_OK);
        advance(&changed, 10);
        advance(&moved, 10);
        assert_true(motion_equal(changed.bodies, 0, whole.bodies, 0));
        assert_true(motion_equal(changed.bodies, 1, moved.bodies, 1));
        assert_true(motion_equal(changed.bodies, 2, whole.bodies, 2));
        simulation_destroy(&changed);
        simulation_destroy(&whole);
        simulation_destroy(&moved);
    }
}

/* Those that are left go on as if all were there still, and remember how they began. */
static void test_keep(void **state)
{
    (void)state;
    static const char *const integrators[] = { "rk4", "gauss-radau", "hermite4", "block-leapfrog" };
    for (size_t k = 0; k < COUNT_OF(integrators); k++) {
        struct simulation fewer = make("openmp", integrators[k]), whole;
        struct error error = { 0 };
        whole = make("openmp", integrators[k]);
        start(&fewer);
        start(&whole);
        assert_int_equal(simulation_begin(&fewer, &error), STATUS_OK);
        const double before = fewer.first[2].potential;
        advance(&fewer, 10);
        advance(&whole, 20);
        assert_int_equal(simulation_keep(&fewer, (size_t[]){ 0, 2 }, 2, &error), STATUS_OK);
        advance(&fewer, 10);
        assert_int_equal(fewer.bodies->systems, 2);
        assert_true(motion_equal(fewer.bodies, 0, whole.bodies, 0));
        assert_true(motion_equal(fewer.bodies, 1, whole.bodies, 2));
        assert_true(fewer.first[1].potential == before);
        simulation_destroy(&fewer);
        simulation_destroy(&whole);
    }
}

/* The energy error is that of the conserved quantities, which the potentials tell as well. */
static void test_conserved_energy(void **state)
{
    (void)state;
    struct simulation simulation = make("openmp", "euler");
    struct error error = { 0 };
    start(&simulation);
    assert_int_equal(simulation_begin(&simulation, &error), STATUS_OK);
    const size_t length = bodies_length(simulation.bodies);
    double *const phi = memory_array(length, sizeof *phi, &error);
    double *const psi = memory_array(length, sizeof *psi, &error);
    advance(&simulation, 16);
    assert_int_equal(simulation_measure(&simulation, &error), STATUS_OK);
    assert_int_equal(simulation_potentials(&simulation, phi, psi, &error), STATUS_OK);
    for (size_t s = 0; s < SYSTEMS; s++) {
        struct conserved now;
        conserved_measure(simulation.bodies, s, phi, psi, &now);
        const double expected = conserved_energy_error(&simulation.first[s], &now);
        assert_close(simulation_energy_error(&simulation, s), expected, 1e-14); /* 32 epsilon */
        assert_true(fabs(expected) > 1e-6); /* Euler's, by far more than rounding */
    }
    memory_free(phi);
    memory_free(psi);
    simulation_destroy(&simulation);
}

/* The watch of a run judges by the same measure: its largest error is that of the worst system. */
static void test_the_watch_agrees(void **state)
{
    (void)state;
    static struct group groups[] = { { .name = "" }, { .name = "watch" } };
    static const struct schema schema = { groups, COUNT_OF(groups) };
    groups[1].parameters = watch_parameters;
    groups[1].parameter_count = watch_parameter_count;
    struct config *config = config_from(&schema, "watch = { };");
    struct simulation s = make("openmp", "euler");
    struct watch *watch;
    struct error error = { 0 };
    s.physics.units = units_find("nbody");
    start(&s);
    assert_int_equal(simulation_begin(&s, &error), STATUS_OK);
    struct moment now = { .dt = s.step,
                          .threads = 1,
                          .physics = &s.physics,
                          .bodies = s.bodies,
                          .conserved = s.now,
                          .first = s.first };
    const struct watch_method method = { s.options.force, s.integrator, 1e6 };
    assert_int_equal(watch_create(config_section(config, "watch"), &now, &method, &watch, &error),
                     STATUS_OK);
    assert_int_equal(
        watch_check(watch, &now, NEED_STATE | NEED_CONSERVED, false, NULL, NULL, &error),
        STATUS_OK);
    advance(&s, 16);
    assert_int_equal(simulation_measure(&s, &error), STATUS_OK);
    now.step = 16;
    now.time = 16 * s.step;
    assert_int_equal(
        watch_check(watch, &now, NEED_STATE | NEED_CONSERVED, true, NULL, NULL, &error), STATUS_OK);
    double largest = 0;
    for (size_t k = 0; k < SYSTEMS; k++)
        largest = fmax(largest, fabs(simulation_energy_error(&s, k)));
    assert_close(watch_energy_error(watch), largest, 4e-16); /* two roundings of another order */
    watch_destroy(watch);
    config_free(config);
    simulation_destroy(&s);
}

static bool is_asked(void *context)
{
    (void)context;
    return true;
}

/* Steps that were interrupted are taken back, and not counted. */
static void test_interrupted(void **state)
{
    (void)state;
    struct interruption interruption = { .asked = is_asked };
    struct simulation simulation = make("serial", "velocity-verlet");
    struct error error = { 0 };
    bodies_destroy(simulation.bodies);
    free(simulation.now);
    free(simulation.first);
    simulation.physics.interruption = &interruption;
    /* 4200^2 pairs are more than 2^24, from which on a sum may be interrupted. */
    assert_int_equal(simulation_take(&simulation, motion_cube(1, 4200, 9), &error), STATUS_OK);
    start(&simulation);
    assert_int_equal(simulation_advance(&simulation, 1, &error), STATUS_STOPPED);
    assert_true(simulation_work_done(&simulation, 0).steps == 0);
    simulation_destroy(&simulation);
}

/* Settings that cannot be started are refused, and the copy can be destroyed. */
static void test_refused(void **state)
{
    (void)state;
    struct simulation from = make("openmp", "velocity-verlet"), other;
    struct force_options force = from.options.force;
    struct error error = { 0 };
    force.precision = PRECISION_SINGLE;
    start(&from);
    const struct simulation_changes changes = { .integrator = integrator_find("gauss-radau"),
                                                .force = &force };
    assert_int_equal(simulation_copy(&other, &from, &changes, &error), STATUS_CONFIG);
    simulation_destroy(&other);
    simulation_destroy(&other); /* as all zero */
    simulation_destroy(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_refinement),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_on_the_way),
        cmocka_unit_test(test_renew),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_conserved_energy),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_the_watch_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
