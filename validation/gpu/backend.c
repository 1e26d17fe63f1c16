/* The GPU backend itself, on the executor or on a GPU: the verbs, many devices, little memory,
 * failures. */
#include "gpu-case.h"

#include "backend/backend.h"
#include "integrator/integrator.h"

static const double DT = 1.0 / 128;

static int reset(void **state)
{
    (void)state;
    executor_reset();
    return 0;
}

/* After every test: nothing of the driver's is left. */
static int check_leaks(void **state)
{
    (void)state;
    const struct executor_counts counts = executor_count();
    assert_int_equal(counts.allocated, 0);
    assert_int_equal(counts.streams + counts.events + counts.graphs + counts.locked, 0);
    return 0;
}

/* Skips a test for which only the executor has the means: more devices, less memory, failures. */
static void need_executor(void)
{
    if (executor_is_a_gpu)
        skip();
}

/* As many devices as are wanted on the executor; on a GPU's machine as many of them as it has, if
 * it has several. */
static int several_devices(int wanted)
{
    struct error error = { 0 };
    int count = wanted;
    if (executor_is_a_gpu && (gpu_device_count(&count, &error) || count < 2))
        skip();
    return count < wanted ? count : wanted;
}

static struct backend_options options(const char *kernel, enum precision precision, int devices)
{
    return (struct backend_options){
        .force = { .precision = precision, .kernel = kernel, .isa = "auto" }, .devices = devices
    };
}

static struct backend *make(const struct backend_class *class_, const struct backend_options *with,
                            const struct physics *physics, struct bodies *b)
{
    struct error error = { 0 };
    struct backend *backend;
    if (class_->create(with, physics, b, &backend, &error))
        fail_msg("%s", error.text);
    return backend;
}

static void advance(struct backend *backend, const char *integrator, uint64_t steps)
{
    struct error error = { 0 };
    if (backend->class_->advance(backend, integrator_find(integrator), DT, steps, &error))
        fail_msg("%s", error.text);
}

static void fetch(struct backend *backend)
{
    struct error error = { 0 };
    assert_int_equal(backend->class_->fetch(backend, &error), 0);
}

/* Positions after `steps` steps from the same start; the caller frees. */
static struct case_vectors motion(const struct backend_class *class_,
                                  const struct backend_options *with, const struct physics *physics,
                                  const char *integrator, size_t systems, size_t count,
                                  uint64_t steps)
{
    struct bodies *b = case_bodies(systems, count, 21);
    struct backend *backend = make(class_, with, physics, b);
    advance(backend, integrator, steps);
    fetch(backend);
    backend->class_->destroy(backend);
    const struct case_vectors x = case_save(b, b->x, b->y, b->z);
    bodies_destroy(b);
    return x;
}

static double largest_difference(struct case_vectors a, struct case_vectors b)
{
    double worst = 0;
    for (size_t i = 0; i < 3 * a.length; i++)
        worst = fmax(worst, fabs(a.a[i] - b.a[i]));
    return worst;
}

/*
 * Fifty steps of soft bodies do not yet amplify differences much: 1e-12 is some thousand roundings
 * of fp64; a wrong coefficient or a lost stage is 1e-3. All sizes: systems that stay in a block,
 * several to a block, and those that are launched step by step, by graphs.
 */
static void test_integrators_agree_with_the_serial_backend(void **state)
{
    (void)state;
    const struct backend_options cuda = options("auto", PRECISION_DOUBLE, 1);
    const struct backend_options serial = options("auto", PRECISION_DOUBLE, 1);
    const size_t counts[] = { 3, 65, 300 };
    const struct integrator *integrator;
    for (size_t k = 0; integrator_has_stages(integrator = integrator_at(k)); k++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            const uint64_t steps = n < 2 ? 50 : 3;
            const char *name = integrator->variant.name;
            struct case_vectors x =
                motion(&backend_cuda, &cuda, &case_soft, name, 2, counts[n], steps);
            struct case_vectors y =
                motion(&backend_serial, &serial, &case_soft, name, 2, counts[n], steps);
            const double difference = largest_difference(x, y);
            if (!(difference < 1e-12))
                fail_msg("%s, %zu bodies: %g", name, counts[n], difference);
            free(x.a);
            free(y.a);
        }
}

/*
 * Tests every number of bodies that a block can keep, and some that it cannot; with few bodies
 * there are enough systems for full blocks and one that is not. fp32 forces are within 1e-5 of the
 * pull of all, and the step is short.
 */
static void test_every_number_of_bodies(void **state)
{
    (void)state;
    const struct backend_options serial = options("auto", PRECISION_DOUBLE, 1);
    for (size_t count = 1; count <= 300; count += count < 70 || thorough() ? 1 : 7) {
        const size_t systems = count < 9 ? 130 : 1;
        struct case_vectors y =
            motion(&backend_serial, &serial, &case_soft, "semi-implicit-euler", systems, count, 1);
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
            const struct backend_options cuda = options("auto", (enum precision)p, 1);
            struct case_vectors x =
                motion(&backend_cuda, &cuda, &case_soft, "semi-implicit-euler", systems, count, 1);
            const double difference = largest_difference(x, y);
            if (!(difference < (p == PRECISION_DOUBLE ? 1e-12 : 1e-5)))
                fail_msg("%zu bodies, %s: %g", count, precision_names[p], difference);
            free(x.a);
        }
        free(y.a);
    }
}

/* The experiment of many galaxies (experiments B) in small: equal masses, semi-implicit Euler,
 * fp32 forces; positions within 1e-3 of the CPU's. */
static void test_many_galaxies(void **state)
{
    (void)state;
    enum { SYSTEMS = 4, COUNT = 128, STEPS = 60 };
    const struct backend_class *const classes[] = { &backend_cuda, &backend_serial };
    struct case_vectors x[2];
    for (int k = 0; k < 2; k++) {
        const struct backend_options with =
            options("auto", k == 0 ? PRECISION_SINGLE : PRECISION_DOUBLE, 1);
        struct bodies *b = case_bodies(SYSTEMS, COUNT, 22);
        case_equal_masses(b, 1.0 / COUNT);
        struct backend *backend = make(classes[k], &with, &case_soft, b);
        advance(backend, "semi-implicit-euler", STEPS);
        fetch(backend);
        backend->class_->destroy(backend);
        x[k] = case_save(b, b->x, b->y, b->z);
        bodies_destroy(b);
    }
    assert_close(largest_difference(x[0], x[1]), 0, 1e-3);
    assert_true(largest_difference(x[0], x[1]) > 0); /* fp32 did compute it */
    free(x[0].a);
    free(x[1].a);
}

/* In one go and in three, with all observers between them. 300 bodies are launched step by step,
 * more than 32 of them as graphs; 60 stay in a block. */
static void test_advance_in_parts_gives_the_same_bits(void **state)
{
    (void)state;
    const char *const integrators[] = { "velocity-verlet", "euler", "yoshida4" };
    const size_t counts[] = { 60, 300 };
    for (size_t k = 0; k < COUNT_OF(integrators); k++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            const struct backend_options with = options("auto", PRECISION_SINGLE, 1);
            struct case_vectors whole =
                motion(&backend_cuda, &with, &case_soft, integrators[k], 1, counts[n], 42);
            struct bodies *b = case_bodies(1, counts[n], 21);
            struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
            struct error error = { 0 };
            struct conserved conserved;
            double *phi = malloc(2 * bodies_length(b) * sizeof *phi);
            advance(backend, integrators[k], 3);
            assert_int_equal(backend_cuda.accelerations(backend, &error), 0);
            advance(backend, integrators[k], 38);
            assert_int_equal(backend_cuda.conserved(backend, &conserved, &error), 0);
            assert_int_equal(backend_cuda.potentials(backend, phi, phi + bodies_length(b), &error),
                             0);
            advance(backend, integrators[k], 1);
            fetch(backend);
            backend_cuda.destroy(backend);
            struct case_vectors parts = case_save(b, b->x, b->y, b->z);
            if (!case_same(whole, parts))
                fail_msg("%s, %zu bodies: other bits in parts", integrators[k], counts[n]);
            free(whole.a);
            free(parts.a);
            free(phi);
            bodies_destroy(b);
        }
}

/* A new backend on the fetched state: what a restart does. */
static void test_restart_gives_the_same_bits(void **state)
{
    (void)state;
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        const struct backend_options with = options("auto", (enum precision)p, 1);
        struct case_vectors whole =
            motion(&backend_cuda, &with, &case_periodic, "velocity-verlet", 2, 70, 9);
        struct bodies *b = case_bodies(2, 70, 21);
        for (int part = 0; part < 3; part++) {
            struct backend *backend = make(&backend_cuda, &with, &case_periodic, b);
            advance(backend, "velocity-verlet", 3);
            fetch(backend);
            backend_cuda.destroy(backend);
        }
        struct case_vectors parts = case_save(b, b->x, b->y, b->z);
        assert_true(case_same(whole, parts));
        free(whole.a);
        free(parts.a);
        bodies_destroy(b);
    }
}

/* The results on which all the ways to use devices must agree: state, energies and potentials. */
struct outcome {
    struct case_vectors x, a;
    struct conserved conserved[8];
    double *phi;
};

/* Notes the positions and accelerations at the end, and destroys the backend and the bodies. */
static void end(struct backend *backend, struct bodies *b, struct outcome *outcome)
{
    struct error error = { 0 };
    assert_int_equal(backend->class_->accelerations(backend, &error), 0);
    fetch(backend);
    backend->class_->destroy(backend);
    outcome->x = case_save(b, b->x, b->y, b->z);
    outcome->a = case_save_accelerations(b);
    bodies_destroy(b);
}

static struct outcome run_by(const struct backend_class *class_, const struct backend_options *with,
                             const struct physics *physics, const char *integrator, size_t systems,
                             size_t count, uint64_t steps)
{
    struct error error = { 0 };
    struct outcome outcome;
    struct bodies *b = case_bodies(systems, count, 23);
    struct backend *backend = make(class_, with, physics, b);
    outcome.phi = memory_array(2 * bodies_length(b), sizeof(double), &error);
    advance(backend, integrator, steps);
    assert_int_equal(class_->conserved(backend, outcome.conserved, &error), 0);
    assert_int_equal(
        class_->potentials(backend, outcome.phi, outcome.phi + bodies_length(b), &error), 0);
    advance(backend, integrator, 1);
    end(backend, b, &outcome);
    return outcome;
}

static struct outcome run(const struct backend_options *with, size_t systems, size_t count,
                          uint64_t steps)
{
    return run_by(&backend_cuda, with, &case_soft, "velocity-verlet", systems, count, steps);
}

static void expect_outcome(struct outcome got, struct outcome expected, size_t systems)
{
    assert_true(case_same(got.x, expected.x));
    assert_true(case_same(got.a, expected.a));
    assert_memory_equal(got.conserved, expected.conserved, systems * sizeof *got.conserved);
    assert_memory_equal(got.phi, expected.phi, 2 * got.x.length * sizeof(double));
    free(got.x.a);
    free(got.a.a);
    memory_free(got.phi);
}

static void free_outcome(struct outcome outcome)
{
    free(outcome.x.a);
    free(outcome.a.a);
    memory_free(outcome.phi);
}

/* 5 systems on 1, 2 and 3 devices; 1 system of 600 bodies on 1, 2 and 3: 256 + 256 + 88; and 2
 * systems on 3. The executor works queues off in any order that events allow; where the tests are
 * not thorough, a sixth of the orders and numbers of devices, others for each precision. */
static void test_devices_change_no_bits(void **state)
{
    (void)state;
    not_sanitized();
    const int devices = several_devices(3);
    const int last = executor_is_a_gpu ? EXECUTOR_FORWARD : EXECUTOR_SHUFFLED;
    const bool every = executor_is_a_gpu || thorough();
    const size_t systems[] = { 5, 1, 2 }, counts[] = { 40, 600, 600 };
    for (size_t k = 0; k < COUNT_OF(systems); k++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
            executor_reset();
            struct backend_options with = options("blocked", (enum precision)p, 1);
            const struct outcome expected = run(&with, systems[k], counts[k], 3);
            executor_settings.devices = devices;
            for (with.devices = 0; with.devices <= devices; with.devices++)
                for (int order = EXECUTOR_FORWARD; order <= last; order++) {
                    if (!every && (order + (int)with.devices + p + (int)k) % 6 != 0)
                        continue;
                    executor_settings.order = (enum executor_order)order;
                    expect_outcome(run(&with, systems[k], counts[k], 3), expected, systems[k]);
                }
            free_outcome(expected);
        }
}

/* Forces, motion and energies of the kernel `portable` are those of the serial backend, for every
 * integrator with fixed steps; 33 steps are more than two graphs. */
static void test_portable_has_the_bits_of_a_cpu(void **state)
{
    (void)state;
    const struct physics *const spaces[] = { &case_soft, &case_sharp, &case_periodic };
    const size_t shapes[][2] = { { 1, 2 }, { 3, 65 }, { 1, 300 } };
    const struct backend_options one = options("portable", PRECISION_DOUBLE, 1);
    struct backend_options threads = one, devices = one;
    threads.force.threads = 3;
    devices.devices = 0;
    executor_settings.devices = 2;
    for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++)
        for (size_t n = 0; n < COUNT_OF(shapes); n++) {
            const char *const name = integrator_at(k)->variant.name;
            const struct physics *const physics = spaces[(k + n) % COUNT_OF(spaces)];
            const size_t systems = shapes[n][0], count = shapes[n][1];
            const uint64_t steps = n < 2 && !k ? 33 : 3;
            const struct outcome expected =
                run_by(&backend_serial, &one, physics, name, systems, count, steps);
            expect_outcome(run_by(&backend_openmp, &threads, physics, name, systems, count, steps),
                           expected, systems);
            expect_outcome(run_by(&backend_cuda, &one, physics, name, systems, count, steps),
                           expected, systems);
            expect_outcome(run_by(&backend_cuda, &devices, physics, name, systems, count, steps),
                           expected, systems);
            free_outcome(expected);
        }
}

/*
 * A process that moves some of the bodies, 240 to 320 of 600, beside others: these are played from
 * a run of one process, whose state after every step was kept. Positions are exchanged after every
 * drift, velocities and potentials for the conserved sums.
 */
struct others {
    struct bodies *b;
    struct case_vectors x[4], v; /* after as many steps; at the end */
    const double *phi;           /* and psi, at the end */
    size_t first, last, gathered;
};

static void play(void *context, double *const arrays[], size_t count)
{
    struct others *others = context;
    const size_t length = bodies_length(others->b);
    const double *from[5];
    if (count == 3)
        others->gathered++;
    for (size_t k = 0; k < count; k++)
        from[k] = count == 3 ? others->x[others->gathered].a + k * length
                  : k < 3    ? others->v.a + k * length
                             : others->phi + (k - 3) * length;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < others->b->count; i++)
            if (i < others->first || i >= others->last)
                arrays[k][i] = from[k][i];
}

static void test_a_share_of_the_bodies(void **state)
{
    (void)state;
    enum { COUNT = 600, STEPS = 3 };
    struct error error = { 0 };
    struct bodies *whole = case_bodies(1, COUNT, 32), *b = case_bodies(1, COUNT, 32);
    const size_t length = bodies_length(b), first = 240, own = 80;
    double *phi = calloc(4 * length, sizeof(double)), *own_phi = phi + 2 * length;
    struct others others = { .b = b, .phi = phi, .first = first, .last = first + own };
    struct backend_options with = options("auto", PRECISION_MIXED, 1);
    struct conserved expected, got;
    struct backend *backend = make(&backend_cuda, &with, &case_soft, whole);
    for (size_t k = 1; k <= STEPS; k++) {
        advance(backend, "velocity-verlet", 1);
        fetch(backend);
        others.x[k] = case_save(whole, whole->x, whole->y, whole->z);
    }
    others.v = case_save(whole, whole->vx, whole->vy, whole->vz);
    assert_int_equal(backend_cuda.conserved(backend, &expected, &error), 0);
    assert_int_equal(backend_cuda.potentials(backend, phi, phi + length, &error), 0);
    backend_cuda.destroy(backend);

    const struct backend_peers peers = { .context = &others, .all_gather = play };
    with.peers = &peers;
    with.force.share =
        (struct force_share){ .part = 1, .parts = 3, .first = first, .last = first + own };
    backend = make(&backend_cuda, &with, &case_soft, b);
    advance(backend, "velocity-verlet", STEPS);
    assert_int_equal(backend_cuda.conserved(backend, &got, &error), 0);
    assert_int_equal(backend_cuda.potentials(backend, own_phi, own_phi + length, &error), 0);
    fetch(backend);
    assert_int_equal(others.gathered, STEPS);
    assert_memory_equal(b->x + first, whole->x + first, own * sizeof(double));
    assert_memory_equal(b->vz + first, whole->vz + first, own * sizeof(double));
    assert_memory_equal(own_phi + first, phi + first, own * sizeof(double));
    assert_memory_equal(own_phi + length + first, phi + length + first, own * sizeof(double));
    assert_memory_equal(&got, &expected, sizeof got);
    backend_cuda.destroy(backend);
    for (size_t k = 1; k <= STEPS; k++)
        free(others.x[k].a);
    free(others.v.a);
    free(phi);
    bodies_destroy(whole);
    bodies_destroy(b);
}

/* Each process on a machine takes the next GPUs, and begins again with the first. */
static void test_processes_take_turns_with_the_devices(void **state)
{
    (void)state;
    need_executor();
    static const struct {
        int node_rank, devices;
        const char *first;
    } cases[] = { { 0, 1, "GPU 0" },
                  { 1, 1, "GPU 1" },
                  { 4, 1, "GPU 1" },
                  { 1, 2, "GPU 2" },
                  { 1, 0, "GPU 0" } };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        executor_reset();
        executor_settings.devices = 3;
        executor_settings.failing_allocation = 1;
        struct backend_options with = options("auto", PRECISION_DOUBLE, cases[k].devices);
        with.node_rank = cases[k].node_rank;
        struct error error = { 0 };
        struct backend *backend;
        struct bodies *b = case_bodies(3, 40, 33);
        assert_int_equal(backend_cuda.create(&with, &case_soft, b, &backend, &error),
                         STATUS_MEMORY);
        if (!strstr(error.text, cases[k].first))
            fail_msg("'%s' does not say '%s'", error.text, cases[k].first);
        bodies_destroy(b);
    }
}

/* 8 systems through a memory for two or three of them, in batches over three slots. */
static void test_streaming_changes_no_bits(void **state)
{
    (void)state;
    need_executor();
    const struct backend_options with = options("auto", PRECISION_MIXED, 0);
    const struct outcome expected = run(&with, 8, 70, 3);
    const size_t memories[] = { 150000, 250000 };
    for (size_t k = 0; k < COUNT_OF(memories); k++)
        for (int devices = 1; devices <= 2; devices++)
            for (int order = EXECUTOR_FORWARD; order <= EXECUTOR_SHUFFLED; order++) {
                executor_settings.memory = memories[k];
                executor_settings.devices = devices;
                executor_settings.order = (enum executor_order)order;
                expect_outcome(run(&with, 8, 70, 3), expected, 8);
            }
    free_outcome(expected);
}

/* Returns the bytes of the devices' memory that the backend takes for 8 systems, and checks that
 * its description says whether they pass through in batches. */
static size_t taken_by(const struct backend_options *with)
{
    struct backend_description description;
    struct bodies *b = case_bodies(8, 70, 23);
    struct backend *backend = make(&backend_cuda, with, &case_soft, b);
    const size_t taken = executor_count().allocated;
    backend_cuda.describe(backend, &description);
    assert_true(with->stream == (strstr(description.device, ", systems in batches") != NULL));
    backend_cuda.destroy(backend);
    bodies_destroy(b);
    return taken;
}

/* On a device with few units for fp64 potentials are computed in pairs of floats, from 33 bodies
 * on; their bits are the same, however systems are divided or streamed. */
static void test_energies_of_devices_with_little_fp64(void **state)
{
    (void)state;
    need_executor();
    struct backend_options with = options("auto", PRECISION_MIXED, 1);
    const size_t counts[] = { 32, 33, 600 };
    static const int ratios[] = { 2, 32, 64 };
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        with.devices = 1;
        executor_reset();
        const struct outcome full = run(&with, 2, counts[n], 1);
        for (size_t k = 1; k < COUNT_OF(ratios); k++) {
            executor_reset();
            executor_settings.fp64_ratio = ratios[k];
            with.devices = 1;
            const struct outcome in = run(&with, 2, counts[n], 1);
            const bool same = memcmp(in.phi, full.phi, 2 * in.x.length * sizeof(double)) == 0;
            assert_int_equal(same, counts[n] == 32);
            for (size_t s = 0; s < 2; s++) {
                const double U = full.conserved[s].potential;
                assert_close(in.conserved[s].potential, U, 3e-15 * fabs(U));
                assert_close(in.conserved[s].virial, full.conserved[s].virial, 3e-14 * fabs(U));
            }
            executor_settings.devices = with.devices = 3;
            expect_outcome(run(&with, 2, counts[n], 1), in, 2);
            with.devices = 1;
            with.stream = true;
            expect_outcome(run(&with, 2, counts[n], 1), in, 2);
            with.stream = false;
            free_outcome(in);
        }
        free_outcome(full);
    }
}

/* Systems that all have room, streamed because the options ask for it: six batches of each device's
 * systems through three slots of its memory. */
static void test_streaming_that_is_asked_for(void **state)
{
    (void)state;
    struct backend_options with = options("auto", PRECISION_MIXED, 1);
    const struct outcome expected = run(&with, 8, 70, 3);
    const size_t all = taken_by(&with);
    with.stream = true;
    assert_true(executor_is_a_gpu || taken_by(&with) < all);
    expect_outcome(run(&with, 8, 70, 3), expected, 8);
    if (!executor_is_a_gpu) {
        executor_settings.devices = with.devices = 2;
        executor_settings.order = EXECUTOR_SHUFFLED;
        expect_outcome(run(&with, 8, 70, 3), expected, 8);
    }
    free_outcome(expected);
}

/* Two systems, of which the memory has room for one and no batch beside it. */
static void test_streaming_through_the_room_of_one_system(void **state)
{
    (void)state;
    need_executor();
    const struct backend_options with = options("auto", PRECISION_DOUBLE, 1);
    const struct outcome expected = run(&with, 2, 270, 3);
    const size_t memories[] = { 141000, 200000 };
    for (size_t k = 0; k < COUNT_OF(memories); k++) {
        executor_settings.memory = memories[k];
        expect_outcome(run(&with, 2, 270, 3), expected, 2);
    }
    free_outcome(expected);
}

static void test_no_room_for_one_system(void **state)
{
    (void)state;
    need_executor();
    struct error error = { 0 };
    struct backend *backend;
    struct bodies *b = case_bodies(2, 200, 24);
    const struct backend_options with = options("auto", PRECISION_DOUBLE, 1);
    executor_settings.memory = 20000;
    assert_int_equal(backend_cuda.create(&with, &case_soft, b, &backend, &error), STATUS_MEMORY);
    assert_non_null(strstr(error.text, "a system needs"));
    assert_non_null(strstr(error.text, "0.0 MiB are free, of which it may take nine tenths"));
    bodies_destroy(b);
}

/* check_leaks() finds what a part that is given to nobody would leave. */
static void test_a_fill_that_is_refused(void **state)
{
    (void)state;
    need_executor();
    for (int k = 1; k <= 2; k++) {
        struct error error = { 0 };
        struct backend *backend;
        struct bodies *b = case_bodies(4, 40, 24);
        const struct backend_options with = options("auto", PRECISION_DOUBLE, 2);
        executor_reset();
        executor_settings.devices = 2;
        executor_settings.failing_fill = k;
        assert_int_equal(backend_cuda.create(&with, &case_soft, b, &backend, &error),
                         STATUS_UNAVAILABLE);
        assert_null(backend);
        assert_non_null(strstr(error.text, k == 1 ? "GPU 0: clearing" : "GPU 1: clearing"));
        bodies_destroy(b);
    }
}

/* The device's sums against those of the host on the reference's potentials. A sum of n terms in
 * fp64 is good to a few 1e-16 of the sum of their sizes. */
static void test_conserved_sums(void **state)
{
    (void)state;
    const struct physics *const spaces[] = { &case_soft, &case_sharp, &case_periodic };
    const size_t counts[] = { 1, 37, 300, 600 };
    for (size_t k = 0; k < COUNT_OF(spaces); k++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            struct error error = { 0 };
            struct bodies *b = case_bodies(2, counts[n], 25);
            for (size_t i = b->stride; i < b->stride + b->count; i++)
                b->vy[i] += 40.0; /* one of them moves as a whole */
            const struct backend_options with = options("auto", PRECISION_SINGLE, 1);
            struct backend *backend = make(&backend_cuda, &with, spaces[k], b);
            struct conserved got[2], expected;
            double *phi = malloc(2 * bodies_length(b) * sizeof *phi);
            double *psi = phi + bodies_length(b);
            assert_int_equal(backend_cuda.conserved(backend, got, &error), 0);
            reference_potentials(spaces[k], b, phi, psi);
            for (size_t s = 0; s < 2; s++) {
                conserved_measure(b, s, phi, psi, &expected);
                const double large = fmax(expected.kinetic, fabs(expected.potential));
                const double fastest = s == 0 ? 1.0 : 50.0, sum = fastest * expected.mass;
                /* 1e-14 of the speed of the whole changes each body's by that. */
                assert_close(got[s].internal, expected.internal,
                             1e-13 * fmax(expected.internal, sum));
                assert_close(got[s].mass, expected.mass, 1e-14 * expected.mass);
                assert_close(got[s].kinetic, expected.kinetic, 1e-14 * large);
                assert_close(got[s].potential, expected.potential, 1e-14 * large);
                assert_close(got[s].virial, expected.virial, 1e-14 * large);
                for (int c = 0; c < 3; c++) {
                    assert_close(got[s].momentum[c], expected.momentum[c], 1e-14 * sum);
                    assert_close(got[s].angular_momentum[c], expected.angular_momentum[c],
                                 1e-14 * sum);
                    assert_close(got[s].center[c], expected.center[c], 1e-14);
                }
            }
            backend_cuda.destroy(backend);
            free(phi);
            bodies_destroy(b);
        }
}

/*
 * 270 bodies are launched step by step: 33 steps and more by graphs, fewer without. What the last
 * graph was made for must be what it is used for: the step, the integrator and the number of
 * systems change one by one.
 */
static void test_a_graph_is_used_for_what_it_was_made_for(void **state)
{
    (void)state;
    static const struct {
        const char *integrator;
        double dt;
        size_t systems;
    } legs[] = { { "velocity-verlet", 1.0 / 128, 1 },
                 { "velocity-verlet", 1.0 / 256, 1 },
                 { "leapfrog-dkd", 1.0 / 256, 1 },
                 { "leapfrog-dkd", 1.0 / 256, 2 } };
    enum { STEPS = 34 };
    struct case_vectors x[2];
    for (int graphs = 0; graphs < 2; graphs++) {
        struct bodies *b = case_bodies(2, 270, 38);
        struct case_device on;
        case_open(&on, b, &case_soft, "auto", PRECISION_SINGLE, NULL, b->count);
        const size_t part = graphs ? STEPS : STEPS / 2;
        for (size_t k = 0; k < COUNT_OF(legs); k++)
            for (size_t done = 0; done < STEPS; done += part) {
                case_upload(&on, legs[k].systems);
                case_advance(&on, legs[k].integrator, legs[k].dt, part);
                case_fetch(&on);
            }
        assert_true(executor_is_a_gpu || (executor_count().graphs > 0) == graphs);
        case_close(&on);
        x[graphs] = case_save(b, b->x, b->y, b->z);
        bodies_destroy(b);
    }
    assert_true(case_same(x[0], x[1]));
    free(x[0].a);
    free(x[1].a);
}

/* Steps of systems that one launch takes on an executor of STEP_MULTIPROCESSORS: 520 bodies have
 * more segments than threads for each body, and 35 steps and more make graphs. */
enum { STEP_MULTIPROCESSORS = 17 };
static const struct {
    size_t systems, count;
    const char *integrator;
    uint64_t steps;
    bool equal; /* masses */
    const struct physics *physics;
} step_cases[] = {
    { 1, 520, "velocity-verlet", 2, false, &case_soft },
    { 1, 270, "leapfrog-dkd", 35, true, &case_soft },
    { 2, 200, "velocity-verlet", 36, false, &case_sharp },
    { 1, 150, "pefrl", 34, false, &case_periodic },
    { 1, 150, "rk4", 34, false, &case_soft },
};

/* The state after steps in two parts, of which the second begins with the sources in the other
 * array if the first has an odd number of steps, and the conserved sums after each. */
struct step_result {
    struct case_vectors x, v, a;
    double sums[2][2 * GPU_SUM_COUNT];
    size_t launches; /* of the first part */
};

static struct step_result steps_of_case(size_t which, enum precision precision,
                                        enum gpu_steps steps)
{
    struct step_result result = { .launches = 0 };
    struct error error = { 0 };
    struct case_device on;
    struct bodies *b = case_bodies(step_cases[which].systems, step_cases[which].count, 50 + which);
    if (step_cases[which].equal)
        case_equal_masses(b, 0.0371);
    case_steps = steps;
    executor_settings.multiprocessors = STEP_MULTIPROCESSORS;
    case_open(&on, b, step_cases[which].physics, "blocked", precision, NULL, b->count);
    case_steps = GPU_STEPS_EARLY;
    case_upload(&on, b->systems);
    for (size_t k = 0; k < COUNT_OF(result.sums); k++) {
        const size_t before = executor_count().launches;
        case_advance(&on, step_cases[which].integrator, DT, step_cases[which].steps + k);
        if (k == 0)
            result.launches = executor_count().launches - before;
        assert_int_equal(gpu_observe_conserved(&on.team, result.sums[k], &error), 0);
        assert_int_equal(gpu_part_wait(on.part, NULL, &error), 0);
    }
    case_fetch(&on);
    case_close(&on);
    result.x = case_save(b, b->x, b->y, b->z);
    result.v = case_save(b, b->vx, b->vy, b->vz);
    result.a = case_save_accelerations(b);
    bodies_destroy(b);
    return result;
}

static void free_steps(struct step_result result)
{
    free(result.x.a);
    free(result.v.a);
    free(result.a.a);
}

static void expect_steps(struct step_result found, const struct step_result *expected, size_t which)
{
    if (!case_same(found.x, expected->x) || !case_same(found.v, expected->v) ||
        !case_same(found.a, expected->a) || memcmp(found.sums, expected->sums, sizeof found.sums))
        fail_msg("%s, %zu bodies: other bits in one launch", step_cases[which].integrator,
                 step_cases[which].count);
    free_steps(found);
}

/* One launch for a step gives the bits of two, in whatever order its blocks and threads run. Where
 * the tests are not thorough, a half of the cases for each precision, each with one of the orders.
 */
static void test_one_launch_for_a_step_changes_no_bits(void **state)
{
    (void)state;
    const bool every = executor_is_a_gpu || thorough();
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++)
        for (size_t k = 0; k < COUNT_OF(step_cases); k++) {
            if (!every && (k + (size_t)p) % 2)
                continue;
            executor_settings.order = EXECUTOR_FORWARD;
            const struct step_result apart = steps_of_case(k, (enum precision)p, GPU_STEPS_APART);
            for (int order = EXECUTOR_FORWARD; order <= EXECUTOR_SHUFFLED; order++) {
                if (!every && (order + p + (int)k / 2) % 3 != 0)
                    continue;
                executor_settings.order = (enum executor_order)order;
                expect_steps(steps_of_case(k, (enum precision)p, GPU_STEPS_EARLY), &apart, k);
            }
            expect_steps(steps_of_case(k, (enum precision)p, GPU_STEPS_IN_ORDER), &apart, k);
            free_steps(apart);
        }
}

/* A step of velocity Verlet is one launch, or two: with two steps, the first forces take the same
 * launches in both cases, and the two steps two launches less in one. */
static void test_one_launch_for_a_step_is_one(void **state)
{
    (void)state;
    need_executor();
    const struct step_result apart = steps_of_case(0, PRECISION_SINGLE, GPU_STEPS_APART);
    const struct step_result one = steps_of_case(0, PRECISION_SINGLE, GPU_STEPS_EARLY);
    assert_int_equal(apart.launches - one.launches, 2 - 1); /* it packs a second array */
    free_steps(apart);
    free_steps(one);
}

/* Tests four systems that take turns in the memory for three: none stays in a block, since each
 * needs the sources of its own bodies. */
static void test_streaming_of_large_systems_changes_no_bits(void **state)
{
    (void)state;
    need_executor();
    const struct backend_options with = options("auto", PRECISION_MIXED, 1);
    const struct outcome expected = run(&with, 4, 520, 2);
    executor_settings.memory = 1100000;
    expect_outcome(run(&with, 4, 520, 2), expected, 4);
    free_outcome(expected);
}

/* Without softening two bodies in one place have no potential of each other: for each it is that of
 * the others, as the reference has it. */
static void test_potentials_of_coincident_bodies(void **state)
{
    (void)state;
    const struct physics periodic = { .gravitational_constant = 1.0625,
                                      .boundary = BOUNDARY_PERIODIC,
                                      .box_length = 1.375 };
    const struct physics *const spaces[] = { &case_sharp, &periodic, &case_soft };
    const size_t counts[] = { 2, 3, 40, 300 };
    for (size_t k = 0; k < COUNT_OF(spaces); k++)
        for (size_t n = 0; n < COUNT_OF(counts); n++) {
            struct error error = { 0 };
            struct bodies *b = case_bodies(1, counts[n], 39);
            const size_t length = bodies_length(b), last = counts[n] - 1;
            b->x[last] = b->x[0], b->y[last] = b->y[0], b->z[last] = b->z[0];
            if (spaces[k] == &periodic)
                b->x[last] += 3 * periodic.box_length;
            double *phi = calloc(4 * length, sizeof *phi), *expected = phi + 2 * length;
            const struct backend_options with = options("auto", PRECISION_SINGLE, 1);
            struct backend *backend = make(&backend_cuda, &with, spaces[k], b);
            assert_int_equal(backend_cuda.potentials(backend, phi, phi + length, &error), 0);
            backend_cuda.destroy(backend);
            reference_potentials(spaces[k], b, expected, expected + length);
            for (size_t i = 0; i < counts[n]; i++) {
                assert_close(phi[i], expected[i], 1e-14 * fabs(expected[i]));
                assert_close(phi[length + i], expected[length + i], 1e-14 * fabs(expected[i]));
            }
            free(phi);
            bodies_destroy(b);
        }
}

/* Equal masses have a unit of their own in fp64 too: energies and potentials do not show it. */
static void test_potentials_of_equal_masses(void **state)
{
    (void)state;
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        struct error error = { 0 };
        struct bodies *b = case_bodies(2, 90, 40);
        const size_t length = bodies_length(b);
        case_equal_masses(b, 0.0371);
        b->m[b->stride] = 1.5; /* of the second system */
        double *phi = calloc(4 * length, sizeof *phi), *expected = phi + 2 * length;
        const struct backend_options with = options("auto", (enum precision)p, 1);
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        assert_int_equal(backend_cuda.potentials(backend, phi, phi + length, &error), 0);
        backend_cuda.destroy(backend);
        reference_potentials(&case_soft, b, expected, expected + length);
        for (size_t i = 0; i < length; i++)
            if (i % b->stride < b->count) {
                assert_close(phi[i], expected[i], 1e-14 * fabs(expected[i]));
                assert_close(phi[length + i], expected[length + i], 1e-14 * fabs(expected[i]));
            }
        free(phi);
        bodies_destroy(b);
    }
}

/* Devices that divide a system copy from each other's memory, each from each, and those that do not
 * have no need to. */
static void test_devices_of_a_divided_system_are_connected(void **state)
{
    (void)state;
    need_executor();
    const size_t systems[] = { 3, 1 }, connected[] = { 0, 6 };
    for (size_t k = 0; k < COUNT_OF(systems); k++) {
        executor_reset();
        executor_settings.devices = 3;
        struct backend_options with = options("blocked", PRECISION_SINGLE, 3);
        struct bodies *b = case_bodies(systems[k], 600, 41);
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        assert_int_equal(executor_count().peers, connected[k]);
        backend_cuda.destroy(backend);
        bodies_destroy(b);
    }
}

/* However many steps: the host waits for the device once. */
static void test_advance_waits_once(void **state)
{
    (void)state;
    need_executor();
    const size_t counts[] = { 40, 270 };
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        struct bodies *b = case_bodies(1, counts[n], 26);
        const struct backend_options with = options("auto", PRECISION_SINGLE, 1);
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        for (uint64_t steps = 1; steps < 50; steps += 39) {
            const size_t before = executor_count().waits;
            advance(backend, "leapfrog-dkd", steps);
            assert_int_equal(executor_count().waits - before, 1);
        }
        backend_cuda.destroy(backend);
        bodies_destroy(b);
    }
}

/* Tests that each of several devices with systems is waited for once: none stands idle until
 * another one has given back its results. */
static void test_devices_do_not_wait_for_each_other(void **state)
{
    (void)state;
    need_executor();
    enum { DEVICES = 3 };
    struct error error = { 0 };
    struct bodies *b = case_bodies(DEVICES, 300, 42);
    struct conserved conserved[DEVICES];
    const struct backend_options with = options("auto", PRECISION_SINGLE, DEVICES);
    executor_settings.devices = DEVICES;
    struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
    size_t before = executor_count().waits;
    assert_int_equal(backend_cuda.accelerations(backend, &error), 0);
    assert_int_equal(executor_count().waits - before, DEVICES);
    before = executor_count().waits;
    assert_int_equal(backend_cuda.conserved(backend, conserved, &error), 0);
    assert_int_equal(executor_count().waits - before, DEVICES);
    backend_cuda.destroy(backend);
    bodies_destroy(b);
}

/* Tests 257 bodies on two devices, of which the second one has a single body, and room for its
 * sums only: the executor guards an array's end. */
static void test_a_device_of_one_body(void **state)
{
    (void)state;
    const int devices = several_devices(2);
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++) {
        executor_reset();
        struct backend_options with = options("blocked", (enum precision)p, 1);
        const struct outcome expected = run(&with, 1, 257, 3);
        executor_settings.devices = with.devices = devices;
        expect_outcome(run(&with, 1, 257, 3), expected, 1);
        free_outcome(expected);
    }
}

/* --- what goes wrong ---------------------------------------------------------------------------*/

static void test_no_device(void **state)
{
    (void)state;
    need_executor();
    struct error error = { 0 };
    executor_settings.devices = 0;
    assert_int_equal(backend_cuda.probe(&error), STATUS_UNAVAILABLE);
    assert_non_null(strstr(error.text, "no CUDA-capable device"));
}

/* Tests the advice about a driver, which follows from both versions. */
static void test_a_driver_that_is_too_old(void **state)
{
    (void)state;
    need_executor();
    static const struct {
        int driver;
        const char *text;
    } cases[] = { { 0, "no NVIDIA driver is installed" },
                  { 12040, "the driver knows CUDA up to 12.4, and this build needs 13.0" } };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct error error = { 0 };
        executor_settings.driver = cases[k].driver;
        assert_int_equal(backend_cuda.probe(&error), STATUS_UNAVAILABLE);
        if (!strstr(error.text, cases[k].text))
            fail_msg("'%s' does not say '%s'", error.text, cases[k].text);
    }
}

static void test_devices_are_named(void **state)
{
    (void)state;
    need_executor();
    static const char *const names[] = { "2 x executor", "executor, another executor" };
    for (int kinds = 0; kinds < 2; kinds++) {
        struct bodies *b = case_bodies(2, 40, 43);
        const struct backend_options with = options("auto", PRECISION_DOUBLE, 2);
        executor_reset();
        executor_settings.devices = 2;
        executor_settings.of_two_kinds = kinds;
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        struct backend_description description;
        backend_cuda.describe(backend, &description);
        assert_string_equal(description.device, names[kinds]);
        backend_cuda.destroy(backend);
        bodies_destroy(b);
    }
}

static void test_auto_falls_back_and_says_so(void **state)
{
    (void)state;
    need_executor();
    struct bodies *b = case_bodies(1, 1100, 27);
    const struct backend_options with = options("auto", PRECISION_DOUBLE, 1);
    for (int devices = 0; devices < 2; devices++) {
        executor_settings.devices = devices;
        struct backend *backend = make(backend_find("auto"), &with, &case_soft, b);
        struct backend_description description;
        backend->class_->describe(backend, &description);
        assert_string_equal(description.backend, devices == 0 ? "openmp" : "cuda");
        assert_non_null(strstr(description.choice, devices == 0 ? "no CUDA-capable" : "GPU"));
        assert_string_equal(description.device, devices == 0 ? "" : "executor");
        backend->class_->destroy(backend);
    }
    bodies_destroy(b);
}

/* Expects the reactions of `auto` and `cuda` to a GPU that is there and of no use: the one goes on
 * with the CPU, the other ends. */
static void expect_fallback(const char *text, enum status status)
{
    const struct executor_settings like_this = executor_settings;
    const struct backend_options with = options("auto", PRECISION_DOUBLE, 1);
    struct bodies *b = case_bodies(1, 1100, 27);
    struct backend *backend = make(backend_find("auto"), &with, &case_soft, b);
    struct backend_description description;
    backend->class_->describe(backend, &description);
    assert_string_equal(description.backend, "openmp");
    if (!strstr(description.choice, text))
        fail_msg("'%s' does not say '%s'", description.choice, text);
    advance(backend, "velocity-verlet", 1);
    backend->class_->destroy(backend);
    executor_reset();
    executor_settings = like_this;
    struct error error = { 0 };
    assert_int_equal(backend_cuda.create(&with, &case_soft, b, &backend, &error), status);
    assert_null(backend);
    if (!strstr(error.text, text))
        fail_msg("'%s' does not say '%s'", error.text, text);
    executor_reset();
    executor_settings = like_this;
    struct backend_options together = with; /* ranks would choose differently */
    together.ranks = 2;
    assert_int_equal(backend_find("auto")->create(&together, &case_soft, b, &backend, &error),
                     status);
    bodies_destroy(b);
    executor_reset();
}

static void test_auto_goes_on_without_a_device_of_no_use(void **state)
{
    (void)state;
    need_executor();
    executor_settings.no_code = 1;
    expect_fallback("no kernel image", STATUS_UNAVAILABLE);
    executor_settings.busy = 1;
    expect_fallback("busy or unavailable", STATUS_UNAVAILABLE);
    executor_settings.memory = 1000;
    expect_fallback("MiB", STATUS_MEMORY);
    executor_settings.failing_launch = 1;
    expect_fallback("launching a kernel to try it", STATUS_UNAVAILABLE);
    executor_settings.failing_kernel = 1;
    expect_fallback("launching a kernel to try it", STATUS_UNAVAILABLE);
}

static void expect_refused(const struct backend_options *with, enum status status, const char *text)
{
    struct error error = { 0 };
    struct backend *backend;
    struct bodies *b = case_bodies(1, 130, 28);
    assert_int_equal(backend_cuda.create(with, &case_soft, b, &backend, &error), status);
    assert_null(backend);
    if (!strstr(error.text, text))
        fail_msg("'%s' does not say '%s'", error.text, text);
    bodies_destroy(b);
}

static void test_what_is_not_there_is_refused(void **state)
{
    (void)state;
    need_executor();
    struct backend_options with = options("plain", PRECISION_DOUBLE, 1);
    expect_refused(&with, STATUS_CONFIG, "compute.kernel = \"plain\"");
    with = options("auto", PRECISION_DOUBLE, 2);
    expect_refused(&with, STATUS_UNAVAILABLE, "this machine has 1 GPU");
    with = options("portable", PRECISION_MIXED, 1);
    expect_refused(&with, STATUS_CONFIG, "computes in double only");
    const struct backend_peers peers = { .context = NULL };
    with = options("blocked", PRECISION_DOUBLE, 1);
    with.peers = &peers;
    with.stream = true;
    expect_refused(&with, STATUS_CONFIG, "compute.stream = true: whole systems pass");
    with = options("portable", PRECISION_DOUBLE, 1);
    with.peers = &peers;
    with.force.share = (struct force_share){ .parts = 2, .last = 64 };
    expect_refused(&with, STATUS_CONFIG, "ranks divide them");
}

static void test_failing_allocations(void **state)
{
    (void)state;
    need_executor();
    const struct backend_options with = options("auto", PRECISION_DOUBLE, 0);
    for (int failing = 1; failing <= 5; failing++) {
        executor_reset();
        executor_settings.devices = 2;
        executor_settings.failing_allocation = failing;
        struct error error = { 0 };
        struct backend *backend;
        struct bodies *b = case_bodies(2, 40, 29);
        assert_int_equal(backend_cuda.create(&with, &case_soft, b, &backend, &error),
                         STATUS_MEMORY);
        assert_non_null(strstr(error.text, "out of memory"));
        bodies_destroy(b);
    }
}

/* The n-th launch is refused, or fails on the device. Whatever was fetched before stays, and all
 * is given back. */
static void check_failure(int *setting, int n, size_t count)
{
    struct error error = { 0 };
    struct bodies *b = case_bodies(1, count, 30);
    const struct backend_options with = options("auto", PRECISION_SINGLE, 1);
    struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
    advance(backend, "velocity-verlet", 2);
    fetch(backend);
    const struct case_vectors before = case_save(b, b->x, b->y, b->z);
    struct conserved conserved;
    *setting = n;
    enum status status = backend_cuda.conserved(backend, &conserved, &error);
    if (!status)
        status = backend_cuda.advance(backend, integrator_find("velocity-verlet"), DT, 40, &error);
    if (status != STATUS_UNAVAILABLE)
        fail_msg("failure %d of %zu bodies: status %d", n, count, status);
    assert_non_null(strstr(error.text, "GPU 0"));
    assert_non_null(strstr(error.text, "unspecified launch failure"));
    const struct case_vectors after = case_save(b, b->x, b->y, b->z);
    assert_true(case_same(before, after));
    free(before.a);
    free(after.a);
    backend_cuda.destroy(backend);
    bodies_destroy(b);
    executor_reset();
}

static void test_failing_launches(void **state)
{
    (void)state;
    need_executor();
    for (int n = 1; n <= 9; n++) {
        check_failure(&executor_settings.failing_launch, n, 270);
        check_failure(&executor_settings.failing_kernel, n, 270);
    }
    for (int n = 1; n <= 6; n++) {
        check_failure(&executor_settings.failing_launch, n, 20);
        check_failure(&executor_settings.failing_kernel, n, 20);
    }
}

static void test_a_blow_up_is_reported(void **state)
{
    (void)state;
    const size_t counts[] = { 20, 270 };
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        struct error error = { 0 };
        struct bodies *b = case_bodies(2, counts[n], 31);
        b->vx[b->stride + 7] = INFINITY;
        b->id[b->stride + 7] = 4711;
        const struct backend_options with = options("auto", PRECISION_SINGLE, 1);
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        assert_int_equal(backend_cuda.advance(backend, integrator_find("euler"), DT, 1, &error),
                         STATUS_NUMERICAL);
        assert_non_null(strstr(error.text, "system 2, body 4711"));
        backend_cuda.destroy(backend);
        bodies_destroy(b);
    }
}

/* --- interruptions -----------------------------------------------------------------------------*/

/* An interruption that is asked for at one of the times when the program asks; 0: never. */
struct asker {
    struct interruption interruption;
    int times, wanted;
};

static bool asked(void *context)
{
    struct asker *const asker = context;
    asker->interruption.next_look = 0; /* ask again at once */
    return ++asker->times == asker->wanted;
}

static bool agree(void *context)
{
    return interruption_noticed(&((struct asker *)context)->interruption);
}

static void expect_positions(const struct bodies *b, struct case_vectors expected)
{
    const struct case_vectors x = case_save(b, b->x, b->y, b->z);
    assert_true(case_same(x, expected));
    free(x.a);
}

/* A step that is interrupted at any of its three forces leaves the bodies as they were, and forces
 * for an observer that are interrupted count as unknown; then steps have the bits that they have
 * otherwise. */
static void test_an_interrupted_step_is_taken_back(void **state)
{
    (void)state;
    static const char *const kernels[] = { "blocked", "symmetric" };
    struct asker asker = { .interruption = { .asked = asked, .context = &asker, .agree = agree } };
    struct physics physics = case_soft;
    physics.interruption = &asker.interruption;
    const struct integrator *const yoshida = integrator_find("yoshida4");
    for (size_t n = 0; n < COUNT_OF(kernels); n++) {
        executor_reset();
        const struct backend_options with = options(kernels[n], PRECISION_SINGLE, 1);
        struct bodies *b = case_bodies(2, 600, 21); /* those of motion() */
        struct backend *backend = make(&backend_cuda, &with, &physics, b);
        struct case_vectors after[2];
        for (uint64_t k = 0; k < 2; k++)
            after[k] = motion(&backend_cuda, &with, &case_soft, "yoshida4", 2, 600, k + 1);
        struct error error = { 0 };
        asker.times = 0;
        asker.wanted = 1;
        assert_int_equal(backend_cuda.accelerations(backend, &error), STATUS_STOPPED);
        interruption_lower(&asker.interruption);
        asker.wanted = 0;
        advance(backend, "yoshida4", 1);
        for (int wanted = 1; wanted <= 3; wanted++) {
            error_clear(&error);
            asker.times = 0;
            asker.wanted = wanted;
            assert_int_equal(backend_cuda.advance(backend, yoshida, DT, 1, &error), STATUS_STOPPED);
            interruption_lower(&asker.interruption);
            fetch(backend);
            expect_positions(b, after[0]);
        }
        asker.wanted = 0;
        advance(backend, "yoshida4", 1);
        fetch(backend);
        expect_positions(b, after[1]);
        backend_cuda.destroy(backend);
        bodies_destroy(b);
        free(after[0].a);
        free(after[1].a);
    }
}

/* With a second device or rank nobody asks within a step: another device would wait meanwhile, and
 * another rank would keep the step. */
static void test_a_step_of_several_is_not_interrupted(void **state)
{
    (void)state;
    struct asker asker = { .interruption = { .asked = asked, .context = &asker, .agree = agree } };
    struct physics physics = case_soft;
    physics.interruption = &asker.interruption;
    for (int ranks = 2; ranks >= 1; ranks--) {
        struct error error = { 0 };
        const int devices = ranks == 2 ? 1 : several_devices(2);
        executor_settings.devices = devices;
        struct backend_options with = options("blocked", PRECISION_SINGLE, devices);
        with.ranks = ranks;
        struct bodies *b = case_bodies(2, 600, 21);
        struct backend *backend = make(&backend_cuda, &with, &physics, b);
        asker.times = 0;
        asker.wanted = 1;
        assert_int_equal(backend_cuda.advance(backend, integrator_find("yoshida4"), DT, 1, &error),
                         STATUS_OK);
        assert_int_equal(asker.times, 0);
        backend_cuda.destroy(backend);
        bodies_destroy(b);
    }
}

/* --- integrators that choose their own steps ---------------------------------------------------*/

/* The host takes the steps, and the device sums the forces. Block steps halve a grid step of 1/8 of
 * soft bodies several times. */
static const double GRID = 1.0 / 8;

static struct backend_options own_options(const char *integrator, enum precision precision,
                                          int threads)
{
    struct backend_options with = options("auto", precision, 1);
    with.integrator = integrator_find(integrator);
    with.force.threads = threads;
    return with;
}

static enum status advance_grid(struct backend *backend, const struct backend_options *with,
                                uint64_t steps, struct error *error)
{
    return backend->class_->advance(backend, with->integrator, GRID, steps, error);
}

/* State, energies and potentials at the end; with `cut` one step after the other, and all observers
 * between them. */
static struct outcome take_steps(const struct backend_class *class_,
                                 const struct backend_options *with, size_t systems, size_t count,
                                 uint64_t steps, bool cut)
{
    struct error error = { 0 };
    struct outcome outcome;
    struct bodies *b = case_bodies(systems, count, 51);
    struct backend *backend = make(class_, with, &case_soft, b);
    outcome.phi = memory_array(2 * bodies_length(b), sizeof(double), &error);
    double *const psi = outcome.phi + bodies_length(b);
    for (uint64_t done = 0; done < steps; done += cut ? 1 : steps) {
        if (advance_grid(backend, with, cut ? 1 : steps, &error))
            fail_msg("%s", error.text);
        if (cut) {
            fetch(backend);
            assert_int_equal(class_->accelerations(backend, &error), 0);
        }
        if (cut || done == 0) {
            assert_int_equal(class_->conserved(backend, outcome.conserved, &error), 0);
            assert_int_equal(class_->potentials(backend, outcome.phi, psi, &error), 0);
        }
    }
    end(backend, b, &outcome);
    return outcome;
}

/* 1e-11 is some ten thousand roundings of fp64, which two steps of 1/8 have amplified a little;
 * fp32 terms are good to 1e-6. What observers find belongs to the bodies as the host has moved
 * them. */
static void test_own_steps_agree_with_the_cpu(void **state)
{
    (void)state;
    static const char *const names[] = { "hermite4", "block-leapfrog", "gauss-radau" };
    for (size_t n = 0; n < COUNT_OF(names); n++)
        for (int p = PRECISION_DOUBLE; p <= (n < 2 ? PRECISION_MIXED : PRECISION_DOUBLE); p++)
            for (size_t systems = 1; systems <= 3; systems += 2) {
                const double bound = p == PRECISION_DOUBLE ? 1e-11 : 1e-5;
                const struct backend_options with = own_options(names[n], (enum precision)p, 2);
                const size_t few = n == 2 && !executor_is_a_gpu && !thorough() ? 2 : 1;
                const size_t count = (systems == 1 ? 150 : 40) / few;
                const struct outcome cpu =
                    take_steps(&backend_openmp, &with, systems, count, 2, false);
                const struct outcome gpu =
                    take_steps(&backend_cuda, &with, systems, count, 2, false);
                const double moved = largest_difference(gpu.x, cpu.x);
                const double pulled = largest_difference(gpu.a, cpu.a);
                if (!(moved < bound && pulled < 1e3 * bound && moved > 0))
                    fail_msg("%s, %s: positions differ by %g, accelerations by %g", names[n],
                             precision_names[p], moved, pulled);
                for (size_t s = 0; s < systems; s++)
                    assert_close(gpu.conserved[s].potential, cpu.conserved[s].potential,
                                 bound * fabs(cpu.conserved[s].potential));
                for (size_t i = 0; i < 2 * cpu.x.length; i++)
                    assert_close(gpu.phi[i], cpu.phi[i], 1e2 * bound * (1 + fabs(cpu.phi[i])));
                free_outcome(cpu);
                free_outcome(gpu);
            }
}

/* However the steps are cut up, in a memory that holds few systems, by any team of the host. */
static void test_own_steps_have_the_same_bits(void **state)
{
    (void)state;
    const struct backend_options with = own_options("hermite4", PRECISION_MIXED, 1);
    const struct outcome whole = take_steps(&backend_cuda, &with, 3, 70, 3, false);
    const struct outcome cut = take_steps(&backend_cuda, &with, 3, 70, 3, true);
    assert_true(case_same(cut.x, whole.x));
    assert_true(case_same(cut.a, whole.a));
    if (!executor_is_a_gpu)
        executor_settings.memory = 150000;
    const struct outcome streamed = take_steps(&backend_cuda, &with, 3, 70, 3, true);
    expect_outcome(streamed, cut, 3);
    free_outcome(whole);
    free_outcome(cut);
    executor_reset();
    for (int n = 0; n < 2; n++) {
        struct backend_options team = n == 0 ? own_options("block-leapfrog", PRECISION_SINGLE, 1)
                                             : own_options("gauss-radau", PRECISION_DOUBLE, 1);
        /* block steps have no team for fewer */
        const size_t count = n == 0 ? 1030 : executor_is_a_gpu || thorough() ? 70 : 33;
        const struct outcome one = take_steps(&backend_cuda, &team, 1, count, 1, false);
        team.force.threads = 3;
        expect_outcome(take_steps(&backend_cuda, &team, 1, count, 1, false), one, 1);
        free_outcome(one);
    }
}

/* The description names the kernel and the host's threads, which share one system. */
static void test_own_steps_are_described(void **state)
{
    (void)state;
    for (size_t systems = 1; systems <= 2; systems++) {
        struct bodies *b = case_bodies(systems, 40, 52);
        const struct backend_options with = own_options("hermite4", PRECISION_DOUBLE, 3);
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        struct backend_description description;
        backend_cuda.describe(backend, &description);
        assert_string_equal(description.backend, "cuda");
        assert_string_equal(description.kernel, "hermite");
        assert_int_equal(description.threads, systems == 1 ? 3 : 1);
        backend_cuda.destroy(backend);
        backend = make(backend_find("auto"), &with, &case_soft, b);
        backend->class_->describe(backend, &description);
        assert_string_equal(description.backend, "openmp");
        backend->class_->destroy(backend);
        bodies_destroy(b);
    }
}

/* Whichever launch is refused or fails on the device, and whichever allocation: the reason is the
 * device's and not a force that is not finite. */
static void test_a_device_that_fails_under_own_steps(void **state)
{
    (void)state;
    need_executor();
    struct error error = { 0 };
    int *const settings[] = { &executor_settings.failing_launch,
                              &executor_settings.failing_kernel };
    for (int n = 0; n < 16; n++) { /* the first four of both kinds */
        const struct backend_options with =
            own_options(n < 8 ? "hermite4" : "gauss-radau", PRECISION_DOUBLE, 1);
        executor_reset();
        struct bodies *b = case_bodies(1, 70, 53);
        struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
        *settings[n % 2] = 1 + n % 8 / 2;
        for (int again = 0; again < 2; again++) {
            error_clear(&error);
            assert_int_equal(advance_grid(backend, &with, 1, &error), STATUS_UNAVAILABLE);
            if (!strstr(error.text, "GPU 0: summing for the bodies that are due: unspecified"))
                fail_msg("failure %d: '%s'", n, error.text);
        }
        backend_cuda.destroy(backend);
        bodies_destroy(b);
    }
    struct bodies *b = case_bodies(1, 70, 53);
    for (int n = 0; n < 2; n++) {
        const struct backend_options with =
            own_options(n == 0 ? "hermite4" : "gauss-radau", PRECISION_DOUBLE, 1);
        struct backend *backend = NULL;
        int failing = 0;
        do {
            executor_reset();
            executor_settings.failing_allocation = ++failing;
            error_clear(&error);
            if (backend_cuda.create(&with, &case_soft, b, &backend, &error))
                assert_int_equal(error.status, STATUS_MEMORY);
        } while (error.status);
        assert_int_equal(failing, 6); /* a part has two, conserved sums one, those of forces two */
        backend_cuda.destroy(backend);
    }
    bodies_destroy(b);
}

static void test_own_steps_that_are_refused(void **state)
{
    (void)state;
    need_executor();
    executor_settings.devices = 2;
    struct backend_options with = own_options("hermite4", PRECISION_SINGLE, 1);
    expect_refused(&with, STATUS_CONFIG, "compute.precision = \"single\"");
    with = own_options("gauss-radau", PRECISION_DOUBLE, 1);
    with.devices = 2;
    expect_refused(&with, STATUS_CONFIG,
                   "compute.devices = 2: one GPU sums the forces of gauss-radau");
    with.devices = 0;
    with.ranks = 2;
    expect_refused(&with, STATUS_CONFIG, "with several ranks only CPUs");
    with.ranks = 1; /* 0 devices are all, of which own steps take the first */
    struct bodies *b = case_bodies(2, 40, 54);
    struct backend *backend = make(&backend_cuda, &with, &case_soft, b);
    struct backend_description description;
    backend_cuda.describe(backend, &description);
    assert_string_equal(description.device, "executor");
    backend_cuda.destroy(backend);
    bodies_destroy(b);
}

/* Begins with the executor as it is by default and leaves nothing behind. */
#define FRESH(test) cmocka_unit_test_setup_teardown(test, reset, check_leaks)

int main(void)
{
    setenv("ORRERY_EXECUTOR_GPU", "1", 0); /* auto takes it; see the test of an emulated one */
    const struct CMUnitTest tests[] = {
        FRESH(test_integrators_agree_with_the_serial_backend),
        FRESH(test_every_number_of_bodies),
        FRESH(test_many_galaxies),
        FRESH(test_advance_in_parts_gives_the_same_bits),
        FRESH(test_restart_gives_the_same_bits),
        FRESH(test_devices_change_no_bits),
        FRESH(test_portable_has_the_bits_of_a_cpu),
        FRESH(test_a_share_of_the_bodies),
        FRESH(test_processes_take_turns_with_the_devices),
        FRESH(test_streaming_changes_no_bits),
        FRESH(test_streaming_that_is_asked_for),
        FRESH(test_energies_of_devices_with_little_fp64),
        FRESH(test_streaming_through_the_room_of_one_system),
        FRESH(test_no_room_for_one_system),
        FRESH(test_a_fill_that_is_refused),
        FRESH(test_conserved_sums),
        FRESH(test_potentials_of_equal_masses),
        FRESH(test_devices_of_a_divided_system_are_connected),
        FRESH(test_advance_waits_once),
        FRESH(test_devices_do_not_wait_for_each_other),
        FRESH(test_a_device_of_one_body),
        FRESH(test_no_device),
        FRESH(test_a_driver_that_is_too_old),
        FRESH(test_devices_are_named),
        FRESH(test_auto_falls_back_and_says_so),
        FRESH(test_auto_goes_on_without_a_device_of_no_use),
        FRESH(test_what_is_not_there_is_refused),
        FRESH(test_failing_allocations),
        FRESH(test_failing_launches),
        FRESH(test_a_blow_up_is_reported),
        FRESH(test_a_graph_is_used_for_what_it_was_made_for),
        FRESH(test_one_launch_for_a_step_changes_no_bits),
        FRESH(test_one_launch_for_a_step_is_one),
        FRESH(test_streaming_of_large_systems_changes_no_bits),
        FRESH(test_potentials_of_coincident_bodies),
        FRESH(test_an_interrupted_step_is_taken_back),
        FRESH(test_a_step_of_several_is_not_interrupted),
        FRESH(test_own_steps_agree_with_the_cpu),
        FRESH(test_own_steps_have_the_same_bits),
        FRESH(test_own_steps_are_described),
        FRESH(test_a_device_that_fails_under_own_steps),
        FRESH(test_own_steps_that_are_refused),
    };
    return cmocka_run_group_tests_name("GPU backend", tests, NULL, NULL);
}
