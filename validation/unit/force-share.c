/* Tests processes that divide the sums over pairs: together they compute the bits of one. Here
 * they are threads. */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "force/method.h"
#include "motion-case.h"
#include "relay-case.h"

static const struct physics open_space = { .gravitational_constant = 1.37, .softening = 0.083 };
static const struct physics box = { .gravitational_constant = 1.37,
                                    .softening = 0.083,
                                    .boundary = BOUNDARY_PERIODIC,
                                    .box_length = 2.3 };

struct problem {
    size_t systems, count;
    size_t massless; /* the number of systems, from the first on, with a body without mass */
    const char *kernel;
    enum precision precision;
    const struct physics *physics;
    bool forces_only;
};

/* One of the processes, and what it has in the end. */
struct part {
    const struct problem *problem;
    struct force_share share;
    struct relay_part end;
    struct bodies *bodies;
    double *phi, *psi;
    enum status status;
    bool held;
    size_t holder;
};

/* The lines of BODIES_PADDING bodies, dealt out as evenly as they go. */
static struct force_share share_of(const struct bodies *bodies, size_t part, size_t parts)
{
    const size_t lines = bodies->stride / BODIES_PADDING;
    return (struct force_share){ .part = part,
                                 .parts = parts,
                                 .first = lines * part / parts * BODIES_PADDING,
                                 .last = lines * (part + 1) / parts * BODIES_PADDING };
}

static double *array_of(size_t length, double value)
{
    static struct error error;
    double *const array = memory_array(length, sizeof *array, &error);
    assert_non_null(array);
    for (size_t k = 0; k < length; k++)
        array[k] = value;
    return array;
}

/* Creates a part in such a way that a sum that is left out shows. */
static void part_create(struct part *part, const struct problem *problem, size_t number,
                        size_t parts)
{
    struct bodies *const bodies = motion_cube(problem->systems, problem->count, 91);
    const size_t length = bodies_length(bodies);
    *part = (struct part){ .problem = problem,
                           .share = share_of(bodies, number, parts),
                           .bodies = bodies,
                           .phi = array_of(length, 1e300),
                           .psi = array_of(length, 1e300) };
    double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    for (int axis = 0; axis < 3; axis++)
        for (size_t k = 0; k < length; k++)
            a[axis][k] = 1e300;
    for (size_t s = 0; s < problem->massless; s++)
        bodies->m[s * bodies->stride + 3] = 0;
}

static void part_destroy(struct part *part)
{
    bodies_destroy(part->bodies);
    memory_free(part->phi);
    memory_free(part->psi);
}

/* Twice, since what the first evaluation leaves behind must not show. */
static void *compute(void *context)
{
    struct part *const part = context;
    const struct force_options options = { .precision = part->problem->precision,
                                           .kernel = part->problem->kernel,
                                           .isa = "auto",
                                           .threads = 2,
                                           .share = part->share };
    struct error error = { 0 };
    struct force *force;
    part->status = force_create(&options, part->problem->physics, part->bodies, &force, &error);
    if (part->status)
        return NULL;
#pragma omp parallel num_threads(2)
    {
        force_accelerations(force, part->bodies);
        if (!part->problem->forces_only) {
            force_accelerations(force, part->bodies);
            force_potentials(force, part->bodies, part->phi, part->psi);
        }
    }
    part->held = force->held;
    part->holder = force->holder;
    force_destroy(force);
    return NULL;
}

/* All parts at once; false where this kernel is not to be had. */
static bool compute_all(struct part *parts, size_t count, struct relay_office *office)
{
    pthread_t threads[RELAY_PARTS];
    struct force_relay relays[RELAY_PARTS];
    for (size_t p = 0; p < count; p++) {
        parts[p].end = (struct relay_part){ office, p };
        relays[p] = (struct force_relay){ &parts[p].end, relay_receive, relay_send };
        parts[p].share.relay = &relays[p];
        assert_int_equal(pthread_create(&threads[p], NULL, compute, &parts[p]), 0);
    }
    for (size_t p = 0; p < count; p++)
        assert_int_equal(pthread_join(threads[p], NULL), 0);
    for (size_t p = 1; p < count; p++) {
        assert_int_equal(parts[p].status, parts[0].status);
        assert_int_equal(parts[p].held, parts[0].held);
        assert_int_equal(parts[p].holder, parts[0].holder);
    }
    return parts[0].status == STATUS_OK;
}

/* Compares the bits of bodies [first, last) of every system, without their padding. */
static void assert_same_bits(const struct bodies *bodies, struct force_share range,
                             const double *expected, const double *found)
{
    const size_t last = range.last < bodies->count ? range.last : bodies->count;
    for (size_t s = 0; s < bodies->systems && range.first < last; s++)
        assert_memory_equal(expected + s * bodies->stride + range.first,
                            found + s * bodies->stride + range.first,
                            (last - range.first) * sizeof *found);
}

static void assert_same_sums(const struct part *whole, const struct part *parts, size_t count)
{
    for (size_t p = 0; p < count; p++) {
        const struct part *const source = parts[0].held ? &parts[parts[0].holder] : &parts[p];
        const struct bodies *const w = whole->bodies, *const b = source->bodies;
        assert_same_bits(w, parts[p].share, w->ax, b->ax);
        assert_same_bits(w, parts[p].share, w->ay, b->ay);
        assert_same_bits(w, parts[p].share, w->az, b->az);
        assert_same_bits(w, parts[p].share, whole->phi, parts[p].phi);
        assert_same_bits(w, parts[p].share, whole->psi, parts[p].psi);
    }
}

/* Returns how often sums went from one part to another. */
static size_t check(const struct problem *problem, size_t count)
{
    struct part whole, parts[RELAY_PARTS];
    struct relay_office office;
    relay_open(&office);
    part_create(&whole, problem, 0, 1);
    whole.share = (struct force_share){ 0 };
    for (size_t p = 0; p < count; p++)
        part_create(&parts[p], problem, p, count);
    compute(&whole);
    if (whole.status == STATUS_OK) {
        assert_false(whole.held);
        assert_true(compute_all(parts, count, &office));
        assert_same_sums(&whole, parts, count);
    }
    for (size_t p = 0; p < count; p++)
        part_destroy(&parts[p]);
    part_destroy(&whole);
    relay_close(&office);
    return office.sent;
}

/* The counts: less than a line, ragged, more parts than lines or tiles, some tiles with a ragged
 * end, from one part to five. */
static void test_shares_make_the_whole(void **state)
{
    (void)state;
    static const struct {
        size_t systems, count, parts;
    } cases[] = { { 1, 5, 2 },    { 1, 100, 3 },  { 3, 37, 4 },
                  { 1, 1300, 1 }, { 2, 1300, 3 }, { 1, 1003, 5 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++)
        for (size_t kernel = 0; force_kernel_names[kernel]; kernel++)
            for (int precision = 0; precision_names[precision]; precision++)
                for (int periodic = 0; periodic < 2; periodic++) {
                    if (!thorough() && cases[c].count > 1000 && (c + precision + periodic) % 2)
                        continue;
                    check(&(struct problem){ .systems = cases[c].systems,
                                             .count = cases[c].count,
                                             .kernel = force_kernel_names[kernel],
                                             .precision = (enum precision)precision,
                                             .physics = periodic ? &box : &open_space },
                          cases[c].parts);
                }
}

/* 17 tiles are too many rounds for two parts to keep: the sums go up, in three slices, and down
 * again. */
static void test_several_laps(void **state)
{
    (void)state;
    for (int precision = 0; precision_names[precision]; precision++) {
        const struct problem problem = { .systems = 1,
                                         .count = 8205,
                                         .kernel = "symmetric",
                                         .precision = (enum precision)precision,
                                         .physics = &open_space,
                                         .forces_only = true };
        assert_int_equal(check(&problem, 2), 2 * 3);
    }
}

/* From 43681 bodies on, one process in double precision makes the sums of a round where the totals
 * stand; 43 tiles are three laps of two parts, up, down and up. Two seconds of sums. */
static void test_many_bodies(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__
    pass_untried("too slow with sanitizers or without optimisation");
#endif
    if (!thorough())
        pass_untried("ORRERY_THOROUGH does not ask for it");
    const struct problem problem = { .systems = 1,
                                     .count = 43681,
                                     .kernel = "symmetric",
                                     .precision = PRECISION_DOUBLE,
                                     .physics = &open_space,
                                     .forces_only = true };
    assert_int_equal(check(&problem, 2), 3 * 11);
}

/* Tests an ensemble of which one system lacks the masses for the third law. */
static void test_a_system_without_the_masses(void **state)
{
    (void)state;
    for (size_t massless = 0; massless < 3; massless++) {
        const struct problem problem = { .systems = 2,
                                         .count = 300,
                                         .massless = massless,
                                         .kernel = "symmetric",
                                         .precision = PRECISION_DOUBLE,
                                         .physics = &open_space };
        assert_int_equal(check(&problem, 3), 2 * 2 * (2 - massless));
    }
}

/* The memory that this process has asked for, as far as the system sees; large arrays one by one.
 */
static double address_space(void)
{
    FILE *const file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (!file || fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * 4096;
}

/* Returns the bytes of a force on 300000 bodies. Nothing of it is used, so that it costs no
 * memory. */
static double bytes_taken(const struct bodies *bodies, const struct force_options *options)
{
    struct error error = { 0 };
    struct force *force;
    const double before = address_space();
    assert_int_equal(force_create(options, &open_space, bodies, &force, &error), STATUS_OK);
    const double after = address_space();
    force_destroy(force);
    return after - before;
}

/* Tests that the memory that a run expects is enough, and for parts no more than a quarter too
 * much. */
static void test_the_memory_of_a_part(void **state)
{
    (void)state;
    struct bodies *const bodies = motion_cube(1, 300000, 91);
    const double before = address_space();
    double *const array = array_of(1 << 22, 0);
    const bool visible = address_space() - before > 8 * (1 << 22) - 4096;
    memory_free(array);
    for (int precision = 0; precision_names[precision]; precision++)
        for (size_t parts = 1; parts <= RELAY_PARTS && visible; parts++) {
            const struct force_options options = { .precision = (enum precision)precision,
                                                   .kernel = "symmetric",
                                                   .isa = "auto",
                                                   .threads = 1,
                                                   .share = share_of(bodies, 0, parts) };
            const double need = force_bytes(&options, 1, 300000);
            const double taken = bytes_taken(bodies, &options);
            assert_true(taken < 1.01 * need); /* whole pages, and places in them */
            assert_true(parts == 1 || need < 1.25 * taken);
        }
    bodies_destroy(bodies);
    if (!visible)
        pass_untried("sanitizers have memory in store");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_make_the_whole),
        cmocka_unit_test(test_several_laps),
        cmocka_unit_test(test_many_bodies),
        cmocka_unit_test(test_a_system_without_the_masses),
        cmocka_unit_test(test_the_memory_of_a_part),
    };
    return cmocka_run_group_tests_name("force-share", tests, NULL, NULL);
}
