/* The diagnostic of the force error: the forces on some bodies beside direct sums in double
 * precision. */
#include "diagnostics/diagnostic-table.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/force-audit.h"

enum { ERROR, LARGEST_ERROR, WORST_BODY, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "force_error", DIMENSION_NONE,
      "root mean square of |a - a_direct| over that of |a_direct|, of the chosen "
      "bodies; compute.accuracy is its limit" },
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

static enum status measure(struct diagnostic *diagnostic, const struct moment *now, size_t system,
                           double *row, struct error *error)
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
    .measure_system = measure,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = FORCE_AUDIT_BODY_BYTES,
};
