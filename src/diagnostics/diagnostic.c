#include "diagnostics/diagnostic.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diagnostics/table.h"

static const struct diagnostic_class *const table[] = {
    &diagnostic_close_encounters,    &diagnostic_conservation,        &diagnostic_density_profile,
    &diagnostic_density_slope,       &diagnostic_lagrangian_radii,    &diagnostic_orbit,
    &diagnostic_radial_distribution, &diagnostic_velocity_dispersion, &diagnostic_virial,
};

static const struct diagnostic_class *const own_groups[] = { &diagnostic_energy_budget,
                                                             &diagnostic_trust };

const struct parameter diagnostic_parameters[] = {
    DIAGNOSTIC_EVERY("500"),
    { .key = "name",
      .type = PARAMETER_STRING,
      .standard = "",
      .help = "Name of its file and, before a dot, of its columns in `expect`; unset: the type." },
};
const size_t diagnostic_parameter_count = COUNT_OF(diagnostic_parameters);

const struct diagnostic_class *diagnostic_at(size_t index)
{
    return index < COUNT_OF(table) ? table[index] : NULL;
}

const struct diagnostic_class *diagnostic_measured(size_t index)
{
    const size_t own = index - COUNT_OF(table);
    if (index < COUNT_OF(table))
        return table[index];
    return own < COUNT_OF(own_groups) ? own_groups[own] : NULL;
}

const struct variant *diagnostic_variant(size_t index)
{
    return index < COUNT_OF(table) ? &table[index]->variant : NULL;
}

/* A name that makes a plain file name and can be written before a dot in `expect`. */
static bool good_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return name[0] != '\0' && name[strspn(name, letters)] == '\0';
}

enum status diagnostic_create(const struct section *section, const struct moment *start,
                              struct diagnostic **diagnostic, struct error *error)
{
    *diagnostic = NULL;
    const char *name = section_string(section, "name");
    if (name && !good_name(name))
        return section_error(section, "name", error, "must be letters, digits, '-' and '_'");
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        if (&table[i]->variant != section_variant(section))
            continue;
        const enum status status = table[i]->create(section, start, diagnostic, error);
        if (!status && name)
            (*diagnostic)->name = name;
        return status;
    }
    return section_error(section, "type", error, "is not a diagnostic");
}

enum status diagnostic_measure(struct diagnostic *diagnostic, const struct moment *now,
                               const struct row_sink *sink, struct error *error)
{
    const struct diagnostic_class *class_ = diagnostic->class_;
    if (class_->prepare)
        class_->prepare(diagnostic, now);
    enum status status = STATUS_OK;
    for (size_t s = 0; s < now->bodies->systems && !status; s++)
        status = class_->measure_system(diagnostic, now, s, sink, error);
    return status;
}

struct diagnostic *diagnostic_allocate(const struct diagnostic_class *class_, size_t size,
                                       size_t memory_count, struct error *error)
{
    struct diagnostic *diagnostic = calloc(1, size);
    double *memory = diagnostic ? memory_array(memory_count, sizeof *memory, error) : NULL;
    if (!memory) {
        free(diagnostic);
        error_set(error, STATUS_MEMORY, "out of memory for the diagnostic %s",
                  class_->variant.name);
        return NULL;
    }
    *diagnostic = (struct diagnostic){ .class_ = class_,
                                       .name = class_->variant.name,
                                       .columns = class_->columns,
                                       .column_count = class_->column_count,
                                       .row_count = 1,
                                       .memory = memory,
                                       .memory_count = memory_count };
    return diagnostic;
}

void diagnostic_free(struct diagnostic *diagnostic)
{
    if (!diagnostic)
        return;
    memory_free(diagnostic->memory);
    free(diagnostic);
}
