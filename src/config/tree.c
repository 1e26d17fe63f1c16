#include "config/section.h"

#include <ctype.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* --- from libconfig --------------------------------------------------------------------------- */

/* Fills *next, the next node of the source, and all nodes inside it with what libconfig has read at
 * that point (`setting`); *next becomes the node behind them. Returns NULL if libconfig has read
 * something else: it lost a setting because memory was exhausted. */
static struct node *fill(struct node **next, const config_setting_t *setting, struct arena *arena)
{
    static const int types[] = {
        [NODE_FLAG] = CONFIG_TYPE_BOOL,     [NODE_INTEGER] = CONFIG_TYPE_INT,
        [NODE_REAL] = CONFIG_TYPE_INT,      [NODE_BAD] = CONFIG_TYPE_INT,
        [NODE_STRING] = CONFIG_TYPE_STRING, [NODE_LIST] = CONFIG_TYPE_LIST,
        [NODE_GROUP] = CONFIG_TYPE_GROUP
    };
    struct node *node = *next;
    if (!node || !setting || config_setting_type(setting) != types[node->kind])
        return NULL;
    *next = node->next;
    if (node->kind == NODE_FLAG)
        node->flag = config_setting_get_bool(setting);
    if (node->kind == NODE_STRING) {
        const char *string = config_setting_get_string(setting);
        node->string = string ? arena_copy(arena, string, strlen(string)) : NULL;
        return node->string ? node : NULL;
    }
    if (node->kind != NODE_LIST && node->kind != NODE_GROUP)
        return node;
    node->count = (size_t)config_setting_length(setting);
    node->children = arena_take(arena, node->count, sizeof(struct node *));
    for (size_t i = 0; node->children && i < node->count; i++) {
        const config_setting_t *element = config_setting_get_elem(setting, (unsigned)i);
        const char *name = config_setting_name(element);
        struct node *child = fill(next, element, arena);
        if (!child || (child->name && (!name || strcmp(name, child->name) != 0)))
            return NULL;
        node->children[i] = child;
    }
    return node->children ? node : NULL;
}

/* Fills the nodes of the file, and then those of the values that were added to the source as groups
 * `{ value = ...; }`. Returns false if a setting is lost. */
static bool fill_all(const struct source *source, const config_setting_t *list, struct arena *arena)
{
    struct node *next = source->first;
    const config_setting_t *element;
    if (!list || !fill(&next, config_setting_get_elem(list, 0), arena))
        return false;
    for (unsigned i = 1; (element = config_setting_get_elem(list, i)); i++)
        if (!fill(&next, config_setting_get_elem(element, 0), arena))
            return false;
    return !next;
}

/*
 * libconfig 1.5 does not check whether malloc() succeeds, and would write to address 0. Therefore
 * the most memory that it may need is allocated and freed just before. BYTES_PER_CHARACTER is the
 * most that a byte of the text can cost, by settings, names and lists (which grow by 16);
 * SCANNER_CHARACTERS is the cost of the scanner, in bytes of text.
 */
enum { BYTES_PER_CHARACTER = 192, SCANNER_CHARACTERS = 1024 };

static bool has_room(size_t length)
{
    void *room = malloc(memory_bytes(SCANNER_CHARACTERS + length, BYTES_PER_CHARACTER));
    const bool found = room != NULL;
    free(room);
    return found;
}

static enum status parse(struct source *source, struct arena *arena, struct error *error)
{
    enum status status = STATUS_OK;
    config_t config;
    const bool told = error->status != STATUS_OK; /* an error reported before stays */
    text_append(&source->text, " )", 2);
    if (source->text.failed || !has_room(source->text.length))
        return arena_exhausted(error);
    config_init(&config);
    if (config_read_string(&config, source->text.bytes) != CONFIG_TRUE)
        status = told ? error->status
                      : location_report(&source->first->location, NULL, NULL, error, "%s",
                                        config_error_text(&config));
    else if (!fill_all(source, config_setting_get_elem(config_root_setting(&config), 0), arena))
        /* Memory was short: a setting is lost. */
        status = told ? error->status : arena_exhausted(error);
    config_destroy(&config);
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

/* --- overrides -------------------------------------------------------------------------------- */

/* An override, "path=value". */
struct override {
    struct location location; /* location of the override; without a line: "-P path=value" */
    const char *path;
    struct node *value; /* the node of its value; NULL: the error has been reported */
    struct arena *arena;
    struct error *error;
};

static bool is_index(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == '\0' && strlen(word) < 7;
}

/* Copies a group or list that an override may change. The copy shares the children of the original,
 * so that the original tree stays as it is. NULL if memory is exhausted. */
static struct node *copy_node(struct arena *arena, const struct node *node)
{
    struct node *copy = arena_take(arena, 1, sizeof *copy);
    struct node **children = arena_take(arena, node->count + 1, sizeof *children);
    if (!copy || !children)
        return NULL;
    *copy = *node;
    copy->children = children;
    for (size_t i = 0; i < node->count; i++)
        children[i] = node->children[i];
    return copy;
}

/* Returns the pointer to the child of `parent` that `word` names, a key or an index; adds an empty
 * one at the end if it is not there. NULL with an error. */
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
        location_report(&o->location, o->path, NULL, o->error,
                        parent->kind == NODE_LIST ? "'%s' must be the number of an element"
                                                  : "there is no group or list to hold '%s'",
                        word);
        return NULL;
    }
    if (i < parent->count)
        return &parent->children[i];
    if (i > parent->count) {
        location_report(&o->location, o->path, NULL, o->error, "the list has only %zu elements",
                        parent->count);
        return NULL;
    }
    struct node **children = arena_take(o->arena, parent->count + 1, sizeof *children);
    if (!children) {
        arena_exhausted(o->error);
        return NULL;
    }
    if (parent->count)
        memcpy(children, parent->children, parent->count * sizeof *children);
    parent->children = children;
    return &children[parent->count++];
}

/* Puts the value of an override at its path in the tree, word by word, and makes groups and lists
 * that are missing on the way. */
static enum status put(const struct override *o, struct node *root)
{
    char *words = arena_copy(o->arena, o->path, strlen(o->path));
    if (!words)
        return arena_exhausted(o->error);
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
            if (!*child) {
                parent->count--; /* the empty slot is removed, so that no other override finds it */
                return arena_exhausted(o->error);
            }
            (*child)->kind = isdigit((unsigned char)*next) ? NODE_LIST : NODE_GROUP;
            (*child)->location = o->location;
        } else if (!next) {
            *child = o->value;
        } else if (!(*child = copy_node(o->arena, *child))) {
            return arena_exhausted(o->error);
        }
        (*child)->name = parent->kind == NODE_GROUP ? word : NULL;
        parent = *child;
    }
    return STATUS_OK;
}

/* Tells whether the text is a value of the language, not a string without quotation marks. */
static bool is_literal(const char *bytes)
{
    if (bytes[0] && strchr("\"[({", bytes[0]))
        return true;
    if (strcasecmp(bytes, "true") == 0 || strcasecmp(bytes, "false") == 0)
        return true;
    char *end; /* the whole text must be a number; one that overflows counts */
    strtod(bytes, &end);
    return strpbrk(bytes, "0123456789") && end > bytes && end[strspn(end, "L")] == '\0';
}

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

/* Returns what errors call an override, "-P path=value", cut and without control characters; NULL
 * if memory is exhausted. */
static const char *label_of(const char *override, struct arena *arena)
{
    enum { SHOWN = 80 };
    struct text label = { 0 };
    text_print(&label, "-P %.*s%s", SHOWN, override, strlen(override) > SHOWN ? "..." : "");
    for (char *p = label.bytes; p && *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = ' ';
    return arena_keep(arena, &label);
}

/* Reads the override "path=value" into *o, and adds its value to the source. STATUS_USAGE,
 * STATUS_CONFIG, STATUS_MEMORY. */
static enum status add_override(struct override *o, const char *override, struct source *source)
{
    const char *label = label_of(override, o->arena);
    const char *equals = strchr(override, '=');
    o->path = arena_copy(o->arena, override, equals ? (size_t)(equals - override) : 0);
    if (!label || !o->path)
        return arena_exhausted(o->error);
    if (!is_path(o->path))
        return error_set(o->error, STATUS_USAGE, "%s: must be key.path=value", label);
    if (!o->location.line)
        o->location.file = label;
    const char *start = equals + 1 + strspn(equals + 1, BLANKS);
    size_t length = strlen(start);
    while (length && strchr(BLANKS, start[length - 1]))
        length--;
    const char *raw = arena_copy(o->arena, start, length);
    struct text value = { 0 };
    if (raw && is_literal(raw))
        text_append(&value, raw, length);
    else if (raw)
        tree_print_string(raw, &value);
    if (!value.bytes || value.failed)
        arena_exhausted(o->error);
    else if ((o->value =
                  source_value(&o->location, o->path, value.bytes, o->arena, source, o->error)))
        o->value->raw = raw;
    text_free(&value);
    return o->value ? STATUS_OK : o->error->status;
}

/* Adds the values of the overrides to the source, which has a file or none, lets libconfig read it
 * all, and applies the overrides to a copy of the tree `base`, or to the file if `base` is NULL.
 * *root becomes the new tree; NULL if an override is wrong. */
static enum status apply(const struct config_source *from, const struct node *base,
                         struct source *source, struct arena *arena, struct node **root,
                         struct error *error)
{
    struct override *overrides = arena_take(arena, from->override_count, sizeof *overrides);
    const size_t before = error->lines + error->dropped;
    *root = NULL;
    if (!overrides)
        return arena_exhausted(error);
    for (size_t i = 0; i < from->override_count; i++) {
        overrides[i] = (struct override){ .arena = arena, .error = error };
        if (from->override_locations)
            overrides[i].location = from->override_locations[i];
        add_override(&overrides[i], from->overrides[i], source);
    }
    const enum status status = parse(source, arena, error);
    if (status)
        return status;
    *root = base ? copy_node(arena, base) : source->first;
    if (!*root)
        return arena_exhausted(error);
    for (size_t i = 0; i < from->override_count; i++)
        if (overrides[i].value)
            put(&overrides[i], *root);
    /* After a wrong override the tree is not checked: keys that it was to set would be reported as
     * missing. */
    if (error->lines + error->dropped > before)
        *root = NULL;
    return error->status;
}

enum status tree_read(const struct config_source *from, struct arena *arena, struct node **root,
                      struct error *error)
{
    struct source source = { 0 };
    enum status status = source_read(from, arena, &source, error);
    if (!status)
        status = apply(from, NULL, &source, arena, root, error);
    text_free(&source.text);
    return status;
}

enum status tree_vary(const struct node *base, const struct config_source *overrides,
                      struct arena *arena, struct node **root, struct error *error)
{
    struct source source = { 0 };
    enum status status = source_begin(overrides->path, arena, &source, error);
    if (!status)
        status = apply(overrides, base, &source, arena, root, error);
    text_free(&source.text);
    return status;
}

/* --- printing --------------------------------------------------------------------------------- */

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

/* Appends a list as an array [ ], which in libconfig holds scalars only, or as a list ( ) if it
 * holds lists. */
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
