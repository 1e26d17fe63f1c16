/*
 * The config reader. An input is a config file; after a line "==> -P" stand overrides, a line
 * each, and after "==> a" or "==> b" the text of a file of that name, for @include. What is
 * accepted must be told by its echo: reading that gives the same again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/configuration.h"
#include "fuzz.h"
#include "run/schema.h"

const char fuzz_corpus[] = "config";

enum { MAIN_FILE, FILE_A, FILE_B, ECHO, PARTS = 3, MOST_OVERRIDES = 16 };
static const char *const names[] = { "main.cfg", "a", "b", "echo.cfg" };

struct overrides {
    char *items[MOST_OVERRIDES];
    size_t count;
};

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    return 0;
}

/* Returns the beginning of the next line, or the end. */
static const char *next_line(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return newline ? newline + 1 : end;
}

/* Is it the line "==> name"? */
static bool is_mark(const char *line, const char *end, const char *name)
{
    const size_t length = strlen(name);
    return (size_t)(end - line) >= 4 + length && memcmp(line, "==> ", 4) == 0 &&
           memcmp(line + 4, name, length) == 0 &&
           (line + 4 + length == end || line[4 + length] == '\n');
}

static bool is_any_mark(const char *line, const char *end)
{
    return is_mark(line, end, "-P") || is_mark(line, end, names[FILE_A]) ||
           is_mark(line, end, names[FILE_B]);
}

static void add_overrides(struct overrides *overrides, const char *from, const char *end)
{
    while (from < end && overrides->count < MOST_OVERRIDES) {
        const char *next = next_line(from, end);
        const size_t length = (size_t)(next - from) - (next > from && next[-1] == '\n');
        char *item = strndup(from, length);
        fuzz_demand(item != NULL, "memory");
        overrides->items[overrides->count++] = item;
        from = next;
    }
}

/* Writes the files of an input and collects its overrides. */
static void unpack(const char *bytes, size_t length, struct overrides *overrides)
{
    const char *end = bytes + length, *part = bytes;
    int file = MAIN_FILE;
    for (int k = 0; k < PARTS; k++)
        fuzz_write(fuzz_path(k, names[k]), "", 0);
    while (part < end) {
        const char *stop = part;
        while (stop < end && !is_any_mark(stop, end))
            stop = next_line(stop, end);
        if (file < PARTS)
            fuzz_write(fuzz_path(file, names[file]), part, (size_t)(stop - part));
        else
            add_overrides(overrides, part, stop);
        if (stop == end)
            break;
        file = is_mark(stop, end, "-P") ? PARTS : is_mark(stop, end, "a") ? FILE_A : FILE_B;
        part = next_line(stop, end);
    }
}

static void check_echo(const struct config *config)
{
    struct text first = { 0 }, second = { 0 };
    struct error error = { 0 };
    struct config *again;
    config_echo(config, &first);
    fuzz_demand(!first.failed, "memory");
    const char *path = fuzz_path(ECHO, names[ECHO]);
    fuzz_write(path, first.bytes, first.length);
    const enum status status = schema_load(path, NULL, 0, &again, &error);
    fuzz_demand(status == STATUS_OK, error.text);
    config_echo(again, &second);
    fuzz_demand(first.length == second.length &&
                    memcmp(first.bytes, second.bytes, first.length) == 0,
                "the echo of the echo is the echo");
    json_t *json = config_json(config);
    fuzz_demand(json != NULL, "memory");
    json_decref(json);
    config_free(again);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct overrides overrides = { 0 };
    struct error error = { 0 };
    struct config *config;
    unpack((const char *)bytes, length, &overrides);
    const enum status status =
        schema_load(fuzz_path(MAIN_FILE, names[MAIN_FILE]), (const char *const *)overrides.items,
                    overrides.count, &config, &error);
    fuzz_demand(status == error.status, "the status is that of the error");
    fuzz_demand((status == STATUS_OK) == (error.lines == 0), "an error has words");
    if (status == STATUS_OK)
        check_echo(config);
    config_free(config);
    for (size_t i = 0; i < overrides.count; i++)
        free(overrides.items[i]);
    return 0;
}
