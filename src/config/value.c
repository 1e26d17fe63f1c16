#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/file.h"
#include "config/requirement.h"
#include "config/section.h"
#include "config/source.h"
#include "config/suggest.h"

/* What value_read() works on. */
struct reading {
    struct value *value;
    const struct node *node;
    const char *path;
    struct arena *arena;
    struct error *error;
};

static enum status out_of_memory(const struct reading *r)
{
    return error_set(r->error, STATUS_MEMORY, "%s: out of memory", r->path);
}

/* Reports `node`: the value itself, or an element of its list. */
static enum status refuse(const struct reading *r, const struct node *node, const char *reason)
{
    struct text shown = { 0 };
    tree_print(node, &shown);
    const enum status status =
        place_report(&r->node->place, r->path, shown.bytes, r->error, "%s", reason);
    text_free(&shown);
    return status;
}

/* Types whose values are strings. */
static bool is_text(const struct parameter *parameter)
{
    return parameter->type == PARAMETER_STRING || parameter->type == PARAMETER_CHOICE ||
           parameter->type == PARAMETER_PATH;
}

/* The node is of the wrong type, or no value at all. */
static enum status refuse_type(const struct reading *r, const struct node *node)
{
    const struct parameter *parameter = r->value->parameter;
    struct text reason = { 0 };
    if (node->kind == NODE_BAD && node->bad == SOURCE_BAD_RANGE)
        text_print(&reason, "too large a number; ");
    if (node->kind == NODE_BAD && node->bad == SOURCE_BAD_WORD && is_text(parameter))
        text_print(&reason, "needs quotation marks; ");
    text_print(&reason, "must be ");
    requirement_print(parameter, &reason);
    const enum status status = refuse(r, node, reason.bytes ? reason.bytes : "wrong type");
    text_free(&reason);
    return status;
}

static enum status refuse_range(const struct reading *r, const struct node *node)
{
    struct text reason = { 0 };
    text_print(&reason, "must be ");
    requirement_range(r->value->parameter, &reason);
    const enum status status = refuse(r, node, reason.bytes ? reason.bytes : "out of range");
    text_free(&reason);
    return status;
}

static enum status refuse_choice(const struct reading *r, const char *string)
{
    const struct parameter *parameter = r->value->parameter;
    size_t count = 0;
    while (parameter->choices[count])
        count++;
    struct text reason = { 0 };
    text_print(&reason, "must be ");
    requirement_print(parameter, &reason);
    suggest_choice(string, parameter->choices, count, &reason);
    const enum status status = refuse(r, r->node, reason.bytes ? reason.bytes : "no such choice");
    text_free(&reason);
    return status;
}

/* --- one function for each type -----------------------------------------------------------------
 */

static enum status read_flag(const struct reading *r)
{
    if (r->node->kind != NODE_FLAG)
        return refuse_type(r, r->node);
    r->value->flag = r->node->flag;
    return STATUS_OK;
}

static enum status read_integer(const struct reading *r)
{
    const double two63 = 0x1p63;
    int64_t integer = r->node->integer;
    if (r->node->kind == NODE_REAL && r->node->real == floor(r->node->real) &&
        r->node->real >= -two63 && r->node->real < two63)
        integer = (int64_t)r->node->real; /* 1e6 */
    else if (r->node->kind != NODE_INTEGER)
        return refuse_type(r, r->node);
    if (!requirement_holds(r->value->parameter, (double)integer))
        return refuse_range(r, r->node);
    r->value->integer = integer;
    return STATUS_OK;
}

/* A number of any kind: the node itself, or an element of it. */
static enum status read_number(const struct reading *r, const struct node *node, double *real)
{
    if (node->kind == NODE_INTEGER)
        *real = (double)node->integer;
    else if (node->kind == NODE_REAL)
        *real = node->real;
    else
        return refuse_type(r, node);
    return requirement_holds(r->value->parameter, *real) ? STATUS_OK : refuse_range(r, node);
}

static enum status read_real(const struct reading *r)
{
    return read_number(r, r->node, &r->value->real);
}

/* On the command line, quotation marks may be left out: name=2026. */
static const char *string_of(const struct node *node)
{
    if (node->kind == NODE_STRING)
        return node->string;
    const bool scalar = node->kind < NODE_LIST || node->kind == NODE_BAD;
    return scalar ? node->raw : NULL;
}

static enum status read_string(const struct reading *r)
{
    r->value->string = string_of(r->node);
    return r->value->string ? STATUS_OK : refuse_type(r, r->node);
}

static enum status read_choice(const struct reading *r)
{
    const char *const *choices = r->value->parameter->choices;
    const char *string = string_of(r->node);
    if (!string)
        return refuse_type(r, r->node);
    for (size_t i = 0; choices[i]; i++)
        if (strcmp(choices[i], string) == 0) {
            r->value->string = choices[i];
            r->value->choice = i;
            return STATUS_OK;
        }
    return refuse_choice(r, string);
}

/* Relative to the file that names it; to the current directory from the command line. */
static enum status read_path(const struct reading *r)
{
    const enum status status = read_string(r);
    if (status || !r->node->place.line || !r->value->string[0])
        return status;
    struct text path = { 0 };
    file_beside(r->node->place.file, r->value->string, &path);
    r->value->string = path.failed ? NULL : arena_copy(r->arena, path.bytes, path.length);
    text_free(&path);
    return r->value->string ? STATUS_OK : out_of_memory(r);
}

static enum status read_reals(const struct reading *r)
{
    const struct node *node = r->node;
    const size_t length = r->value->parameter->length;
    if (node->kind != NODE_LIST || (length && node->count != length))
        return refuse_type(r, node);
    double *reals = arena_take(r->arena, node->count, sizeof *reals);
    if (!reals)
        return out_of_memory(r);
    for (size_t i = 0; i < node->count; i++) {
        const enum status status = read_number(r, node->children[i], &reals[i]);
        if (status)
            return status;
    }
    r->value->reals = reals;
    r->value->count = node->count;
    return STATUS_OK;
}

/* A scalar, or a list of them. */
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
        return refuse_type(r, node);
    const char **values = arena_take(r->arena, node->count, sizeof *values);
    if (!values)
        return out_of_memory(r);
    for (size_t i = 0; i < node->count; i++) {
        if (!is_plain(node->children[i]))
            return refuse_type(r, node->children[i]);
        struct text element = { 0 };
        tree_print(node->children[i], &element);
        values[i] = element.failed ? NULL : arena_copy(r->arena, element.bytes, element.length);
        text_free(&element);
        if (!values[i])
            return out_of_memory(r);
    }
    r->value->values = values;
    r->value->count = node->count;
    return STATUS_OK;
}

enum status value_read(struct value *value, const struct node *node, const char *path,
                       struct arena *arena, struct error *error)
{
    static enum status (*const readers[])(const struct reading *) = {
        [PARAMETER_FLAG] = read_flag,     [PARAMETER_INTEGER] = read_integer,
        [PARAMETER_REAL] = read_real,     [PARAMETER_STRING] = read_string,
        [PARAMETER_CHOICE] = read_choice, [PARAMETER_PATH] = read_path,
        [PARAMETER_REALS] = read_reals,   [PARAMETER_VALUES] = read_values,
    };
    const struct reading reading = { value, node, path, arena, error };
    const enum status status = readers[value->parameter->type](&reading);
    value->node = status ? NULL : node;
    return status;
}

/* --- printing -----------------------------------------------------------------------------------
 */

static void print_path(const char *path, struct text *text)
{
    /* The echo must find the same file from wherever it is read. */
    char *directory = path[0] && path[0] != '/' ? realpath(".", NULL) : NULL;
    struct text absolute = { 0 };
    text_print(&absolute, "%s%s%s", directory ? directory : "", directory ? "/" : "", path);
    tree_print_string(absolute.bytes ? absolute.bytes : path, text);
    text_free(&absolute);
    free(directory);
}

static void print_reals(const struct value *value, struct text *text)
{
    text_append(text, "[", 1);
    for (size_t i = 0; i < value->count; i++) {
        text_append(text, ", ", i ? 2 : 0);
        tree_print_real(value->reals[i], text);
    }
    text_append(text, "]", 1);
}

void value_print(const struct value *value, struct text *text)
{
    if (!value->node)
        return;
    switch (value->parameter->type) {
    case PARAMETER_REAL:
        tree_print_real(value->real, text);
        break;
    case PARAMETER_INTEGER:
        text_print(text, "%lld", (long long)value->integer);
        break;
    case PARAMETER_STRING:
    case PARAMETER_CHOICE:
        tree_print_string(value->string, text);
        break;
    case PARAMETER_PATH:
        print_path(value->string, text);
        break;
    case PARAMETER_REALS:
        print_reals(value, text);
        break;
    default:
        tree_print(value->node, text);
    }
}
