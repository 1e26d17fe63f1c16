/* Where something in a configuration was given, and how an error there is reported. */
#ifndef ORRERY_CONFIG_PLACE_H
#define ORRERY_CONFIG_PLACE_H

#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Line 0: not in a file; then `file` is the override as it was typed ("-P time.step=0.01"). */
struct place {
    const char *file;
    size_t line;
};

/*
 * "file:line: path = value: reason". `path` and `value` may be NULL; an override that names
 * `path` itself stands for both. Returns STATUS_CONFIG.
 */
enum status place_report(const struct place *place, const char *path, const char *value,
                         struct error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same with another status: what a good value asks for is not there. Returns `status`. */
enum status place_report_as(const struct place *place, const char *path, const char *value,
                            enum status status, struct error *error, const char *reason);

#ifdef __cplusplus
}
#endif

#endif
