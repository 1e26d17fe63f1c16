/* The diagnostic of the force error: the accelerations of some bodies are compared with direct sums
 * in double precision. */
#include "diagnostics/force-error.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "external/external.h"
#include "force/direct/reference.h"

enum { ERROR, LARGEST_ERROR, WORST_BODY, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "force_error", DIMENSION_NONE,
      "root mean square of |a - a_direct| over that of |a_direct|, of the chosen "
      "bodies; compute.accuracy is its limit" },
    { "largest_force_error", DIMENSION_NONE,
      "the largest |a - a_direct| among them, over the same root mean square" },
    { "worst_body", DIMENSION_NONE, "id of the body with that error" },
};

/* The diagnostic. It compares the `count` bodies whose ids have the smallest hashes: a choice at
 * random that is always the same. */
struct force_error {
    struct diagnostic base;
    size_t count;
};

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { BIND(INTEGER, struct force_error, count), BY_DEFAULT(INTEGER, 500), BETWEEN(1, 1e6),
      .help = "Bodies whose forces are compared; all, if there are no more. A hash of the ids "
              "chooses them." },
};

static enum status measure_errors(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    struct force_audit audit;
    if (force_audit(now, system, ((struct force_error *)diagnostic)->count, &audit, error))
        return error->status;
    row[ERROR] = audit.error;
    row[LARGEST_ERROR] = audit.largest;
    row[WORST_BODY] = audit.worst;
    return STATUS_OK;
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
    .measure_system = measure_errors,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = FORCE_AUDIT_BODY_BYTES,
};

/* --- the comparison --------------------------------------------------------------------------- */

/* A chosen body: the hash of its id, and its number in the system. */
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
    const uint64_t one = ((const struct choice *)a)->hash, other = ((const struct choice *)b)->hash;
    return (one > other) - (one < other);
}

/* Puts the `count` bodies of the smallest hashes first in choice[bodies], sorted by hash, so that
 * every call chooses the same bodies in the same order. Only bodies below a limit are sorted, which
 * grows until it has let `count` of them through. */
static void choose(const int64_t *ids, size_t bodies, struct choice *choice, size_t count)
{
    size_t found = 0;
    for (double share = 1.5 * (double)count / (double)bodies; found < count; share *= 2) {
        const uint64_t limit = share < 1 ? (uint64_t)ldexp(share, 64) : UINT64_MAX;
        found = 0;
        for (size_t i = 0; i < bodies; i++) {
            choice[found] = (struct choice){ hash_of(ids[i]), i };
            found += choice[found].hash <= limit;
        }
    }
    qsort(choice, found, sizeof *choice, by_hash);
}

/* |a - a_direct|^2 and |a_direct|^2 of one body: a its acceleration in the run, a_direct the direct
 * sum. */
struct comparison {
    double error2, a2;
};

static struct comparison compare_forces(const struct moment *now, size_t system, size_t body)
{
    const struct bodies *const b = now->bodies;
    const size_t start = system * b->stride, i = start + body;
    const struct reference_motion motion = { .m = b->m + start,
                                             .x = { b->x + start, b->y + start, b->z + start },
                                             .v = { b->vx + start, b->vy + start, b->vz + start },
                                             .count = b->count };
    const double a[3] = { b->ax[i], b->ay[i], b->az[i] };
    double direct[3], jerk[3], field[3] = { 0 };
    struct comparison result = { 0 };
    reference_jerk(now->physics, &motion, body, direct, jerk);
    if (now->physics->external)
        external_acceleration(now->physics->external,
                              (const double[3]){ b->x[i], b->y[i], b->z[i] }, field);
    for (int axis = 0; axis < 3; axis++) {
        direct[axis] += field[axis];
        result.error2 += (a[axis] - direct[axis]) * (a[axis] - direct[axis]);
        result.a2 += direct[axis] * direct[axis];
    }
    return result;
}

static int by_error(const void *a, const void *b)
{
    const double one = ((const struct comparison *)a)->error2;
    const double other = ((const struct comparison *)b)->error2;
    return (one > other) - (one < other);
}

/* Returns the |a - a_direct| that one in `part` of the bodies exceeds; NaN if there are fewer than
 * `part` bodies. `compared` is sorted by the error. */
static double error_but_for(size_t part, const struct comparison *compared, size_t count)
{
    return count < part ? NAN : sqrt(compared[count - 1 - count / part].error2);
}

/* Returns the standard error of the root R^(1/2) of a ratio R = sum error2 / sum a2 over `count` of
 * all bodies, with the sum `a2` (Cochran 1977, Sampling Techniques, eq. 6.13). */
static double uncertainty_of(const struct comparison *compared, size_t count, size_t all, double R,
                             double a2)
{
    const double part = (double)count / (double)all;
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += pow(compared[k].error2 - R * compared[k].a2, 2);
    return R > 0 ? sqrt((1 - part) * sum) / a2 / (2 * sqrt(R)) : 0;
}

enum status force_audit(const struct moment *now, size_t system, size_t wanted,
                        struct force_audit *audit, struct error *error)
{
    const struct bodies *const b = now->bodies;
    const size_t count = wanted < b->count ? wanted : b->count;
    *audit = (struct force_audit){ NAN, NAN, NAN, NAN, NAN, NAN };
    struct choice *const choice = memory_array(b->count, sizeof *choice, error);
    struct comparison *const compared = memory_array(count, sizeof *compared, error);
    if (choice && compared) {
        double error2 = 0, a2 = 0;
        size_t worst = 0;
        choose(b->id + system * b->stride, b->count, choice, count);
#pragma omp parallel for num_threads(now->threads) schedule(dynamic, 4)
        for (size_t k = 0; k < count; k++)
            if (!interruption_raised(now->physics->interruption))
                compared[k] = compare_forces(now, system, choice[k].body);
        for (size_t k = 0; k < count; k++) {
            error2 += compared[k].error2;
            a2 += compared[k].a2;
            worst = compared[k].error2 > compared[worst].error2 ? k : worst;
        }
        const double rms = sqrt(a2 / (double)count), largest = sqrt(compared[worst].error2);
        qsort(compared, count, sizeof *compared, by_error);
        if (a2 > 0)
            *audit = (struct force_audit){
                .error = sqrt(error2 / a2),
                .uncertainty = uncertainty_of(compared, count, b->count, error2 / a2, a2),
                .error_99 = error_but_for(100, compared, count) / rms,
                .error_9999 = error_but_for(10000, compared, count) / rms,
                .largest = largest / rms,
                .worst = (double)b->id[system * b->stride + choice[worst].body],
            };
    }
    memory_free(compared);
    memory_free(choice);
    return error->status ? error->status : interruption_status(now->physics->interruption, error);
}
