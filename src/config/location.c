#include "config/location.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Most paths of files are shorter than a value may be. */
enum { REASON_SIZE = 1024, VALUE_LENGTH = 240 };

/* Tells whether `file` is an override of exactly this path. */
static bool names(const char *file, const char *path)
{
    const size_t length = strlen(path);
    return strncmp(file, "-P ", 3) == 0 && strncmp(file + 3, path, length) == 0 &&
           file[3 + length] == '=';
}

/* Returns the number of bytes of the value that are shown: whole UTF-8 characters. */
static int shown_length(const char *value)
{
    size_t length = strlen(value);
    if (length > VALUE_LENGTH)
        for (length = VALUE_LENGTH; length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80;)
            length--;
    return (int)length;
}

enum status location_report_as(const struct location *location, const char *path, const char *value,
                               enum status status, struct error *error, const char *reason)
{
    char line[32] = "";
    const char *file = location->file;
    if (location->line)
        snprintf(line, sizeof line, ":%zu", location->line);
    if (!path || !*path || (!location->line && names(file, path)))
        return error_set(error, status, "%s%s: %s", file, line, reason);
    if (!value)
        return error_set(error, status, "%s%s: %s: %s", file, line, path, reason);
    return error_set(error, status, "%s%s: %s = %.*s%s: %s", file, line, path, shown_length(value),
                     value, strlen(value) > VALUE_LENGTH ? "..." : "", reason);
}

enum status location_report(const struct location *location, const char *path, const char *value,
                            struct error *error, const char *format, ...)
{
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return location_report_as(location, path, value, STATUS_CONFIG, error, reason);
}
