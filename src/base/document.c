#include "base/document.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
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

json_t *document_of(const struct document_row *rows)
{
    json_t *object = json_object();
    for (const struct document_row *row = rows; row->key; row++)
        document_set(&object, row->key, row->value);
    return object;
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

/* Becomes true when an allocation by jansson fails. A global of the thread, because jansson passes
 * no context to its allocator. */
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

/* Parses JSON and finds out whether memory was exhausted: jansson may report a failed allocation as
 * a syntax error, or leave out a digit. */
static json_t *parse(const char *text, size_t length, json_error_t *problem, bool *no_memory)
{
    const struct allocator before = watch();
    json_t *document = json_loadb(text, length, 0, problem);
    json_set_alloc_funcs(before.take, before.give_back);
    *no_memory = starved;
    if (starved)
        drop(&document);
    return document;
}

json_t *document_parse(const char *text, size_t length, bool *no_memory)
{
    return parse(text, length, NULL, no_memory);
}

/* Tells whether `code`, an errno, means that no file of this name exists that the user may read;
 * any other error is a failure of reading. */
static bool is_missing(int code)
{
    return code == ENOENT || code == ENOTDIR || code == EACCES || code == ELOOP ||
           code == ENAMETOOLONG;
}

/* Opens a file and returns its descriptor; returns -1 with an error if it is not a regular file,
 * since the reader of a pipe might wait for ever. */
static int open_regular(const char *path, struct error *error)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && lstat(path, &about) == 0 && S_ISLNK(about.st_mode)) {
        error_set(error, STATUS_DATA, "%s: is a link, which Orrery never writes", path);
        return -1;
    }
    if (fd < 0) {
        error_system(error, is_missing(errno) ? STATUS_NO_INPUT : STATUS_IO, errno, path);
        return -1;
    }
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        return fd;
    close(fd);
    error_set(error, STATUS_NO_INPUT, "%s: is not a regular file", path);
    return -1;
}

enum status document_read_text(const char *path, struct text *text, struct error *error)
{
    enum { BLOCK = 16384 };
    char block[BLOCK];
    const int fd = open_regular(path, error);
    if (fd < 0)
        return error->status;
    size_t got;
    int code;
    do {
        code = descriptor_read(fd, block, BLOCK, &got);
        text_append(text, block, got);
    } while (!code && got == BLOCK);
    close(fd);
    if (code)
        return error_system(error, STATUS_IO, code, path);
    return text->failed ? error_system(error, STATUS_MEMORY, ENOMEM, path) : STATUS_OK;
}

enum status document_load(const char *path, json_t **document, struct error *error)
{
    struct text text = { 0 };
    json_error_t problem;
    bool no_memory;
    *document = NULL;
    /* Reads the text first, since json_loadf() would take an error of reading for the end of the
     * file. */
    enum status status = document_read_text(path, &text, error);
    if (!status) {
        *document = parse(text.bytes ? text.bytes : "", text.length, &problem, &no_memory);
        if (no_memory)
            status = error_system(error, STATUS_MEMORY, ENOMEM, path);
        else if (!*document)
            status = error_set(error, STATUS_DATA, "%s:%d: %s", path, problem.line, problem.text);
    }
    text_free(&text);
    return status;
}

json_t *document_find(const json_t *document, const char *keys)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", keys);
    const json_t *value = document;
    for (char *rest = copy, *key; value && (key = strsep(&rest, "."));)
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key))
                                     : json_object_get(value, key);
    return (json_t *)value;
}

const char *document_string(const json_t *document, const char *keys)
{
    const char *string = json_string_value(document_find(document, keys));
    return string ? string : "";
}

double document_real(const json_t *document, const char *keys)
{
    const json_t *value = document_find(document, keys);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *document_words(const char *words)
{
    json_t *json = json_string(words);
    char *plain = json ? NULL : malloc(strlen(words) + 1);
    if (!plain)
        return json;
    strcpy(plain, words);
    for (char *c = plain; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    json = json_string(plain);
    free(plain);
    return json;
}

json_t *document_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *document_id(double id)
{
    return isnan(id) ? json_null() : json_integer((json_int_t)id);
}
