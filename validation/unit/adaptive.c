/* Tests backends and checkpoints with integrators that choose their own steps: with one whose
 * steps count themselves and whose state is no part of the bodies. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/ranks.h"
#include "base/memory.h"
#include "motion-case.h"
#include "output/saved.h"

/* --- an integrator ---------------------------------------------------------------------------- */

/* Every grid step takes one step more than the one before it, and x grows by v dt and by an amount
 * that the state alone knows. */
struct counting {
    struct adaptive adaptive;
    struct bodies *bodies;
    double *drift;   /* of every system: its grid steps so far */
    uint64_t *steps; /* its own */
    struct adaptive_options options;
    struct force_options force;
    bool stuck;
};

static int alive; /* objects */

static const struct adaptive_class counting_class;

static enum status counting_create(const struct adaptive_options *options,
                                   const struct physics *physics, struct bodies *bodies,
                                   struct adaptive **adaptive, struct error *error)
{
    (void)physics;
    *adaptive = NULL;
    if (options->force->precision == PRECISION_SINGLE)
        return error_set(error, STATUS_CONFIG, "single: no");
    struct counting *const c = calloc(1, sizeof *c);
    c->adaptive.class_ = &counting_class;
    c->bodies = bodies;
    c->drift = calloc(bodies->systems, sizeof *c->drift);
    c->steps = calloc(bodies->systems, sizeof *c->steps);
    c->options = *options;
    c->force = *options->force;
    alive++;
    *adaptive = &c->adaptive;
    return STATUS_OK;
}

static enum status counting_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                    struct error *error)
{
    struct counting *const c = (struct counting *)adaptive;
    const struct bodies *const b = c->bodies;
    for (size_t s = 0; s < b->systems; s++)
        for (uint64_t step = 0; step < steps; step++) {
            c->drift[s] += 1;
            c->steps[s] += (uint64_t)c->drift[s];
            for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
                b->x[i] += dt * b->vx[i] + 1e-3 * c->drift[s];
        }
    c->stuck = dt < 0;
    return c->stuck ? error_set(error, STATUS_NUMERICAL, "system 1: stuck") : STATUS_OK;
}

static void counting_save(const struct adaptive *adaptive, const struct adaptive_writer *writer)
{
    const struct counting *const c = (const struct counting *)adaptive;
    writer->put(writer->context, "drift", c->drift, 1, c->bodies->systems, 0);
    writer->put(writer->context, "steps", c->steps, 1, c->bodies->systems, 0);
}

static enum status counting_load(struct adaptive *adaptive, const struct adaptive_reader *reader,
                                 struct error *error)
{
    struct counting *const c = (struct counting *)adaptive;
    const size_t systems = c->bodies->systems;
    const enum status status =
        reader->get(reader->context, "drift", c->drift, 1, systems, 0, error);
    return status ? status : reader->get(reader->context, "steps", c->steps, 1, systems, 0, error);
}

static void counting_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                          size_t from_system)
{
    ((struct counting *)to)->drift[to_system] = ((const struct counting *)from)->drift[from_system];
    ((struct counting *)to)->steps[to_system] = ((const struct counting *)from)->steps[from_system];
}

static void counting_statistics(const struct adaptive *adaptive, size_t system,
                                struct work_done *statistics)
{
    const struct counting *const c = (const struct counting *)adaptive;
    *statistics = (struct work_done){ .steps = (double)c->steps[system], .stuck = c->stuck };
}

static const char *counting_kernel(const struct adaptive *adaptive)
{
    return ((const struct counting *)adaptive)->options.kernels ? "counting" : NULL;
}

static double counting_bytes(const struct force_options *force, double systems, double count)
{
    (void)force;
    return 16 * systems * count;
}

static void counting_destroy(struct adaptive *adaptive)
{
    struct counting *const c = (struct counting *)adaptive;
    if (!c)
        return;
    free(c->drift);
    free(c->steps);
    free(c);
    alive--;
}

static const struct adaptive_class counting_class = {
    .create = counting_create,
    .advance = counting_advance,
    .save = counting_save,
    .load = counting_load,
    .copy_system = counting_copy,
    .statistics = counting_statistics,
    .kernel = counting_kernel,
    .bytes = counting_bytes,
    .destroy = counting_destroy,
};

static const struct integrator counts = { .variant = { .name = "counting", .help = "Counts." },
                                          .order = 1,
                                          .source = "none",
                                          .adaptive = &counting_class };

/* --- on backends ------------------------------------------------------------------------------ */

static const struct physics soft = { .gravitational_constant = 1, .softening = 0.05 };

static struct backend_options options_of(enum precision precision, int threads)
{
    return (struct backend_options){
        .force = { .precision = precision, .kernel = "auto", .isa = "auto", .threads = threads },
        .integrator = &counts
    };
}

static struct backend *start(const char *name, struct bodies *bodies)
{
    static struct error error;
    struct backend *backend;
    const struct backend_options options = options_of(PRECISION_DOUBLE, 2);
    if (backend_find(name)->create(&options, &soft, bodies, &backend, &error))
        fail_msg("%s", error.text);
    return backend;
}

static void advance(struct backend *backend, uint64_t steps)
{
    static struct error error;
    if (backend->class_->advance(backend, &counts, 0.01, steps, &error))
        fail_msg("%s", error.text);
}

static void test_backends_make_it_and_let_it_advance(void **state)
{
    (void)state;
    static const struct {
        const char *backend, *kernel, *asked;
        int threads;
    } cases[] = { { "serial", "reference", "reference", 1 }, { "openmp", "counting", "auto", 2 } };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *bodies = motion_cube(3, 40, 2), *before = motion_cube(3, 40, 2);
        struct backend *backend = start(cases[k].backend, bodies);
        const struct counting *own = (const struct counting *)backend->adaptive;
        struct backend_description description;
        backend->class_->describe(backend, &description);
        assert_string_equal(description.kernel, cases[k].kernel);
        assert_string_equal(own->force.kernel, cases[k].asked);
        assert_int_equal(own->force.threads, cases[k].threads);
        assert_true(own->options.refinement == 1);
        assert_true((own->options.kernels != NULL) == (k == 1));
        assert_true(own->bodies == bodies);
        advance(backend, 2);
        advance(backend, 0);
        advance(backend, 3);
        assert_close(bodies->x[0], before->x[0] + 5 * 0.01 * before->vx[0] + 15e-3, 1e-15);
        assert_int_equal(alive, 1);
        backend->class_->destroy(backend);
        assert_int_equal(alive, 0);
        bodies_destroy(bodies);
        bodies_destroy(before);
    }
}

/* Forces that somebody has looked at are not those of the next grid point. */
static void test_observed_forces_are_those_of_the_bodies_now(void **state)
{
    (void)state;
    static const char *const names[] = { "serial", "openmp" };
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        static struct error error;
        struct bodies *bodies = motion_cube(1, 40, 2);
        struct backend *backend = start(names[k], bodies);
        assert_int_equal(backend->class_->accelerations(backend, &error), STATUS_OK);
        const double before = bodies->ax[0];
        advance(backend, 7);
        assert_int_equal(backend->class_->accelerations(backend, &error), STATUS_OK);
        struct backend *anew = start(names[k], bodies);
        const double after = bodies->ax[0];
        assert_int_equal(backend->class_->accelerations(anew, &error), STATUS_OK);
        assert_true(after != before && bodies->ax[0] == after);
        backend->class_->destroy(backend);
        anew->class_->destroy(anew);
        bodies_destroy(bodies);
    }
}

static void test_failures_are_handed_up(void **state)
{
    (void)state;
    static struct error refused, stuck, coordinate;
    struct bodies *bodies = motion_cube(1, 40, 2);
    const struct backend_options single = options_of(PRECISION_SINGLE, 1);
    struct backend *backend;
    assert_int_equal(backend_openmp.create(&single, &soft, bodies, &backend, &refused),
                     STATUS_CONFIG);
    assert_null(backend);
    backend = start("openmp", bodies);
    assert_int_equal(backend_openmp.advance(backend, &counts, -1, 1, &stuck), STATUS_NUMERICAL);
    assert_string_equal(stuck.text, "system 1: stuck");
    bodies->vx[3] = INFINITY;
    assert_int_equal(backend_openmp.advance(backend, &counts, 1, 1, &coordinate), STATUS_NUMERICAL);
    assert_non_null(strstr(coordinate.text, "is not finite"));
    backend_openmp.destroy(backend);
    bodies_destroy(bodies);
    assert_int_equal(alive, 0);
}

/* For its steps, and whether or not a GPU is there, the CPU is taken for 4095 bodies, for two
 * systems of 4096 and for two ranks, though they have enough pairs; not for one system of 4096. */
static void test_auto_takes_the_cpu(void **state)
{
    (void)state;
    static const struct {
        size_t systems, count;
        int ranks;
        bool for_its_steps;
    } cases[] = {
        { 1, 4095, 1, true }, { 2, 4096, 1, true }, { 1, 4096, 1, false }, { 1, 4096, 2, true }
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bodies *bodies = motion_cube(cases[k].systems, cases[k].count, 2);
        struct backend_options options = options_of(PRECISION_DOUBLE, 2);
        struct backend *backend;
        struct error error = { 0 };
        options.ranks = cases[k].ranks;
        assert_int_equal(backend_find("auto")->create(&options, &soft, bodies, &backend, &error),
                         STATUS_OK);
        if (cases[k].for_its_steps) {
            assert_ptr_equal(backend->class_, &backend_openmp);
            assert_string_equal(backend->choice,
                                "counting chooses its own steps, for which auto takes a GPU if one "
                                "process has one system of at least 4096 bodies");
        } else
            assert_null(strstr(backend->choice, "its own steps"));
        backend->class_->destroy(backend);
        bodies_destroy(bodies);
    }
}

/* --- its state -------------------------------------------------------------------------------- */

static void test_a_system_goes_on_in_another_backend(void **state)
{
    (void)state;
    struct bodies *whole = motion_cube(3, 5, 2), *one = motion_bodies(1, 5);
    struct backend *backend = start("openmp", whole);
    advance(backend, 4);
    bodies_copy_system(one, 0, whole, 2);
    struct backend *other = start("serial", one);
    backend_copy_state(other, 0, backend, 2);
    advance(backend, 3);
    advance(other, 3);
    assert_true(motion_equal(one, 0, whole, 2));
    backend->class_->destroy(backend);
    other->class_->destroy(other);
    bodies_destroy(whole);
    bodies_destroy(one);
}

/* Writes a checkpoint of it and opens that. */
static struct checkpoint *keep(struct directory *directory, const struct backend *backend)
{
    struct error error = { 0 };
    struct checkpoint_writer *writer;
    struct checkpoint *checkpoint;
    assert_int_equal(checkpoint_begin(directory, &writer, &error), STATUS_OK);
    saved_put_adaptive(writer, "", &(struct backend){ 0 });
    saved_put_adaptive(writer, "twin:", backend);
    assert_int_equal(checkpoint_commit(writer, true, &error), STATUS_OK);
    assert_int_equal(checkpoint_open(directory, checkpoint_name, &checkpoint, &error), STATUS_OK);
    return checkpoint;
}

static void test_a_checkpoint_keeps_it(void **state)
{
    (void)state;
    char path[] = "adaptive-test-XXXXXX";
    struct directory *directory;
    struct error error = { 0 }, missing = { 0 };
    assert_non_null(mkdtemp(path));
    assert_int_equal(directory_open(path, DIRECTORY_NEW, &directory, &error), STATUS_OK);
    struct bodies *bodies = motion_cube(3, 5, 2), *later = motion_bodies(3, 5);
    struct backend *backend = start("openmp", bodies), *again = start("openmp", later);
    advance(backend, 4);
    for (size_t s = 0; s < 3; s++)
        bodies_copy_system(later, s, bodies, s);
    struct checkpoint *checkpoint = keep(directory, backend);
    assert_true(checkpoint_has(checkpoint, "twin:adaptive:drift"));
    assert_int_equal(saved_get_adaptive(checkpoint, "", again, &missing), STATUS_DATA);
    assert_int_equal(saved_get_adaptive(checkpoint, "twin:", again, &error), STATUS_OK);
    size_t different = 1;
    assert_int_equal(saved_compare_adaptive(checkpoint, "twin:", again, &different, &error),
                     STATUS_OK);
    assert_int_equal(different, 0);
    advance(backend, 3);
    advance(again, 3);
    assert_true(motion_equal(bodies, 2, later, 2));
    assert_int_equal(saved_compare_adaptive(checkpoint, "twin:", again, &different, &error),
                     STATUS_OK);
    assert_int_equal(different, 6); /* all words of three systems */
    assert_int_equal(saved_get_adaptive(checkpoint, "", &(struct backend){ 0 }, &error), STATUS_OK);
    checkpoint_close(checkpoint);
    backend->class_->destroy(backend);
    again->class_->destroy(again);
    bodies_destroy(bodies);
    bodies_destroy(later);
    directory_take(directory, checkpoint_name);
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backends_make_it_and_let_it_advance),
        cmocka_unit_test(test_observed_forces_are_those_of_the_bodies_now),
        cmocka_unit_test(test_failures_are_handed_up),
        cmocka_unit_test(test_auto_takes_the_cpu),
        cmocka_unit_test(test_a_system_goes_on_in_another_backend),
        cmocka_unit_test(test_a_checkpoint_keeps_it),
    };
    return cmocka_run_group_tests_name("adaptive", tests, NULL, NULL);
}
