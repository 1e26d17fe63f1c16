/*
 * The bits of every kernel, precision, space and launch as one hash a line. The executor and a GPU
 * whose kernels have the executor's estimates must print the same lines (validation/gpu/run).
 */
#include "gpu-case.h"

#include <xxhash.h>

#include "gpu/host/due.h"

static const struct {
    const char *name;
    const struct physics *physics;
} spaces[] = { { "soft", &case_soft }, { "sharp", &case_sharp }, { "periodic", &case_periodic } };

/* One body, two, ragged granules, ragged segments, several tiles; a system alone and several. */
static const size_t shapes[][2] = { { 1, 1 }, { 1, 2 }, { 1, 77 }, { 3, 70 }, { 1, 1061 } };

static unsigned long long hash_of(struct case_vectors vectors)
{
    const XXH64_hash_t hash = XXH3_64bits(vectors.a, 3 * vectors.length * sizeof(double));
    free(vectors.a);
    return hash;
}

static void print_launch(const char *kernel, enum precision precision, size_t space,
                         const size_t *shape, bool equal, const struct gpu_tuning *tuning)
{
    struct bodies *b = case_bodies(shape[0], shape[1], 100 + shape[1]);
    if (equal)
        case_equal_masses(b, 2.385);
    case_accelerations(b, spaces[space].physics, kernel, precision, tuning);
    printf("force %s %s %s %zux%zu%s %d/%d/%d/%d/%d %016llx\n", kernel, precision_names[precision],
           spaces[space].name, shape[0], shape[1], equal ? " equal" : "", tuning->block,
           tuning->tile, tuning->bodies, tuning->split, tuning->at_once,
           hash_of(case_save_accelerations(b)));
    bodies_destroy(b);
}

/* The least launch that a kernel was built for, its start, and its most. */
static void print_forces(void **state)
{
    (void)state;
    for (int id = 0; id < GPU_KERNELS; id++)
        for (int p = PRECISION_DOUBLE; case_has((size_t)id, p); p++) {
            const struct gpu_limits *limits = &gpu_catalog[id].limits[p];
            const struct gpu_tuning *start = &limits->start;
            const struct gpu_tuning tunings[] = {
                { limits->block.least, limits->tile.least, limits->bodies.least, 1,
                  limits->at_once.least },
                { start->block, start->tile, start->bodies, gpu_catalog[id].splits ? 3 : 1,
                  start->at_once },
                { limits->block.most, limits->tile.most, limits->bodies.most,
                  gpu_catalog[id].splits ? 32 : 1, limits->at_once.most },
            };
            for (size_t space = 0; space < COUNT_OF(spaces); space++)
                for (size_t shape = 0; shape < COUNT_OF(shapes); shape++)
                    for (size_t t = 0; t < COUNT_OF(tunings); t++)
                        if (shape < 4 || (t == 1 && space == 0))
                            print_launch(gpu_catalog[id].name, (enum precision)p, space,
                                         shapes[shape], false, &tunings[t]);
            for (size_t shape = 2; shape < COUNT_OF(shapes); shape += 2)
                print_launch(gpu_catalog[id].name, (enum precision)p, 0, shapes[shape], true,
                             &tunings[1]);
        }
}

/* Steps by one integrator; `bodies` of a thread of gpu_resident(), or 0: those of the model. */
static void print_motion(const char *integrator, enum precision precision, const size_t *shape,
                         unsigned long seed, int bodies)
{
    struct bodies *b = case_bodies(shape[0], shape[1], seed);
    struct case_device on;
    char launch[16] = "";
    if (bodies > 0)
        snprintf(launch, sizeof launch, " %d/thread", bodies);
    case_resident_bodies = bodies;
    case_open(&on, b, &case_soft, "blocked", precision, NULL, b->count);
    case_upload(&on, b->systems);
    case_advance(&on, integrator, 0.0078125, 5);
    case_fetch(&on);
    case_close(&on);
    printf("steps %s %s %zux%zu%s %016llx %016llx\n", integrator, precision_names[precision],
           shape[0], shape[1], launch, hash_of(case_save(b, b->x, b->y, b->z)),
           hash_of(case_save(b, b->vx, b->vy, b->vz)));
    bodies_destroy(b);
}

/* Steps of every integrator with fixed steps: systems that stay in a block, and one that does not.
 */
static void print_steps(void **state)
{
    (void)state;
    static const size_t systems_of[][2] = { { 1, 2 }, { 3, 70 }, { 1, 300 } };
    for (size_t i = 0; integrator_has_stages(integrator_at(i)); i++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++)
            for (size_t k = 0; k < COUNT_OF(systems_of); k++) {
                const char *const name = integrator_at(i)->variant.name;
                print_motion(name, (enum precision)p, systems_of[k], 40 + k, 0);
                for (int bodies = 1; bodies <= GPU_RESIDENT_MOST && k == 1; bodies++)
                    print_motion(name, (enum precision)p, systems_of[k], 40 + k, bodies);
            }
}

/* The sums for every third body: accelerations, and in open space accelerations with jerks. */
static void print_due(enum precision precision, size_t space, size_t count, bool rates)
{
    const struct force_options options = { .precision = precision, .method = &gpu_due };
    struct bodies *b = case_bodies(1, count, 300 + count);
    const double *const x[] = { b->x, b->y, b->z }, *const v[] = { b->vx, b->vy, b->vz };
    double *values = calloc(6 * count, sizeof *values), *sums[6];
    uint32_t *due = calloc(count, sizeof *due), number = 0;
    struct error error = { 0 };
    struct jerk *jerk;
    for (size_t i = 0; i < count; i += 3)
        due[number++] = (uint32_t)i;
    for (size_t n = 0; n < 6; n++)
        sums[n] = values + n * count;
    assert_int_equal(jerk_create(&options, spaces[space].physics, count, rates, &jerk, &error),
                     STATUS_OK);
    jerk_open(jerk, b, 0);
    jerk_pack(jerk, x, v, 0, b->stride);
    jerk_sum(jerk, due, number, sums, sums + 3);
    printf("due %s %s %s %zu %016llx\n", jerk->kernel, precision_names[precision],
           spaces[space].name, count,
           (unsigned long long)XXH3_64bits(values, 6 * count * sizeof *values));
    jerk_destroy(jerk);
    free(values);
    free(due);
    bodies_destroy(b);
}

/* The potentials, in fp64 and in pairs of floats. Of the last bodies of each shape two are in one
 * place, so that those in floats have to be repeated. */
static void print_energies(void **state)
{
    (void)state;
    static const char *const names[] = {
        [GPU_ENERGIES_DOUBLE] = "double", [GPU_ENERGIES_FLOATS] = "floats"
    };
    for (int energies = GPU_ENERGIES_DOUBLE; energies <= GPU_ENERGIES_FLOATS; energies++)
        for (size_t space = 0; space < COUNT_OF(spaces); space++)
            for (size_t shape = 0; shape < COUNT_OF(shapes); shape++) {
                struct bodies *b = case_bodies(shapes[shape][0], shapes[shape][1], 500 + shape);
                const size_t length = bodies_length(b), last = b->count - 1;
                double *phi = calloc(3 * length, sizeof *phi);
                struct case_device on;
                if (last > 1)
                    b->x[last] = b->x[1], b->y[last] = b->y[1], b->z[last] = b->z[1];
                case_energies = (enum gpu_energies)energies;
                case_open(&on, b, spaces[space].physics, "auto", PRECISION_SINGLE, NULL, b->count);
                case_potentials(&on, b, phi, phi + length);
                case_close(&on);
                printf("energy %s %s %zux%zu %016llx\n", names[energies], spaces[space].name,
                       shapes[shape][0], shapes[shape][1],
                       hash_of((struct case_vectors){ length, phi }));
                bodies_destroy(b);
            }
}

static void print_bodies_that_are_due(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 77, 300 };
    for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE; p++)
        for (size_t space = 0; space < COUNT_OF(spaces); space++)
            for (size_t k = 0; k < COUNT_OF(counts); k++) {
                print_due((enum precision)p, space, counts[k], false);
                if (p <= PRECISION_MIXED && spaces[space].physics->boundary == BOUNDARY_OPEN)
                    print_due((enum precision)p, space, counts[k], true);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(print_forces),
        cmocka_unit_test(print_steps),
        cmocka_unit_test(print_bodies_that_are_due),
        cmocka_unit_test(print_energies),
    };
    return cmocka_run_group_tests_name("hashes of the GPU's kernels", tests, NULL, NULL);
}
