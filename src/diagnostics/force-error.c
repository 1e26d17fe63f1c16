/* How exact the forces of the run are: some of them beside direct sums in double precision. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diagnostics/diagnostic-table.h"
#include "diagnostics/diagnostic.h"
#include "force/direct/reference.h"

enum { ERROR, LARGEST_ERROR, WORST_BODY, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "force_error", DIMENSION_NONE,
      "root mean square of |a - a_direct| over that of |a_direct|, of the chosen bodies: what "
      "compute.accuracy asks for" },
    { "largest_force_error", DIMENSION_NONE,
      "the largest |a - a_direct| among them, over the same root mean square" },
    { "worst_body", DIMENSION_NONE, "id of the body with that error" },
};

/* Takes the `count` bodies with the smallest hashes of their ids, wherever they are. */
struct force_error {
    struct diagnostic base;
    size_t count;
};

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { BIND(INTEGER, struct force_error, count), .default_value = DEFAULT_INTEGER(500), .minimum = 1,
      .maximum = 1e6,
      .help = "Bodies whose forces are compared; all, if there are no more. A hash of the ids "
              "chooses them." },
};

struct choice {
    uint64_t hash;
    size_t body;
};

/* Mixes the bits of an id (the finalizer of SplitMix64; Steele, Lea & Flood 2014). */
static uint64_t hash_of(int64_t id)
{
    uint64_t z = (uint64_t)id + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int by_hash(const void *a, const void *b)
{
    const struct choice *const x = a, *const y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* |a - a_direct|^2 and |a_direct|^2 of one body. */
struct comparison {
    double error2, a2;
};

static struct comparison compare(const struct moment *now, size_t system, size_t body)
{
    const struct bodies *const b = now->bodies;
    const size_t start = system * b->stride, i = start + body;
    const struct reference_motion motion = { .m = b->m + start,
                                             .x = { b->x + start, b->y + start, b->z + start },
                                             .v = { b->vx + start, b->vy + start, b->vz + start },
                                             .count = b->count };
    const double a[3] = { b->ax[i], b->ay[i], b->az[i] };
    double direct[3], jerk[3];
    struct comparison result = { 0 };
    reference_jerk(now->physics, &motion, body, direct, jerk);
    for (int axis = 0; axis < 3; axis++) {
        result.error2 += (a[axis] - direct[axis]) * (a[axis] - direct[axis]);
        result.a2 += direct[axis] * direct[axis];
    }
    return result;
}

static enum status measure(struct diagnostic *diagnostic, const struct moment *now, size_t system,
                           double *row, struct error *error)
{
    const struct bodies *const b = now->bodies;
    const size_t wanted = ((struct force_error *)diagnostic)->count;
    const size_t count = wanted < b->count ? wanted : b->count;
    struct choice *const choice = memory_array(b->count, sizeof *choice, error);
    struct comparison *const compared = memory_array(count, sizeof *compared, error);
    if (choice && compared) {
        double error2 = 0, a2 = 0;
        size_t worst = 0;
        for (size_t i = 0; i < b->count; i++)
            choice[i] = (struct choice){ hash_of(b->id[system * b->stride + i]), i };
        qsort(choice, b->count, sizeof *choice, by_hash);
#pragma omp parallel for num_threads(now->threads) schedule(dynamic, 4)
        for (size_t k = 0; k < count; k++)
            compared[k] = compare(now, system, choice[k].body);
        for (size_t k = 0; k < count; k++) {
            error2 += compared[k].error2;
            a2 += compared[k].a2;
            worst = compared[k].error2 > compared[worst].error2 ? k : worst;
        }
        if (a2 > 0) {
            row[ERROR] = sqrt(error2 / a2);
            row[LARGEST_ERROR] = sqrt(compared[worst].error2 / (a2 / (double)count));
            row[WORST_BODY] = (double)b->id[system * b->stride + choice[worst].body];
        }
    }
    memory_free(compared);
    memory_free(choice);
    return error->status;
}

static const struct drawing drawings[] = {
    { .name = "force-error",
      .title = "Error of the forces",
      .y_label = "error",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "force_error", "root mean square" }, { "largest_force_error", "largest" } },
      .caption = "Forces of the run beside direct sums in double precision, over the root mean "
                 "square of the latter." },
};

const struct diagnostic_class diagnostic_force_error = {
    .variant = { .name = "force-error",
                 .help = "Forces of some bodies beside direct sums in double precision.",
                 .parameters = parameters,
                 .parameter_count = COUNT_OF(parameters) },
    .size = sizeof(struct force_error),
    .needs = NEED_STATE | NEED_ACCELERATIONS,
    .measure_system = measure,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = sizeof(struct choice),
};
