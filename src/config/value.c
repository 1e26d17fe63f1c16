#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/node.h"
#include "config/parameter-reference.h"
#include "config/section.h"

/* The arguments of value_read(), for the functions that it calls. */
struct reading {
    const struct section *section;
    struct value *value;
    const struct node *node;
    struct arena *arena;
    struct error *error;
};

enum fault { WRONG_TYPE, OUT_OF_RANGE, NO_CHOICE };

static bool is_text(const struct parameter *parameter)
{
    return parameter->type == PARAMETER_STRING || parameter->type == PARAMETER_CHOICE ||
           parameter->type == PARAMETER_PATH || parameter->type == PARAMETER_PATHS;
}

static size_t find_choice(const struct parameter *parameter, const char *word)
{
    size_t i = 0;
    while (parameter->choices[i] && strcmp(parameter->choices[i], word) != 0)
        i++;
    return i;
}

/* Returns the string of a node, or NULL if it has none. An override of the command line may leave
 * out the quotation marks, so its text counts as a string: name=2026. */
static const char *string_of(const struct node *node)
{
    if (node->kind == NODE_STRING)
        return node->string;
    const bool scalar = node->kind < NODE_LIST || node->kind == NODE_BAD;
    return scalar ? node->raw : NULL;
}

/* Reports what is wrong with `node`, which is the value itself or an element of its list. Returns
 * STATUS_CONFIG. */
static enum status refuse(const struct reading *r, const struct node *node, enum fault fault)
{
    const struct parameter *parameter = r->value->parameter;
    const bool bad = node->kind == NODE_BAD && fault == WRONG_TYPE;
    if (bad && node->bad == BAD_TOLD)
        return STATUS_CONFIG;
    struct text reason = { 0 }, shown = { 0 };
    const char *const raw = bad ? node->string : node->raw;
    if (fault == WRONG_TYPE && raw && slip_print(raw, is_text(parameter), &reason)) {
        text_print(&reason, "; ");
    } else if (bad && node->bad == BAD_RANGE) {
        text_print(&reason, "too large a number; ");
    } else if (bad && node->bad == BAD_WORD && is_text(parameter)) {
        text_print(&reason, "needs quotation marks; ");
    }
    text_print(&reason, "must be ");
    if (fault == OUT_OF_RANGE)
        requirement_range(parameter, &reason);
    else
        requirement_print(parameter, &reason);
    if (fault == NO_CHOICE)
        suggest_choice(string_of(node), parameter->choices, find_choice(parameter, string_of(node)),
                       &reason);
    tree_print(node, &shown);
    const enum status status = section_report(r->section, parameter->key, &r->node->location,
                                              shown.bytes, STATUS_CONFIG, r->error, reason.bytes);
    text_free(&reason);
    text_free(&shown);
    return status;
}

/* --- one function for each type --------------------------------------------------------------- */

static enum status read_flag(const struct reading *r)
{
    if (r->node->kind != NODE_FLAG)
        return refuse(r, r->node, WRONG_TYPE);
    r->value->held.flag = r->node->flag;
    return STATUS_OK;
}

static enum status read_integer(const struct reading *r)
{
    const double two63 = 0x1p63;
    int64_t integer = r->node->integer;
    if (r->node->kind == NODE_REAL && r->node->real == floor(r->node->real) &&
        r->node->real >= -two63 && r->node->real < two63)
        integer = (int64_t)r->node->real; /* a real that is whole, such as 1e6 */
    else if (r->node->kind != NODE_INTEGER)
        return refuse(r, r->node, WRONG_TYPE);
    if (!requirement_holds(r->value->parameter, (double)integer))
        return refuse(r, r->node, OUT_OF_RANGE);
    r->value->held.integer = integer;
    return STATUS_OK;
}

static enum status read_number(const struct reading *r, const struct node *node, double *real)
{
    if (node->kind == NODE_INTEGER)
        *real = (double)node->integer;
    else if (node->kind == NODE_REAL)
        *real = node->real;
    else
        return refuse(r, node, WRONG_TYPE);
    return requirement_holds(r->value->parameter, *real) ? STATUS_OK
                                                         : refuse(r, node, OUT_OF_RANGE);
}

static enum status read_real(const struct reading *r)
{
    return read_number(r, r->node, &r->value->held.real);
}

static enum status read_string(const struct reading *r)
{
    r->value->held.string = string_of(r->node);
    return r->value->held.string ? STATUS_OK : refuse(r, r->node, WRONG_TYPE);
}

static enum status read_choice(const struct reading *r)
{
    const struct parameter *const parameter = r->value->parameter;
    const char *string = string_of(r->node);
    if (!string)
        return refuse(r, r->node, WRONG_TYPE);
    const size_t index = find_choice(parameter, string);
    if (!parameter->choices[index])
        return refuse(r, r->node, NO_CHOICE);
    r->value->held.string = parameter->choices[index];
    r->value->held.count = index;
    return STATUS_OK;
}

/* Makes a path of the name of a file: relative to the directory of the config file that names it;
 * if it was typed on the command line, it stays as it is. STATUS_MEMORY. */
static enum status resolve(const struct reading *r, const char *name, const char **resolved)
{
    *resolved = name;
    if (!r->node->location.line || !name[0])
        return STATUS_OK;
    struct text path = { 0 };
    file_beside(r->node->location.file, name, &path);
    *resolved = arena_keep(r->arena, &path);
    return *resolved ? STATUS_OK : arena_exhausted(r->error);
}

static enum status read_path(const struct reading *r)
{
    const enum status status = read_string(r);
    return status ? status : resolve(r, r->value->held.string, &r->value->held.string);
}

/* Names of files, each with a NUL behind it. */
struct names {
    struct text bytes;
    size_t count;
};

static void add_name(struct names *names, const char *name)
{
    text_append(&names->bytes, name, strlen(name) + 1);
    names->count++;
}

/*
 * Adds the files for which the pattern `name` stands, sorted by bytes (glob() sorts by the locale,
 * which is always "C"). The name of a file that exists is taken as it is, so that the echo of a
 * list reads back as the same list; a pattern that fits no file is kept, and whoever opens it
 * reports the error. The beginning of `path`, the folder of the config file, is no pattern and is
 * escaped.
 */
static enum status expand(const struct reading *r, const char *name, const char *path,
                          struct names *names)
{
    const size_t folder = strlen(path) - strlen(name);
    glob_t found = { 0 };
    struct text pattern = { 0 };
    if (file_there(path)) {
        add_name(names, path);
        return STATUS_OK;
    }
    for (size_t i = 0; path[i]; i++) {
        if (i < folder && strchr("*?[\\", path[i]))
            text_append(&pattern, "\\", 1);
        text_append(&pattern, path + i, 1);
    }
    const int failed =
        pattern.failed ? GLOB_NOSPACE : glob(pattern.bytes ? pattern.bytes : "", 0, NULL, &found);
    text_free(&pattern);
    for (size_t i = 0; !failed && i < found.gl_pathc; i++)
        add_name(names, found.gl_pathv[i]);
    if (failed && failed != GLOB_NOSPACE)
        add_name(names, path);
    globfree(&found);
    return failed == GLOB_NOSPACE ? error_memory(r->error) : STATUS_OK;
}

static enum status keep_names(const struct reading *r, const struct names *names)
{
    const char **paths = arena_take(r->arena, names->count, sizeof *paths);
    const char *copy = arena_copy(r->arena, names->bytes.bytes, names->bytes.length);
    if (!paths || !copy || names->bytes.failed)
        return arena_exhausted(r->error);
    for (size_t i = 0; i < names->count; i++, copy += strlen(copy) + 1)
        paths[i] = copy;
    r->value->held.values = paths;
    r->value->held.count = names->count;
    return STATUS_OK;
}

static enum status read_paths(const struct reading *r)
{
    const struct node *const node = r->node;
    const bool list = node->kind == NODE_LIST;
    struct names names = { 0 };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (list ? node->count : 1) && !status; i++) {
        const struct node *element = list ? node->children[i] : node;
        const char *name = string_of(element), *path;
        if (!name)
            status = refuse(r, element, WRONG_TYPE);
        else if (!(status = resolve(r, name, &path)))
            status = expand(r, name, path, &names);
    }
    if (!status)
        status = keep_names(r, &names);
    text_free(&names.bytes);
    return status;
}

static enum status read_reals(const struct reading *r)
{
    const struct node *node = r->node;
    const size_t length = r->value->parameter->length;
    if (node->kind != NODE_LIST || (length && node->count != length))
        return refuse(r, node, WRONG_TYPE);
    double *reals = arena_take(r->arena, node->count, sizeof *reals);
    if (!reals)
        return arena_exhausted(r->error);
    for (size_t i = 0; i < node->count; i++) {
        const enum status status = read_number(r, node->children[i], &reals[i]);
        if (status)
            return status;
    }
    r->value->held.reals = reals;
    r->value->held.count = node->count;
    return STATUS_OK;
}

/* Tells whether the node has only flags, numbers and strings, perhaps in lists: no groups and no
 * invalid values. */
static bool is_plain(const struct node *node)
{
    if (node->kind == NODE_BAD || node->kind == NODE_GROUP)
        return false;
    for (size_t i = 0; i < node->count; i++)
        if (!is_plain(node->children[i]))
            return false;
    return true;
}

static enum status read_values(const struct reading *r)
{
    const struct node *node = r->node;
    if (node->kind != NODE_LIST)
        return refuse(r, node, WRONG_TYPE);
    const char **values = arena_take(r->arena, node->count, sizeof *values);
    if (!values)
        return arena_exhausted(r->error);
    for (size_t i = 0; i < node->count; i++) {
        if (!is_plain(node->children[i]))
            return refuse(r, node->children[i], WRONG_TYPE);
        struct text element = { 0 };
        tree_print(node->children[i], &element);
        values[i] = arena_keep(r->arena, &element);
        if (!values[i])
            return arena_exhausted(r->error);
    }
    r->value->held.values = values;
    r->value->held.count = node->count;
    return STATUS_OK;
}

enum status value_read(const struct section *section, struct value *value, const struct node *node,
                       struct arena *arena, struct error *error)
{
    static enum status (*const readers[])(const struct reading *) = {
        [PARAMETER_FLAG] = read_flag,     [PARAMETER_INTEGER] = read_integer,
        [PARAMETER_REAL] = read_real,     [PARAMETER_STRING] = read_string,
        [PARAMETER_CHOICE] = read_choice, [PARAMETER_PATH] = read_path,
        [PARAMETER_PATHS] = read_paths,   [PARAMETER_REALS] = read_reals,
        [PARAMETER_VALUES] = read_values,
    };
    const struct reading reading = { section, value, node, arena, error };
    const enum status status = readers[value->parameter->type](&reading);
    value->node = node;
    value->held.presence = status ? PARAMETER_UNSET : PARAMETER_SET;
    return status;
}

/* --- defaults --------------------------------------------------------------------------------- */

bool value_default(struct value *value)
{
    const struct parameter *row = value->parameter;
    value->held = row->default_value;
    if (row->type != PARAMETER_CHOICE || value->held.presence != PARAMETER_SET)
        return true;
    value->held.count = find_choice(row, value->held.string);
    return row->choices[value->held.count];
}

bool value_is_default(const struct value *value)
{
    const struct parameter_value *a = &value->held, *b = &value->parameter->default_value;
    if (a->presence != PARAMETER_SET || b->presence != PARAMETER_SET)
        return false;
    switch (value->parameter->type) {
    case PARAMETER_FLAG:
        return a->flag == b->flag;
    case PARAMETER_INTEGER:
        return a->integer == b->integer;
    case PARAMETER_REAL:
        return a->real == b->real;
    case PARAMETER_REALS:
        return a->count == b->count && !memcmp(a->reals, b->reals, a->count * sizeof *a->reals);
    case PARAMETER_PATHS:
    case PARAMETER_VALUES:
        return false;
    default:
        return strcmp(a->string, b->string) == 0;
    }
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_path(const char *path, struct text *text)
{
    /* The path becomes absolute, so that an echo of the config finds the same file from
     * everywhere. */
    char *directory = path[0] && path[0] != '/' ? realpath(".", NULL) : NULL;
    struct text absolute = { 0 };
    text_print(&absolute, "%s%s%s", directory ? directory : "", directory ? "/" : "", path);
    tree_print_string(absolute.bytes ? absolute.bytes : path, text);
    text_free(&absolute);
    free(directory);
}

static void print_list(const struct value *value, struct text *text)
{
    text_append(text, "[", 1);
    for (size_t i = 0; i < value->held.count; i++) {
        text_append(text, ", ", i ? 2 : 0);
        if (value->parameter->type == PARAMETER_PATHS)
            print_path(value->held.values[i], text);
        else
            tree_print_real(value->held.reals[i], text);
    }
    text_append(text, "]", 1);
}

void value_print(const struct value *value, struct text *text)
{
    if (value->held.presence != PARAMETER_SET)
        return;
    switch (value->parameter->type) {
    case PARAMETER_FLAG:
        text_print(text, value->held.flag ? "true" : "false");
        break;
    case PARAMETER_REAL:
        tree_print_real(value->held.real, text);
        break;
    case PARAMETER_INTEGER:
        text_print(text, "%lld", (long long)value->held.integer);
        break;
    case PARAMETER_STRING:
    case PARAMETER_CHOICE:
        tree_print_string(value->held.string, text);
        break;
    case PARAMETER_PATH:
        print_path(value->held.string, text);
        break;
    case PARAMETER_PATHS:
    case PARAMETER_REALS:
        print_list(value, text);
        break;
    default:
        tree_print(value->node, text);
    }
}
