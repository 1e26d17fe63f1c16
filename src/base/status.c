#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"

/* Keeps the first message even if it must be cut; keeps a later one whole or, if it does not fit,
 * only counts it in `dropped`. */
enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    const bool first = error->lines == 0;
    if (first)
        error_clear(error);
    /* Behind the newline that will end the last message. */
    const size_t start = first ? 0 : error->length + 1;
    va_list arguments;
    va_start(arguments, format);
    int length = -1;
    if (start < sizeof error->text)
        length = vsnprintf(error->text + start, sizeof error->text - start, format, arguments);
    va_end(arguments);
    if (!first && (length < 0 || start + (size_t)length >= sizeof error->text)) {
        error->text[error->length] = '\0';
        error->dropped++;
        return error->status;
    }
    name_neutralise(error->text + start); /* the message may quote the text of strangers */
    if (!first)
        error->text[error->length] = '\n';
    else
        error->status = status;
    error->length = start + strlen(error->text + start);
    error->lines++;
    return error->status;
}

static const char out_of_memory[] = "out of memory";

enum status error_file(struct error *error, enum status status, int code, const char *folder,
                       const char *name)
{
    const bool memory = code == ENOMEM;
    return error_set(error, memory ? STATUS_MEMORY : status, "%s%s%s: %s", folder,
                     *folder ? "/" : "", name, memory ? out_of_memory : strerror(code));
}

enum status error_system(struct error *error, enum status status, int code, const char *what)
{
    return error_file(error, status, code, "", what);
}

enum status error_memory(struct error *error)
{
    return error_set(error, STATUS_MEMORY, "%s", out_of_memory);
}

enum status error_pass(struct error *error, const struct error *other)
{
    return other->status ? error_set(error, other->status, "%s", other->text) : STATUS_OK;
}

void error_clear(struct error *error)
{
    error->status = STATUS_OK;
    error->length = error->lines = error->dropped = 0;
    error->text[0] = '\0';
}
