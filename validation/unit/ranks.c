/* Backends that divide the bodies of a system, as the ranks of a job do; here the ranks are
 * threads, and MPI is a barrier and a table of pointers. */
#include "unit.h"

#include <pthread.h>
#include <string.h>

#include "backend/mpi-job.h"
#include "backend/ranks.h"
#include "base/memory.h"
#include "external/external.h"
#include "motion-case.h"
#include "relay-case.h"

enum { MOST_RANKS = RELAY_PARTS, STEPS = 3 };

static const struct physics soft = { .gravitational_constant = 1.37, .softening = 0.05 };
static struct field sphere = { .kind = FIELD_PLUMMER,
                               .gravitational_constant = 1.37,
                               .center = { 0.3, -0.2, 0.1 },
                               .mass = 2.3,
                               .scale_radius = 0.7 };
static const struct external field = { .count = 1,
                                       .fields = &sphere,
                                       .center = { 0.3, -0.2, 0.1 } };
static const double dt = 0.003;

/* The state that the ranks of a job of threads share. */
struct job {
    pthread_barrier_t barrier;
    int count;
    bool interrupted; /* before it does its work */
    bool late;        /* in the forces of a single step, which nothing follows */
    const char *backend, *kernel, *integrator;
    enum precision precision;
    const struct external *external;
    struct relay_office office;
    struct rank {
        struct job *job;
        struct force_share share;
        struct bodies *bodies;
        double *const *arrays; /* that it has just brought */
        double *phi, *psi;
        struct relay_part end;
        struct force_relay relay;
        struct interruption wish;
        bool wants;
        int stopped; /* calls that were interrupted */
        enum status status;
    } ranks[MOST_RANKS];
};

/* Copies the other ranks' own bodies, when all are there. */
static void gather(void *context, double *const arrays[], size_t count)
{
    struct rank *const rank = context;
    struct job *const job = rank->job;
    rank->arrays = arrays;
    pthread_barrier_wait(&job->barrier);
    for (int r = 0; r < job->count; r++) {
        const struct rank *const other = &job->ranks[r];
        const size_t own = other->share.last - other->share.first;
        for (size_t s = 0; s < rank->bodies->systems && other != rank; s++)
            for (size_t k = 0; k < count; k++) {
                const size_t at = s * rank->bodies->stride + other->share.first;
                memcpy(arrays[k] + at, other->arrays[k] + at, own * sizeof(double));
            }
    }
    pthread_barrier_wait(&job->barrier);
}

/* Copies its own bodies from the rank that has them all. */
static void scatter(void *context, size_t from, double *const arrays[], size_t count)
{
    struct rank *const rank = context;
    struct job *const job = rank->job;
    const size_t first = rank->share.first, own = rank->share.last - first;
    rank->arrays = arrays;
    pthread_barrier_wait(&job->barrier);
    for (size_t s = 0; s < rank->bodies->systems && rank != &job->ranks[from]; s++)
        for (size_t k = 0; k < count; k++) {
            const size_t at = s * rank->bodies->stride + first;
            memcpy(arrays[k] + at, job->ranks[from].arrays[k] + at, own * sizeof(double));
        }
    pthread_barrier_wait(&job->barrier);
}

/* Rank 0 alone is asked, and the others hear of it where they agree. */
static bool is_asked(void *context)
{
    struct rank *const rank = context;
    rank->wants =
        rank->wants || (rank->job->late && !rank->stopped && rank == &rank->job->ranks[0]);
    return rank->wants;
}

static bool agree(void *context)
{
    struct job *const job = ((struct rank *)context)->job;
    pthread_barrier_wait(&job->barrier);
    const bool raised = job->ranks[0].wants;
    pthread_barrier_wait(&job->barrier);
    return raised;
}

/* An advance and a force that are interrupted on all ranks, where rank 0 alone leaves sums out. */
static void be_interrupted(struct rank *rank, struct backend *backend)
{
    struct error error = { 0 };
    const struct integrator *const integrator = integrator_find(rank->job->integrator);
    const bool late = rank->job->late;
    rank->wants = !late && rank == &rank->job->ranks[0];
    for (int k = 0; k < (late ? 1 : 2); k++) {
        const enum status status =
            k == 0 ? backend->class_->advance(backend, integrator, dt, late ? 1 : STEPS, &error)
                   : backend->class_->accelerations(backend, &error);
        rank->stopped += status == STATUS_STOPPED;
        interruption_lower(&rank->wish);
    }
    pthread_barrier_wait(&rank->job->barrier);
    rank->wants = false;
    pthread_barrier_wait(&rank->job->barrier);
}

/* A whole life of a rank's backend, and the potentials in the end. */
static void *live(void *context)
{
    struct rank *const rank = context;
    const struct job *const job = rank->job;
    struct error error = { 0 };
    const struct backend_peers peers = { rank, gather, scatter };
    const struct backend_options options = {
        .force = { .precision = job->precision,
                   .kernel = job->kernel,
                   .isa = "auto",
                   .threads = 2,
                   .share = rank->share },
        .peers = job->count > 1 ? &peers : NULL,
    };
    const struct backend_class *const class_ = backend_find(job->backend);
    const struct integrator *const integrator = integrator_find(job->integrator);
    struct physics physics = soft;
    physics.external = job->external;
    rank->wish = (struct interruption){ .asked = is_asked, .context = rank, .agree = agree };
    if (job->interrupted)
        physics.interruption = &rank->wish;
    struct backend *backend;
    rank->status = class_->create(&options, &physics, rank->bodies, &backend, &error);
    if (rank->status)
        return NULL;
    if (job->interrupted)
        be_interrupted(rank, backend);
    rank->status = class_->advance(backend, integrator, dt, STEPS, &error);
    if (!rank->status)
        rank->status = class_->potentials(backend, rank->phi, rank->psi, &error);
    if (!rank->status)
        rank->status = class_->fetch(backend, &error);
    class_->destroy(backend);
    return NULL;
}

static double *array_of(size_t length)
{
    static struct error error;
    double *const array = memory_array(length, sizeof *array, &error);
    assert_non_null(array);
    return array;
}

/* Lines of BODIES_PADDING bodies, as evenly as they go. */
static void give_shares(struct job *job, size_t stride)
{
    const size_t lines = stride / BODIES_PADDING, parts = (size_t)job->count;
    for (size_t r = 0; r < parts && parts > 1; r++)
        job->ranks[r].share =
            (struct force_share){ .part = r,
                                  .parts = parts,
                                  .first = lines * r / parts * BODIES_PADDING,
                                  .last = lines * (r + 1) / parts * BODIES_PADDING,
                                  .relay = &job->ranks[r].relay };
}

static void job_create(struct job *job, size_t systems, size_t count)
{
    relay_open(&job->office);
    assert_int_equal(pthread_barrier_init(&job->barrier, NULL, (unsigned)job->count), 0);
    for (int r = 0; r < job->count; r++) {
        struct rank *const rank = &job->ranks[r];
        rank->job = job;
        rank->bodies = motion_cube(systems, count, 2385);
        const size_t length = bodies_length(rank->bodies);
        rank->phi = array_of(length);
        rank->psi = array_of(length);
        rank->end = (struct relay_part){ &job->office, (size_t)r };
        rank->relay = (struct force_relay){ &rank->end, relay_receive, relay_send };
    }
    give_shares(job, job->ranks[0].bodies->stride);
}

static void job_destroy(struct job *job)
{
    for (int r = 0; r < job->count; r++) {
        bodies_destroy(job->ranks[r].bodies);
        memory_free(job->ranks[r].phi);
        memory_free(job->ranks[r].psi);
    }
    relay_close(&job->office);
    pthread_barrier_destroy(&job->barrier);
}

static void job_run(struct job *job)
{
    pthread_t threads[MOST_RANKS];
    for (int r = 0; r < job->count; r++)
        assert_int_equal(pthread_create(&threads[r], NULL, live, &job->ranks[r]), 0);
    for (int r = 0; r < job->count; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < job->count; r++)
        assert_true(job->ranks[r].status == STATUS_OK &&
                    job->ranks[r].stopped == (!job->interrupted ? 0
                                              : job->late       ? 1
                                                                : 2));
}

/* The rank that moved body i of every system. */
static const struct rank *owner_of(const struct job *job, size_t i)
{
    int r = 0;
    while (job->count > 1 && i >= job->ranks[r].share.last)
        r++;
    return &job->ranks[r];
}

static void assert_same(const struct job *one, const struct job *many)
{
    const struct rank *const whole = &one->ranks[0];
    for (size_t k = 0; k < bodies_length(whole->bodies); k++) {
        if (k % whole->bodies->stride >= whole->bodies->count)
            continue;
        const struct rank *const part = owner_of(many, k % whole->bodies->stride);
        const struct bodies *const p = part->bodies, *const w = whole->bodies;
        const double found[] = { p->x[k],  p->y[k],  p->z[k],      p->vx[k],
                                 p->vy[k], p->vz[k], part->phi[k], part->psi[k] };
        const double expected[] = { w->x[k],  w->y[k],  w->z[k],       w->vx[k],
                                    w->vy[k], w->vz[k], whole->phi[k], whole->psi[k] };
        assert_memory_equal(found, expected, sizeof found);
    }
}

/* Compares `ranks` ranks with the bits of one process. */
static void compare(const struct job *work, size_t systems, size_t count, int ranks)
{
    struct job one = *work, many = *work;
    one.count = 1;
    one.interrupted = false;
    many.count = ranks;
    job_create(&one, systems, count);
    job_create(&many, systems, count);
    job_run(&one);
    job_run(&many);
    assert_same(&one, &many);
    job_destroy(&one);
    job_destroy(&many);
}

/* More ranks than lines of bodies, ragged ones, and several tiles of the kernels. */
static void test_ranks_move_bodies_as_one_process_does(void **state)
{
    (void)state;
    static const struct {
        size_t systems, count;
        int ranks;
    } cases[] = { { 1, 2, 3 }, { 1, 100, 2 }, { 2, 133, 3 }, { 3, 17, 4 }, { 1, 1300, 5 } };
    static const struct job works[] = {
        { .backend = "serial", .kernel = "auto" },
        { .backend = "openmp", .kernel = "plain" },
        { .backend = "openmp", .kernel = "symmetric" },
        { .backend = "serial", .kernel = "auto", .external = &field },
        { .backend = "openmp", .kernel = "plain", .external = &field },
    };
    for (size_t c = 0; c < COUNT_OF(cases); c++)
        for (size_t k = 0;
             integrator_has_stages(integrator_at(k)) && (k < 2 || cases[c].count < 1000); k++)
            for (size_t w = 0; w < COUNT_OF(works); w++) {
                struct job work = works[w];
                work.integrator = integrator_at(k)->variant.name;
                compare(&work, cases[c].systems, cases[c].count, cases[c].ranks);
            }
}

/* Every number of ranks, by the kernel that is chosen where none is asked for: three tiles. */
static void test_any_number_of_ranks(void **state)
{
    (void)state;
    for (int precision = 0; precision_names[precision]; precision++)
        for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
            const struct job work = { .backend = "openmp",
                                      .kernel = "auto",
                                      .integrator = "velocity-verlet",
                                      .precision = (enum precision)precision };
            compare(&work, 2, 301, ranks);
        }
}

/* An advance that one rank leaves when it is asked to end is undone on all of them, and then done
 * again: by passes whose forces all need those of the pass before, and by one that nothing follows
 * and before which no forces are known. */
static void test_ranks_are_interrupted_together(void **state)
{
    (void)state;
    static const struct {
        const char *backend, *kernel;
        bool late;
    } cases[] = {
        { "serial", "auto", false },      { "openmp", "plain", false },
        { "openmp", "symmetric", false }, { "openmp", "plain", true },
        { "openmp", "symmetric", true },
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct job work = { .interrupted = true,
                                  .late = cases[k].late,
                                  .backend = cases[k].backend,
                                  .kernel = cases[k].kernel,
                                  .integrator = cases[k].late ? "velocity-verlet" : "yoshida4" };
        compare(&work, 2, 301, 3);
    }
}

/* The class of rank 0, in a job that has no other. */
static void run_one_rank(const struct physics *physics)
{
    static struct error error;
    struct bodies *alone = motion_cube(3, 57, 11), *shared = motion_cube(3, 57, 11);
    struct backend_options options = {
        .force = { .precision = PRECISION_DOUBLE, .kernel = "auto", .isa = "auto", .threads = 2 },
        .within = &backend_openmp,
    };
    const struct backend_class *const classes[] = { &backend_openmp, &backend_ranks };
    struct bodies *const bodies[] = { alone, shared };
    struct conserved sums[2][3];
    double *phi[] = { array_of(bodies_length(alone)), array_of(bodies_length(alone)) };
    double *psi[] = { array_of(bodies_length(alone)), array_of(bodies_length(alone)) };
    for (int k = 0; k < 2; k++) {
        struct backend *backend;
        assert_null(classes[k]->probe); /* they run everywhere */
        assert_int_equal(classes[k]->create(&options, physics, bodies[k], &backend, &error), 0);
        const struct integrator *const verlet = integrator_find("velocity-verlet");
        assert_int_equal(backend->class_->advance(backend, verlet, dt, 4, &error), STATUS_OK);
        assert_int_equal(backend->class_->accelerations(backend, &error), STATUS_OK);
        assert_int_equal(backend->class_->potentials(backend, phi[k], psi[k], &error), STATUS_OK);
        assert_int_equal(backend->class_->conserved(backend, sums[k], &error), STATUS_OK);
        assert_int_equal(backend->class_->fetch(backend, &error), STATUS_OK);
        struct backend_description description;
        backend->class_->describe(backend, &description);
        assert_string_equal(description.backend, "openmp");
        backend->class_->destroy(backend);
    }
    const size_t bytes = bodies_length(alone) * sizeof(double);
    for (size_t s = 0; s < 3; s++)
        assert_true(motion_equal(alone, s, shared, s));
    assert_memory_equal(alone->ax, shared->ax, bytes);
    assert_memory_equal(phi[0], phi[1], bytes);
    assert_memory_equal(psi[0], psi[1], bytes);
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    for (int k = 0; k < 2; k++) {
        bodies_destroy(bodies[k]);
        memory_free(phi[k]);
        memory_free(psi[k]);
    }
}

static void test_a_job_of_one_rank(void **state)
{
    (void)state;
    struct physics in_a_field = soft;
    in_a_field.external = &field;
    run_one_rank(&soft);
    run_one_rank(&in_a_field);
}

/* Rank 0 gets a body's number right whatever its own arrays are. */
static void test_what_is_not_finite_is_reported(void **state)
{
    (void)state;
    struct error error = { 0 };
    struct bodies *bodies = motion_cube(2, 20, 12);
    const size_t bad = bodies->stride + 6;
    bodies->vz[bad] = 1e308; /* z overflows in the second step of 1 */
    bodies->id[bad] = 4711;
    const struct backend_options options = {
        .force = { .precision = PRECISION_DOUBLE, .kernel = "auto", .isa = "auto", .threads = 1 },
        .within = &backend_serial,
    };
    struct backend *backend;
    assert_int_equal(backend_ranks.create(&options, &soft, bodies, &backend, &error), STATUS_OK);
    const struct integrator *const verlet = integrator_find("velocity-verlet");
    assert_int_equal(backend_ranks.advance(backend, verlet, 1, 2, &error), STATUS_NUMERICAL);
    assert_non_null(strstr(error.text, "system 2, body 4711"));
    backend_ranks.destroy(backend);
    bodies_destroy(bodies);
}

/* The class stays as it is where there is nobody to share with. */
static void test_one_rank_shares_nothing(void **state)
{
    (void)state;
    const struct backend_class *class_ = &backend_serial;
    struct backend_options options = { 0 };
    assert_int_equal(mpi_count(), 1);
    assert_int_equal(mpi_rank(), 0);
    ranks_share(&class_, &options);
    assert_ptr_equal(class_, &backend_serial);
    assert_null(options.within);
}

static void test_teams_in_words(void **state)
{
    (void)state;
    char buffer[BACKEND_TEAM_SIZE];
    assert_string_equal(backend_team(&(struct backend_description){ .threads = 1 }, buffer),
                        "1 thread");
    assert_string_equal(
        backend_team(&(struct backend_description){ .threads = 3, .ranks = 12 }, buffer),
        "12 ranks of 3 threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_move_bodies_as_one_process_does),
        cmocka_unit_test(test_any_number_of_ranks),
        cmocka_unit_test(test_ranks_are_interrupted_together),
        cmocka_unit_test(test_a_job_of_one_rank),
        cmocka_unit_test(test_what_is_not_finite_is_reported),
        cmocka_unit_test(test_one_rank_shares_nothing),
        cmocka_unit_test(test_teams_in_words),
    };
    return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
