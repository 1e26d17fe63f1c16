/* orrery info: describes this program and this machine, and every name and key of a config. */
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/mpi-job.h"
#include "base/build.h"
#include "base/memory.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "config/parameter-reference.h"
#include "diagnostics/diagnostic.h"
#include "gpu/host/devices.h"
#include "gpu/host/tuning.h"
#include "integrator/stage-list.h"
#include "machine/cores.h"
#include "run/schema.h"

enum { NAME_COLUMN = 22 };

/* Appends a line for `name`, and frees the words that explain it. */
static void put_item(const char *indent, const char *name, struct text *words, struct text *text)
{
    reference_item(indent, name, NAME_COLUMN, words->bytes ? words->bytes : "", text);
    text_free(words);
}

/* --- the overview ----------------------------------------------------------------------------- */

static void print_build(struct text *text)
{
    struct text line = { 0 };
    text_print(text, "orrery %s\n", build_version());
    reference_item("  ", "commit", NAME_COLUMN, build_commit(), text);
    reference_item("  ", "compiler", NAME_COLUMN, build_compiler(), text);
    reference_item("  ", "options", NAME_COLUMN, build_options(), text);
    text_print(&line, "%d", cores_available());
    put_item("  ", "cores", &line, text);
    char library[MPI_LIBRARY_SIZE];
    reference_item("  ", "MPI", NAME_COLUMN, mpi_library(library), text);
}

#if defined(__x86_64__)
#define FEATURE(name)                                                                              \
    {                                                                                              \
        name, __builtin_cpu_supports(name) != 0                                                    \
    }
#endif

static void print_cpu(struct text *text)
{
    struct text line = { 0 };
#ifdef FEATURE
    const struct {
        const char *name;
        bool here;
    } features[] = { FEATURE("sse4.2"),  FEATURE("avx"),      FEATURE("avx2"),    FEATURE("fma"),
                     FEATURE("avx512f"), FEATURE("avx512dq"), FEATURE("avx512vl") };
    for (size_t i = 0; i < COUNT_OF(features); i++)
        if (features[i].here)
            text_print(&line, "%s ", features[i].name);
#endif
    reference_item("  ", "CPU features", NAME_COLUMN, line.length ? line.bytes : "baseline", text);
    text_free(&line);
    for (size_t k = 1; force_isa_names[k]; k++) /* from the fastest instruction set on */
        if (force_isa_runs(force_isa_names[k]))
            text_print(&line, "%s%s", line.length ? ", " : "", force_isa_names[k]);
    put_item("  ", "CPU kernels", &line, text);
}

static void print_backends(struct text *text)
{
    text_print(text, "\nbackends here\n");
    for (size_t i = 0; backend_at(i); i++) {
        const struct backend_class *class_ = backend_at(i);
        struct error error = { 0 };
        const bool usable = !class_->probe || class_->probe(&error) == STATUS_OK;
        struct text line = { 0 };
        text_print(&line, "%s%s", usable ? "usable" : "not usable: ", usable ? "" : error.text);
        put_item("  ", class_->variant.name, &line, text);
    }
}

/* Appends the launch sizes (threads per block and so on) of a GPU's kernel GPU_BLOCKED for each
 * precision: those that `orrery bench --gpu` has found to be fastest, or the defaults. */
static void print_tuning(const struct gpu_device *device, struct text *text)
{
    struct gpu_tuning_table table;
    gpu_tuning_load(device, NULL, &table);
    for (size_t k = 0; k < table.count; k++) {
        const struct gpu_tuning_row *row = &table.rows[k];
        const struct gpu_tuning *tuning = &row->tuning;
        struct text line = { 0 };
        if (row->kernel != GPU_BLOCKED)
            continue;
        text_print(&line, "block %d, tile %d, %d bodies per thread, %d blocks at once ",
                   tuning->block, tuning->tile, tuning->bodies, tuning->at_once);
        if (row->count > 0)
            text_print(&line, "(measured with %zu bodies)", row->count);
        else
            text_print(&line, "(not measured: orrery bench --gpu)");
        put_item("    ", precision_names[row->precision], &line, text);
    }
}

static void print_gpus(struct text *text)
{
    struct error error = { 0 };
    struct gpu_device device;
    int count;
    if (gpu_device_count(&count, &error))
        return;
    text_print(text, "\nGPUs\n");
    for (int i = 0; i < count; i++) {
        struct text line = { 0 };
        if (gpu_device_find(i, &device, &error))
            continue;
        text_print(&line, "%s, %d multiprocessors, %.1f GiB, driver %d.%d", device.isa,
                   device.multiprocessors, (double)device.memory / 0x1p30, device.driver / 1000,
                   device.driver % 1000 / 10);
        put_item("  ", device.name, &line, text);
        print_tuning(&device, text);
    }
}

/* Appends the line of a variant, such as the initial condition "plummer": its name, its help and
 * its keys, "[count, radius]". */
static void print_variant_line(const struct variant *variant, struct text *text)
{
    struct text line = { 0 };
    text_print(&line, "%s", variant->help);
    for (size_t i = 0; i < variant->parameter_count; i++)
        text_print(&line, "%s%s", i ? ", " : " [", variant->parameters[i].key);
    if (variant->parameter_count)
        text_print(&line, "]");
    put_item("  ", variant->name, &line, text);
}

/* Appends the keys whose choices have explanations (compute.kernel, for instance), each with its
 * choices and what they mean. */
static void print_choices(const struct schema *schema, struct text *text)
{
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        for (size_t k = 0; k < group->parameter_count; k++) {
            const struct parameter *row = &group->parameters[k];
            if (row->choice_help)
                text_print(text, "\n%s.%s\n", group->name, row->key);
            for (size_t c = 0; row->choice_help && row->choices[c]; c++)
                reference_item("  ", row->choices[c], NAME_COLUMN, row->choice_help[c], text);
        }
    }
}

/* Appends the line of a group of keys: "time   How the bodies move, and for how long. [integrator,
 * step, end]". */
static void print_group_line(const struct group *group, struct text *text)
{
    struct text line = { 0 };
    text_print(&line, "%s%s", group->help ? group->help : "Keys outside all groups.",
               group->variant_key ? " [" : "");
    if (group->variant_key)
        text_print(&line, "%s", group->variant_key);
    for (size_t i = 0; i < group->parameter_count; i++)
        text_print(&line, "%s%s", i || group->variant_key ? ", " : " [", group->parameters[i].key);
    text_print(&line, "]");
    put_item("  ", *group->name ? group->name : "(top level)", &line, text);
}

static void print_overview(const struct schema *schema, struct text *text)
{
    print_build(text);
    print_cpu(text);
    print_backends(text);
    print_gpus(text);
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        if (!group_described(group, 0))
            continue;
        text_print(text, "\n%s.%s\n", group->name, group->variant_key);
        for (size_t k = 0; group->variant(k); k++)
            print_variant_line(group->variant(k), text);
    }
    print_choices(schema, text);
    text_print(text, "\ngroups of a config file\n");
    for (size_t i = 0; i < schema->group_count; i++)
        print_group_line(&schema->groups[i], text);
    text_print(text,
               "\n`orrery info NAME` says more of any of these names, of a column and of a key.\n");
}

/* --- one name --------------------------------------------------------------------------------- */

/* Appends the columns of the file of a diagnostic, and how the criteria in `expect` name them;
 * nothing if `variant` is no diagnostic. */
static void print_diagnostic(const struct variant *variant, struct text *text)
{
    for (size_t i = 0; diagnostic_at(i); i++) {
        const struct diagnostic_class *class_ = diagnostic_at(i);
        if (&class_->variant != variant)
            continue;
        if (!class_->table)
            text_print(text, "\n  columns of %s.csv; `expect` can name them\n", variant->name);
        else
            text_print(text, "\n  columns of %s.csv; in `expect`: %s.NAME\n", variant->name,
                       variant->name);
        for (size_t c = 0; c < class_->column_count; c++)
            reference_item("  ", class_->columns[c].name, NAME_COLUMN + 4, class_->columns[c].help,
                           text);
    }
}

static const char *yes_or_no(bool yes)
{
    return yes ? "yes" : "no";
}

static void print_integrator(const struct variant *variant, struct text *text)
{
    const struct integrator *integrator = integrator_find(variant->name);
    if (!integrator || &integrator->variant != variant)
        return;
    struct text line = { 0 };
    if (integrator->order > 0)
        text_print(&line,
                   "%d; symplectic: %s; reversible: %s; forces per step: ", integrator->order,
                   yes_or_no(integrator->symplectic), yes_or_no(integrator->reversible));
    if (integrator_has_stages(integrator))
        text_print(&line, "%zu", integrator_forces_per_step(integrator));
    else if (integrator_chooses_steps(integrator))
        text_print(&line, "as many as it takes");
    else
        text_print(&line, "that of the stages: orrery check tells it, and what else they are");
    text_print(text, "\n");
    reference_item("  ", "order", 18, line.bytes ? line.bytes : "", text);
    line.length = 0;
    stage_list_print(integrator, &line);
    if (line.length > 0)
        reference_item("  ", "stages", 18, line.bytes, text);
    if (integrator->source)
        reference_item("  ", "source", 18, integrator->source, text);
    text_free(&line);
}

/* Explains every column of a diagnostic that is called `name`: "energy_error", or
 * "conservation.energy_error" for that of one diagnostic. Returns `more`, which says that text was
 * appended before, or true if it has found a column. */
static bool print_columns(const char *name, bool more, struct text *text)
{
    for (size_t i = 0; diagnostic_measured(i); i++) {
        const struct diagnostic_class *class_ = diagnostic_measured(i);
        const size_t length = strlen(class_->variant.name);
        const bool of_class = strncmp(name, class_->variant.name, length) == 0;
        const char *column = of_class && name[length] == '.' ? name + length + 1 : name;
        for (size_t c = 0; c < class_->column_count; c++) {
            if (strcmp(class_->columns[c].name, column) != 0)
                continue;
            text_print(text, "%s%s.%s, a column of %s.csv\n  ", more ? "\n" : "",
                       class_->variant.name, column, class_->variant.name);
            text_wrap(text, "  ", REFERENCE_WIDTH, class_->columns[c].help);
            text_print(text, "\n");
            more = true;
        }
    }
    return more;
}

/* Explains every group, variant, key, explained choice and column that is called `name`: "time",
 * "plummer", "time.step", "tiled", "energy_error". Returns whether there is any. */
static bool print_name(const struct schema *schema, const char *name, struct text *text)
{
    bool found = false;
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        if (*group->name && strcmp(group->name, name) == 0) {
            text_print(text, "%s", found ? "\n" : "");
            reference_group(group, text);
            found = true;
        }
        for (size_t k = 0; group_described(group, k); k++) {
            const struct variant *variant = group->variant(k);
            if (strcmp(variant->name, name) != 0)
                continue;
            text_print(text, "%s", found ? "\n" : "");
            reference_variant(group, variant, text);
            print_diagnostic(variant, text);
            print_integrator(variant, text);
            found = true;
        }
    }
    found = reference_key(schema, name, found, text);
    found = reference_choice(schema, name, found, text);
    return print_columns(name, found, text);
}

/* --- lists for the completion of shells ------------------------------------------------------- */

/* Appends a key, "time.step", then a tab and, if the key is a choice or a flag, its possible
 * values. */
static void print_key(const struct group *group, const struct parameter *parameter,
                      struct text *text)
{
    text_print(text, "%s%s%s%s\t", group->name, *group->name ? "." : "", group->list ? "0." : "",
               parameter->key);
    if (parameter->type == PARAMETER_FLAG)
        text_print(text, "true false");
    for (size_t i = 0; parameter->choices && parameter->choices[i]; i++)
        text_print(text, "%s%s", i ? " " : "", parameter->choices[i]);
    text_print(text, "\n");
}

static void print_variant_keys(const struct group *group, struct text *text)
{
    text_print(text, "%s%s.%s\t", group->name, group->list ? ".0" : "", group->variant_key);
    for (size_t k = 0; group->variant(k); k++)
        text_print(text, "%s%s", k ? " " : "", group->variant(k)->name);
    text_print(text, "\n");
    for (size_t k = 0; group->variant(k); k++)
        for (size_t i = 0; i < group->variant(k)->parameter_count; i++)
            print_key(group, &group->variant(k)->parameters[i], text);
}

/* Appends all keys of a config, one per line; a key that several variants have is there several
 * times. */
static void print_keys(const struct schema *schema, struct text *text)
{
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        if (group->variant)
            print_variant_keys(group, text);
        for (size_t k = 0; k < group->parameter_count; k++)
            print_key(group, &group->parameters[k], text);
    }
}

struct names {
    const char *names[1024];
    size_t count;
};

static void add_name(struct names *names, const char *name)
{
    if (*name && names->count < COUNT_OF(names->names))
        names->names[names->count++] = name;
}

static void add_rows(struct names *names, const struct parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_name(names, rows[i].key);
        for (size_t c = 0; rows[i].choice_help && rows[i].choices[c]; c++)
            add_name(names, rows[i].choices[c]);
    }
}

static void collect_names(const struct schema *schema, struct names *names)
{
    names->count = 0;
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        add_name(names, group->name);
        for (size_t k = 0; group_described(group, k); k++) {
            add_name(names, group->variant(k)->name);
            add_rows(names, group->variant(k)->parameters, group->variant(k)->parameter_count);
        }
        add_rows(names, group->parameters, group->parameter_count);
    }
    for (size_t i = 0; diagnostic_measured(i); i++)
        for (size_t c = 0; c < diagnostic_measured(i)->column_count; c++)
            add_name(names, diagnostic_measured(i)->columns[c].name);
}

static void print_names(const struct schema *schema, struct text *text)
{
    struct names names;
    collect_names(schema, &names);
    for (size_t i = 0; i < names.count; i++)
        text_print(text, "%s\n", names.names[i]);
}

static enum status unknown_name(const struct schema *schema, const char *name, struct error *error)
{
    struct names names;
    struct text meant = { 0 };
    collect_names(schema, &names);
    suggest_choice(name, names.names, names.count, &meant);
    error_set(error, STATUS_USAGE, "orrery info: nothing is called '%s'%s", name,
              meant.bytes ? meant.bytes : "");
    text_free(&meant);
    return error->status;
}

/* --- the command ------------------------------------------------------------------------------ */

enum status command_info(int argc, char **argv, struct error *error)
{
    bool defaults = false, manual = false, keys = false, all_names = false, helped;
    const struct argument table[] = {
        { 0, "defaults", NULL, ARGUMENT_FLAG, &defaults,
          "print a config file with every key in a comment" },
        { 0, "man", NULL, ARGUMENT_FLAG, &manual, "print the man page orrery.cfg(5)" },
        { 0, "keys", NULL, ARGUMENT_FLAG, &keys,
          "print every key that -P can set, and its choices, a line each" },
        { 0, "names", NULL, ARGUMENT_FLAG, &all_names, "print every NAME, a line each" },
    };
    const struct arguments arguments = {
        "orrery info [NAME]...",
        "Describes this build and machine, and lists all integrators, initial conditions,\n"
        "diagnostics, outputs, kernels and keys; with a NAME of any of them, of a group of the\n"
        "config file or of a column, explains it.",
        table,
        COUNT_OF(table),
        0,
        ARGUMENT_LIST_SIZE
    };
    struct argument_list names;
    if (arguments_parse(&arguments, argc, argv, &names, &helped, error) || helped)
        return error->status;

    struct schema_room room;
    const struct schema *schema = schema_experiment(&room);
    struct text text = { 0 };
    if (defaults)
        reference_defaults(schema, &text);
    if (manual)
        reference_manual(schema, &text);
    for (size_t i = 0; i < names.count; i++) {
        text_print(&text, "%s", text.length ? "\n" : "");
        if (!print_name(schema, names.items[i], &text))
            unknown_name(schema, names.items[i], error);
    }
    if (keys)
        print_keys(schema, &text);
    if (all_names)
        print_names(schema, &text);
    if (!defaults && !manual && !keys && !all_names && names.count == 0)
        print_overview(schema, &text);
    if (text.failed)
        error_memory(error);
    if (!error->status)
        fwrite(text.bytes, 1, text.length, stdout);
    text_free(&text);
    return error->status;
}
