/* The location of something in a configuration, and how an error there is reported. */
#ifndef ORRERY_CONFIG_LOCATION_H
#define ORRERY_CONFIG_LOCATION_H

#include <stddef.h>

#include "base/status.h"

/* Line 0: not in a file; then `file` is the override as it was typed ("-P time.step=0.01"). */
struct location {
    const char *file;
    size_t line;
};

/*
 * "file:line: path = value: reason". `path` and `value` may be NULL; an override that names
 * `path` itself stands for both. Returns STATUS_CONFIG.
 */
enum status location_report(const struct location *location, const char *path, const char *value,
                            struct error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same with another status: what a good value asks for is not there. Returns `status`. */
enum status location_report_as(const struct location *location, const char *path, const char *value,
                               enum status status, struct error *error, const char *reason);

#endif
