#include "diagnostics/diagnostic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

#define CLASS_OF(name) &diagnostic_##name,
static const struct diagnostic_class *const table[] = { DIAGNOSTIC_ROWS(CLASS_OF) };
static const struct diagnostic_class *const own_groups[] = { DIAGNOSTIC_GROUP_ROWS(CLASS_OF) };

const struct parameter diagnostic_parameters[] = {
    DIAGNOSTIC_EVERY(500),
    { KEY(STRING, name), OPTIONAL,
      .help = "Name of its file and, before a dot, of its columns in `expect`; unset: the type." },
};
const size_t diagnostic_parameter_count = COUNT_OF(diagnostic_parameters);

static enum status drop_row(void *context, size_t system, const double *values, struct error *error)
{
    (void)context, (void)system, (void)values, (void)error;
    return STATUS_OK;
}

const struct row_sink row_sink_nowhere = { drop_row, NULL };

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

enum { NAME_MOST = 100 }; /* bytes; names of files are longer by their endings */

void diagnostic_check_name(const struct section *section, struct error *error)
{
    const char *const name = section_string(section, "name");
    if (name && (!name_is_word(name) || strchr(name, '.') || strlen(name) > NAME_MOST))
        section_error(section, "name", error,
                      "must be letters, digits, '-' and '_', at most 100, and begin with a letter "
                      "or a digit");
}

static struct diagnostic *allocate(const struct diagnostic_class *class_,
                                   const struct section *section, size_t systems,
                                   struct error *error)
{
    struct diagnostic *const diagnostic =
        calloc(1, class_->size > 0 ? class_->size : sizeof *diagnostic);
    if (!diagnostic)
        return NULL;
    *diagnostic = (struct diagnostic){ .class_ = class_,
                                       .name = class_->variant.name,
                                       .columns = class_->columns,
                                       .column_count = class_->column_count,
                                       .row_count = 1,
                                       .needs = class_->needs };
    section_read(section, diagnostic);
    diagnostic->state_count = class_->state_count
                                  ? class_->state_count(diagnostic, systems)
                                  : systems * class_->state_reals + class_->shared_reals;
    diagnostic->state = memory_array(diagnostic->state_count, sizeof *diagnostic->state, error);
    if (diagnostic->state)
        return diagnostic;
    free(diagnostic);
    return NULL;
}

enum status diagnostic_create_as(const struct diagnostic_class *class_,
                                 const struct section *section, const struct moment *start,
                                 struct diagnostic **result, struct error *error)
{
    *result = NULL;
    if (class_->open_space && start->physics->boundary == BOUNDARY_PERIODIC)
        return section_error(section, "type", error, "needs physics.boundary = \"open\"");
    struct diagnostic *const diagnostic = allocate(class_, section, start->bodies->systems, error);
    if (!diagnostic)
        return error_set(error, STATUS_MEMORY, "out of memory for the diagnostic %s",
                         class_->variant.name);
    if (class_->init && class_->init(diagnostic, section, start, error))
        goto fail;
    diagnostic->row = memory_array(diagnostic->column_count, sizeof *diagnostic->row, error);
    if (!diagnostic->row)
        goto fail;
    *result = diagnostic;
    return STATUS_OK;
fail:
    diagnostic_destroy(diagnostic);
    return error->status;
}

void diagnostic_destroy(struct diagnostic *diagnostic)
{
    if (!diagnostic)
        return;
    if (diagnostic->class_->clear)
        diagnostic->class_->clear(diagnostic);
    memory_free(diagnostic->state);
    memory_free(diagnostic->row);
    free(diagnostic);
}

enum status diagnostic_create(const struct section *section, const struct moment *start,
                              struct diagnostic **diagnostic, struct error *error)
{
    *diagnostic = NULL;
    const char *name = section_string(section, "name");
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        if (&table[i]->variant != section_variant(section))
            continue;
        const enum status status =
            diagnostic_create_as(table[i], section, start, diagnostic, error);
        if (!status && name)
            (*diagnostic)->name = name;
        return status;
    }
    return section_error(section, "type", error, "is not a diagnostic");
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, const struct row_sink *sink, struct error *error)
{
    if (diagnostic->class_->measure_rows)
        return diagnostic->class_->measure_rows(diagnostic, now, system, sink, error);
    for (size_t k = 0; k < diagnostic->column_count; k++)
        diagnostic->row[k] = NAN;
    if (diagnostic->class_->measure_system(diagnostic, now, system, diagnostic->row, error))
        return error->status;
    return sink->row(sink->context, system, diagnostic->row, error);
}

enum status diagnostic_measure(struct diagnostic *diagnostic, const struct moment *now,
                               const struct row_sink *sink, struct error *error)
{
    if (diagnostic->class_->prepare)
        diagnostic->class_->prepare(diagnostic, now);
    enum status status = STATUS_OK;
    struct interruption *const interruption = now->physics->interruption;
    for (size_t s = 0; s < now->bodies->systems && !status; s++) {
        status = measure_system(diagnostic, now, s, sink, error);
        const bool more = s + 1 < now->bodies->systems;
        if (!status &&
            (more ? interruption_raised(interruption) : interruption_noticed(interruption)))
            status = interruption_status(interruption, error);
    }
    return status;
}

double diagnostic_equal_bodies(double mass, double squares)
{
    return mass > 0.0 ? mass * mass / squares : 0.0;
}

/* --- species ---------------------------------------------------------------------------------- */

static bool takes(const char *wanted, const char *name)
{
    const size_t length = strlen(wanted);
    return strncmp(wanted, name, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

bool species_has(const char *species, const struct bodies *bodies, size_t i)
{
    const size_t own = bodies_species(bodies, i);
    return !species || (own < bodies->species_count && takes(species, bodies->species[own].name));
}

enum status species_check(const struct section *section, const char *species,
                          const struct bodies *bodies, struct error *error)
{
    char names[512] = "";
    for (size_t i = 0; i < bodies->count; i++)
        if (species_has(species, bodies, i))
            return STATUS_OK;
    for (size_t k = 0; k < bodies->species_count; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k > 0 ? ", " : "",
                 bodies->species[k].name);
    return section_error(section, "species", error, "is no species of the bodies, which %s%s",
                         names[0] ? "are: " : "have none", names);
}
