#include "base/document.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

static void drop(json_t **document)
{
    json_decref(*document);
    *document = NULL;
}

void document_set(json_t **object, const char *key, json_t *value)
{
    if (!*object)
        json_decref(value);
    else if (json_object_set_new(*object, key, value) != 0)
        drop(object);
}

void document_append(json_t **array, json_t *value)
{
    if (!*array)
        json_decref(value);
    else if (json_array_append_new(*array, value) != 0)
        drop(array);
}

static int append(const char *bytes, size_t length, void *text)
{
    text_append(text, bytes, length);
    return 0;
}

char *document_print(const json_t *document, size_t flags)
{
    struct text text = { 0 };
    if (json_dump_callback(document, append, &text, flags) == 0 && !text.failed)
        return text.bytes;
    text_free(&text);
    return NULL;
}

/* An allocation of jansson failed; its allocator is given no other place to leave word. */
static _Thread_local bool starved;

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    starved |= !memory;
    return memory;
}

struct allocator {
    json_malloc_t take;
    json_free_t give_back;
};

static struct allocator watch(void)
{
    struct allocator before;
    json_get_alloc_funcs(&before.take, &before.give_back);
    json_set_alloc_funcs(allocate, free);
    starved = false;
    return before;
}

/* Jansson calls a failed allocation a syntax error now and then, or leaves out a digit. */
static json_t *unless_starved(struct allocator before, json_t *document, bool *no_memory)
{
    json_set_alloc_funcs(before.take, before.give_back);
    *no_memory = starved;
    if (starved)
        drop(&document);
    return document;
}

json_t *document_parse(const char *text, size_t length, bool *no_memory)
{
    const struct allocator before = watch();
    return unless_starved(before, json_loadb(text, length, 0, NULL), no_memory);
}

json_t *document_load(const char *path, json_error_t *problem, bool *no_memory)
{
    const struct allocator before = watch();
    return unless_starved(before, json_load_file(path, 0, problem), no_memory);
}

json_t *document_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
