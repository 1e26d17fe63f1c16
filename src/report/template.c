#include "report/template.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/name.h"

/* clang-format off */
static const struct {
    const char *name, *text;
} templates[] = {
#include "report-templates.h"
};
/* clang-format on */

/* The object of a section, in which its keys are looked up first, and the scope around the section,
 * in which they are looked up next (NULL: none). */
struct scope {
    const json_t *values;
    const struct scope *outer;
};

struct tag {
    char kind; /* one of "#^?!/>{", see template.h; 0: {{key}} */
    char key[96];
    int digits;
    const char *end; /* behind the tag and, of "#^?!/", behind a line end that follows */
};

static const char *find_template(const char *name)
{
    size_t i = 0;
    while (i < COUNT_OF(templates) && strcmp(templates[i].name, name) != 0)
        i++;
    assert(i < COUNT_OF(templates));
    return templates[i].text;
}

static const json_t *look_up(const struct scope *scope, const char *key)
{
    if (strcmp(key, ".") == 0)
        return scope->values;
    const json_t *value = NULL;
    for (; scope && !value; scope = scope->outer)
        value = document_find(scope->values, key);
    return value;
}

/* Appends words of any origin: signs that HTML reserves are escaped and control characters
 * replaced, so that a browser, or a terminal into which the words are copied, only shows them. */
static void escape(struct text *text, const char *words)
{
    const size_t start = text->length;
    static const char reserved[] = "<>&\"";
    static const char *const entities[] = { "&lt;", "&gt;", "&amp;", "&quot;" };
    while (*words) {
        const size_t plain = strcspn(words, reserved);
        text_append(text, words, plain);
        words += plain;
        if (*words)
            text_print(text, "%s", entities[strchr(reserved, *words++) - reserved]);
    }
    if (!text->failed && text->bytes)
        name_neutralise(text->bytes + start);
}

static void put_value(struct text *text, const json_t *value, const struct tag *tag)
{
    if (json_is_string(value) && tag->kind == '{')
        text_append(text, json_string_value(value), json_string_length(value));
    else if (json_is_string(value))
        escape(text, json_string_value(value));
    else if (json_is_integer(value))
        text_print(text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        text_print(text, "%.*g", tag->digits, json_real_value(value));
    else if (json_is_null(value))
        text_print(text, "–");
}

static bool is_true(const json_t *value)
{
    if (json_is_array(value))
        return json_array_size(value) > 0;
    if (json_is_string(value))
        return json_string_length(value) > 0;
    return json_is_number(value) ? json_number_value(value) != 0.0
                                 : json_is_true(value) || json_is_object(value);
}

static struct tag read_tag(const char *from)
{
    struct tag tag = { .digits = 6 };
    const char *key = from + 2;
    if (strchr("#^?!/>{", *key))
        tag.kind = *key++;
    const size_t length = strcspn(key, ":}");
    snprintf(tag.key, sizeof tag.key, "%.*s", (int)length, key);
    if (key[length] == ':')
        tag.digits = atoi(key + length + 1);
    tag.end = strstr(key, "}}") + (tag.kind == '{' ? 3 : 2);
    if (tag.kind && strchr("#^?!/", tag.kind) && *tag.end == '\n')
        tag.end++;
    return tag;
}

static void fill_scope(struct text *text, const char *from, const char *end,
                       const struct scope *scope);

/* Appends what is between `tag` and the tag that closes it, as often as `tag` and the value of its
 * key ask; returns the place behind the closing tag. */
static const char *fill_section(struct text *text, const struct tag *tag, const struct scope *scope)
{
    char closing[sizeof tag->key + 8];
    snprintf(closing, sizeof closing, "{{/%s}}", tag->key);
    const char *close = strstr(tag->end, closing);
    assert(close);
    const json_t *value = look_up(scope, tag->key);
    const bool is_there = value && !json_is_null(value);
    const size_t elements = json_is_array(value) ? json_array_size(value) : 1;
    if ((tag->kind == '^' && !is_true(value)) || (tag->kind == '?' && is_there) ||
        (tag->kind == '!' && !is_there))
        fill_scope(text, tag->end, close, scope);
    for (size_t i = 0; i < elements && tag->kind == '#' && is_true(value); i++) {
        const struct scope inner = { json_is_array(value) ? json_array_get(value, i) : value,
                                     scope };
        fill_scope(text, tag->end, close, &inner);
    }
    return read_tag(close).end;
}

static void fill_scope(struct text *text, const char *from, const char *end,
                       const struct scope *scope)
{
    for (const char *open; (open = strstr(from, "{{")) && open < end;) {
        const struct tag tag = read_tag(open);
        text_append(text, from, (size_t)(open - from));
        from = tag.end;
        if (tag.kind && strchr("#^?!", tag.kind))
            from = fill_section(text, &tag, scope);
        else if (tag.kind == '>')
            text_print(text, "%s", find_template(tag.key));
        else
            put_value(text, look_up(scope, tag.key), &tag);
    }
    text_append(text, from, (size_t)(end - from));
}

void template_render(struct text *text, const char *source, json_t *values, const json_t *outer)
{
    const struct scope outermost = { outer, NULL }, scope = { values, &outermost };
    text->failed |= !values;
    if (values)
        fill_scope(text, source, source + strlen(source), &scope);
    json_decref(values);
}

void template_fill(struct text *text, const char *name, json_t *values, const json_t *outer)
{
    template_render(text, find_template(name), values, outer);
}

json_t *template_copy(const struct text *text)
{
    return text->failed ? NULL
                        : json_stringn_nocheck(text->length ? text->bytes : "", text->length);
}

json_t *template_value(struct text *text)
{
    json_t *value = template_copy(text);
    text_free(text);
    return value;
}

json_t *template_words(struct text *text)
{
    json_t *words = text->failed ? NULL : json_array();
    for (const char *at = text->length ? text->bytes : ""; *at;) {
        const size_t length = strcspn(at, " ");
        document_append(&words, json_stringn_nocheck(at, length));
        at += length + (at[length] == ' '); /* between two blanks is an empty word */
    }
    text_free(text);
    return words;
}
