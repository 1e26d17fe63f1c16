/*
 * orrery convert, from its arguments to the file that it leaves. The first byte of an input chooses
 * the formats and options, the rest is the file. What was converted must convert again to the same
 * bytes; what was refused must leave nothing. HDF5 is left out: its library reads damaged files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/commands.h"
#include "fuzz.h"

const char fuzz_corpus[] = "convert";

enum { INPUT, OUTPUT, AGAIN, MOST_ARGUMENTS = 12 };

/* The first byte: two bits for the format of the input, two for that of the output, the rest. */
enum { TO_SHIFT = 2, FORMAT_MASK = 3, ALL = 1 << 4, FIRST = 1 << 5 };
static const char *const formats[] = { "csv", "xyz", "plain", NULL };

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    return 0;
}

static enum status convert(const char *input, const char *output, const char *from, const char *to,
                           unsigned options)
{
    char *arguments[MOST_ARGUMENTS + 1];
    int count = 0;
    const char *const fixed[] = { "convert", "-q", "--force", "--to", to, input, output };
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        arguments[count++] = (char *)fixed[i];
    if (from) {
        arguments[count++] = (char *)"--from";
        arguments[count++] = (char *)from;
    }
    if (options & ALL)
        arguments[count++] = (char *)"--all";
    else if (options & FIRST)
        arguments[count++] = (char *)"--frame=0";
    arguments[count] = NULL;
    struct error error = { 0 };
    const enum status status = command_convert(count, arguments, &error);
    fuzz_demand(status == error.status, "the status is that of the error");
    fuzz_demand((status == STATUS_OK) == (error.lines == 0), "an error has words");
    return status;
}

/* A file as a whole; the caller frees it. NULL where it is not there. */
static char *content(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fuzz_demand(fseek(file, 0, SEEK_END) == 0, "the file has a size");
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    fuzz_demand(bytes && fread(bytes, 1, *length, file) == *length, "the file can be read");
    fclose(file);
    return bytes;
}

static void check_same(const char *one, const char *other)
{
    size_t length = 0, other_length = 0;
    char *bytes = content(one, &length), *others = content(other, &other_length);
    fuzz_demand(bytes && others, "a file that was converted is there");
    fuzz_demand(length == other_length && memcmp(bytes, others, length) == 0,
                "converted again, the same bytes");
    free(bytes);
    free(others);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 1 || (length >= 5 && memcmp(bytes + 1, "\x89HDF", 4) == 0))
        return -1;
    const unsigned options = bytes[0];
    const char *from = formats[options & FORMAT_MASK];
    const char *to = formats[options >> TO_SHIFT & FORMAT_MASK];
    const char *input = fuzz_path(INPUT, "input"), *output = fuzz_path(OUTPUT, "output");
    const char *again = fuzz_path(AGAIN, "again");
    if (!to)
        to = formats[0];
    fuzz_write(input, bytes + 1, length - 1);
    unlink(output);
    if (convert(input, output, from, to, options) != STATUS_OK) {
        fuzz_demand(access(output, F_OK) != 0, "what was refused leaves nothing");
        return 0;
    }
    /* Only extended XYZ can be read with all frames. */
    if (to != formats[1] && options & ALL)
        return 0;
    fuzz_demand(convert(output, again, to, to, options & ALL) == STATUS_OK,
                "what was converted can be converted again");
    check_same(output, again);
    return 0;
}
