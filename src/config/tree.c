#include "config/tree.h"

#include <ctype.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/library.h"
#include "config/source.h"

static enum status out_of_memory(struct error *error)
{
    return error_set(error, STATUS_MEMORY, "out of memory while reading the configuration");
}

/* --- from libconfig -----------------------------------------------------------------------------
 */

struct builder {
    const struct source *source;
    struct arena *arena;
    size_t values; /* built so far, groups and lists included */
};

static bool build_scalar(struct builder *b, const config_setting_t *setting, struct node *node)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_BOOL:
        node->kind = NODE_FLAG;
        node->flag = config_setting_get_bool(setting);
        return true;
    case CONFIG_TYPE_INT:
        node->kind = NODE_INTEGER;
        node->integer = config_setting_get_int(setting);
        return true;
    case CONFIG_TYPE_INT64:
        node->kind = NODE_INTEGER;
        node->integer = config_setting_get_int64(setting);
        return true;
    case CONFIG_TYPE_FLOAT:
        node->kind = NODE_REAL;
        node->real = config_setting_get_float(setting);
        return true;
    default: {
        const char *string = config_setting_get_string(setting);
        if (!string)
            return false; /* it is "" only where that was written */
        const bool bad = string[0] == SOURCE_BAD;
        node->kind = bad ? NODE_BAD : NODE_STRING;
        node->bad = bad ? string[1] : 0;
        string += bad ? 2 : 0;
        node->string = arena_copy(b->arena, string, strlen(string));
        return node->string;
    }
    }
}

/* NULL when memory is exhausted. The depth is limited by source.c. */
static struct node *build(struct builder *b, config_setting_t *setting, const struct node *parent)
{
    struct node *node = arena_take(b->arena, 1, sizeof *node);
    if (!node)
        return NULL;
    b->values += parent != NULL;
    const char *name = config_setting_name(setting);
    if (!name && parent && parent->kind == NODE_GROUP)
        return NULL; /* libconfig does not look whether there was memory for it */
    if (name && !(node->name = arena_copy(b->arena, name, strlen(name))))
        return NULL;
    /* Not config_setting_source_line(), which is cut to 16 bits. Scalars in a list stand where the
     * list does: their lines are those of the token after them. */
    const bool element = parent && parent->kind == NODE_LIST && config_setting_is_scalar(setting);
    node->place = element ? parent->place : *source_place(b->source, setting->line);
    if (!config_setting_is_aggregate(setting))
        return build_scalar(b, setting, node) ? node : NULL;
    node->kind = config_setting_is_group(setting) ? NODE_GROUP : NODE_LIST;
    node->count = (size_t)config_setting_length(setting);
    node->children = arena_take(b->arena, node->count, sizeof(struct node *));
    if (!node->children)
        return NULL;
    for (size_t i = 0; i < node->count; i++) {
        node->children[i] = build(b, config_setting_get_elem(setting, (unsigned)i), node);
        if (!node->children[i])
            return NULL;
    }
    return node;
}

static enum status parse(const struct source *source, struct arena *arena, struct node **root,
                         struct error *error)
{
    enum status status = STATUS_OK;
    struct builder builder = { source, arena, 0 };
    config_t config;
    library_guard();
    config_init(&config);
    if (config_read_string(&config, source->text.bytes ? source->text.bytes : "") != CONFIG_TRUE) {
        const int line = config_error_line(&config);
        status = place_report(source_place(source, line > 0 ? (size_t)line : 1), NULL, NULL, error,
                              "%s", config_error_text(&config));
    } else if (!(*root = build(&builder, config_root_setting(&config), NULL)) ||
               builder.values != source->value_count) {
        status = out_of_memory(error); /* a setting must not get lost without a word */
    }
    config_destroy(&config);
    library_unguard();
    return status;
}

/* --- single values ------------------------------------------------------------------------------
 */

/* Is this a literal of the language rather than a string without its quotation marks? */
static bool is_literal(const char *bytes)
{
    if (bytes[0] && strchr("\"[({", bytes[0]))
        return true;
    if (strcasecmp(bytes, "true") == 0 || strcasecmp(bytes, "false") == 0)
        return true;
    char *end; /* the whole of it a number, be it one that overflows */
    strtod(bytes, &end);
    return strpbrk(bytes, "0123456789") && end > bytes && end[strspn(end, "L")] == '\0';
}

enum status tree_value(const struct place *place, const char *path, const char *bytes,
                       struct arena *arena, struct node **node, struct error *error)
{
    struct source source = { 0 };
    struct text quoted = { 0 };
    struct node *root = NULL;
    if (!is_literal(bytes))
        tree_print_string(bytes, &quoted);
    enum status status = quoted.failed ? out_of_memory(error) : STATUS_OK;
    if (!status)
        status =
            source_value(place, path, quoted.bytes ? quoted.bytes : bytes, arena, &source, error);
    if (!status)
        status = parse(&source, arena, &root, error);
    if (!status)
        *node = root->children[0];
    source_free(&source);
    text_free(&quoted);
    return status;
}

struct node *tree_member(const struct node *group, const char *name)
{
    if (group && group->kind == NODE_GROUP)
        for (size_t i = 0; i < group->count; i++)
            if (strcmp(group->children[i]->name, name) == 0)
                return group->children[i];
    return NULL;
}

/* --- overrides ----------------------------------------------------------------------------------
 */

/* An override being applied: "path=value". */
struct override {
    struct place place; /* "-P path=value" */
    const char *path;
    const char *value;
    struct arena *arena;
    struct error *error;
};

static bool is_index(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == '\0' && strlen(word) < 7;
}

/* The slot of a child, made if it is not there; NULL with an error. */
static struct node **slot(const struct override *o, struct node *parent, const char *word)
{
    size_t i = parent->count;
    if (parent->kind == NODE_GROUP) {
        for (i = 0; i < parent->count; i++)
            if (strcmp(parent->children[i]->name, word) == 0)
                return &parent->children[i];
    } else if (parent->kind == NODE_LIST && is_index(word)) {
        i = 0;
        sscanf(word, "%zu", &i);
    } else {
        place_report(&o->place, o->path, NULL, o->error,
                     parent->kind == NODE_LIST ? "'%s' must be the number of an element"
                                               : "there is no group or list to hold '%s'",
                     word);
        return NULL;
    }
    if (i < parent->count)
        return &parent->children[i];
    if (i > parent->count) {
        place_report(&o->place, o->path, NULL, o->error, "the list has only %zu elements",
                     parent->count);
        return NULL;
    }
    struct node **children = arena_take(o->arena, parent->count + 1, sizeof *children);
    if (!children) {
        out_of_memory(o->error);
        return NULL;
    }
    if (parent->count)
        memcpy(children, parent->children, parent->count * sizeof *children);
    parent->children = children;
    return &children[parent->count++];
}

/* Puts the value at its path, word by word. */
static enum status place_value(const struct override *o, struct node *root)
{
    struct node *value;
    const enum status status = tree_value(&o->place, o->path, o->value, o->arena, &value, o->error);
    char *words = arena_copy(o->arena, o->path, strlen(o->path));
    if (status)
        return status;
    if (!words)
        return out_of_memory(o->error);
    value->raw = o->value;
    struct node *parent = root;
    for (char *word = words, *next; word; word = next) {
        next = strchr(word, '.');
        if (next)
            *next++ = '\0';
        struct node **child = slot(o, parent, word);
        if (!child)
            return o->error->status;
        if (next && !*child) {
            *child = arena_take(o->arena, 1, sizeof **child);
            if (!*child)
                return out_of_memory(o->error);
            (*child)->kind = isdigit((unsigned char)*next) ? NODE_LIST : NODE_GROUP;
            (*child)->place = o->place;
        } else if (!next) {
            *child = value;
        }
        (*child)->name = parent->kind == NODE_GROUP ? word : NULL;
        parent = *child;
    }
    return STATUS_OK;
}

/* Keys of letters, digits and _-*, joined by dots. */
static bool is_path(const char *path)
{
    bool start = true;
    for (const char *p = path; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("-_*.", *p))
            return false;
        if (*p == '.' && start)
            return false;
        start = *p == '.';
    }
    return !start;
}

#define BLANKS " \t\r\n"

/* `place`: where it is written, if not on the command line. */
static enum status apply(const char *override, const struct place *place, struct node *root,
                         struct arena *arena, struct error *error)
{
    enum { SHOWN = 80 };
    const char *equals = strchr(override, '=');
    struct override o = { .path = "", .arena = arena, .error = error };
    char *label =
        arena_print(arena, "-P %.*s%s", SHOWN, override, strlen(override) > SHOWN ? "..." : "");
    if (!label)
        return out_of_memory(error);
    for (char *p = label; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = ' ';
    o.place.file = label;
    if (place && place->line)
        o.place = *place;
    if (equals)
        o.path = arena_copy(arena, override, (size_t)(equals - override));
    if (!o.path)
        return out_of_memory(error);
    if (!is_path(o.path))
        return error_set(error, STATUS_USAGE, "%s: must be key.path=value", label);
    const char *start = equals + 1 + strspn(equals + 1, BLANKS);
    size_t length = strlen(start);
    while (length && strchr(BLANKS, start[length - 1]))
        length--;
    o.value = arena_copy(arena, start, length);
    return o.value ? place_value(&o, root) : out_of_memory(error);
}

enum status tree_read(const struct config_source *from, struct arena *arena, struct node **root,
                      struct error *error)
{
    struct source source = { 0 };
    enum status status = source_read(from, arena, &source, error);
    if (!status)
        status = parse(&source, arena, root, error);
    source_free(&source);
    if (!status)
        (*root)->place = (struct place){ source_name(from->path), 1 };
    for (size_t i = 0; !status && i < from->override_count; i++)
        apply(from->overrides[i], from->override_places ? &from->override_places[i] : NULL, *root,
              arena, error);
    return status ? status : error->status;
}

/* --- printing -----------------------------------------------------------------------------------
 */

void tree_print_real(double value, struct text *text)
{
    char buffer[TEXT_REAL_SIZE];
    text_real(buffer, value);
    text_print(text, "%s%s", buffer, strpbrk(buffer, ".en") ? "" : ".0");
}

void tree_print_string(const char *value, struct text *text)
{
    text_append(text, "\"", 1);
    for (const char *p = value; *p; p++) {
        const char *const escapes = "\n\r\t\f\"\\", *const letters = "nrtf\"\\";
        const char *escape = strchr(escapes, *p);
        if (escape)
            text_print(text, "\\%c", letters[escape - escapes]);
        else
            text_append(text, p, 1);
    }
    text_append(text, "\"", 1);
}

/* An array of libconfig's holds scalars only. */
static void print_list(const struct node *node, struct text *text)
{
    bool array = true;
    for (size_t i = 0; i < node->count; i++)
        array = array && node->children[i]->kind != NODE_LIST;
    text_append(text, array ? "[" : "(", 1);
    for (size_t i = 0; i < node->count; i++) {
        text_append(text, ", ", i ? 2 : 0);
        tree_print(node->children[i], text);
    }
    text_append(text, array ? "]" : ")", 1);
}

void tree_print(const struct node *node, struct text *text)
{
    switch (node->kind) {
    case NODE_FLAG:
        text_print(text, node->flag ? "true" : "false");
        break;
    case NODE_INTEGER:
        text_print(text, "%lld", (long long)node->integer);
        break;
    case NODE_REAL:
        tree_print_real(node->real, text);
        break;
    case NODE_STRING:
        tree_print_string(node->string, text);
        break;
    case NODE_BAD:
        text_print(text, "%s", node->string);
        break;
    case NODE_GROUP:
        text_print(text, "{ ... }");
        break;
    case NODE_LIST:
        print_list(node, text);
        break;
    }
}
