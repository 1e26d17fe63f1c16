#include "run/content.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/document.h"
#include "force/direct/direct.h"

const char content_early[] = "early:";
const char content_files[] = "files";
const char content_legs[] = "legs";

const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE])
{
    snprintf(buffer, CHECKPOINT_NAME_SIZE, "%s%s:%zu", prefix, kind, index);
    return buffer;
}

const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE])
{
    const struct backend_description *d = &run->simulation->description;
    const uint32_t hash = direct_estimates(d->isa);
    char machine[CONTENT_BUILD_SIZE / 2] = "", estimates[32] = "";
    if (hash != 0)
        snprintf(estimates, sizeof estimates, " (1/sqrt %08" PRIx32 ")", hash);
    /* The kernel `portable` gives the same bits on every machine, except in external fields: their
     * logarithms and sines are rounded differently by different libraries. */
    if (strcmp(d->kernel, force_kernel_names[FORCE_PORTABLE]) != 0 ||
        run->simulation->physics.external)
        snprintf(machine, sizeof machine, " %s %s%s %s", d->backend, d->isa, estimates,
                 d->device ? d->device : "");
    snprintf(buffer, CONTENT_BUILD_SIZE, "orrery %s %s, %s %s; %s%s %s", build_version(),
             build_commit(), build_compiler(), build_options(), d->kernel, machine,
             precision_names[d->precision]);
    return buffer;
}

void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context)
{
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        const struct observed_diagnostic *observed = &run->observers.diagnostics[i];
        visit(context, "diagnostic", i, observed->diagnostic->state,
              observed->diagnostic->state_count);
        visit(context, "row", i, observed->last_row, observed->diagnostic->column_count);
        if (observed->aggregate)
            visit(context, "aggregate-row", i, aggregate_last_row(observed->aggregate),
                  aggregate_diagnostic(observed->aggregate)->column_count);
    }
    for (size_t i = 0; i < run->criteria.expect.count; i++)
        visit(context, "expect", i, run->criteria.expect.criteria[i].state, CRITERION_STATE);
    visit(context, "member_error", 0, run->ensemble.largest_error,
          run->simulation->bodies->systems);
    size_t length;
    double *watched = watch_state(run->observers.watch, &length);
    visit(context, "watch", 0, watched, length);
}

enum status content_get_json(const struct checkpoint *checkpoint, const char *name,
                             struct json_t **json, struct error *error)
{
    bool no_memory;
    char *text = checkpoint_get_text(checkpoint, name, error);
    *json = NULL;
    if (!text)
        return error->status;
    *json = document_parse(text, strlen(text), &no_memory);
    free(text);
    return !*json && no_memory ? error_memory(error) : STATUS_OK;
}
