#include "run/criteria.h"

enum status criteria_create(const struct config *config, const struct units *units,
                            const struct diagnostic *const *diagnostics, size_t diagnostic_count,
                            struct criteria *criteria, struct error *error)
{
    expectations_create(config, "expect", units, diagnostics, diagnostic_count, &criteria->expect,
                        error);
    expectations_create(config, "stop_when", units, diagnostics, diagnostic_count,
                        &criteria->stop_when, error);
    return error->status;
}

void criteria_destroy(struct criteria *criteria)
{
    expectations_destroy(&criteria->expect);
    expectations_destroy(&criteria->stop_when);
}

void criteria_row(struct criteria *criteria, size_t diagnostic, size_t system, double time,
                  const double *values)
{
    expectations_system_row(&criteria->expect, diagnostic, system, time, values);
    const struct criterion *met = expectations_met(&criteria->stop_when, diagnostic, time, values);
    if (met && !criteria->ended_by[0])
        criterion_text(met, criteria->ended_by);
}

const char *criteria_verdict(size_t expected, enum status status)
{
    switch (status) {
    case STATUS_OK:
        return expected ? "held" : "none";
    case STATUS_EXPECT_FAILED:
        return "failed";
    case STATUS_STOPPED:
        return "stopped";
    default:
        return "error";
    }
}
