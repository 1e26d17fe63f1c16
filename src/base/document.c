#include "base/document.h"

#include <errno.h>
#include <math.h>

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

/* Jansson calls a failed allocation a syntax error now and then. */
json_t *document_parse(const char *text, size_t length, bool *no_memory)
{
    errno = 0;
    json_t *document = json_loadb(text, length, 0, NULL);
    *no_memory = !document && errno == ENOMEM;
    return document;
}

json_t *document_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
