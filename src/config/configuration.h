/*
 * A configuration: the values of every parameter of a schema, read from a libconfig file and from
 * the command line, checked, defaulted, and each one traceable to where it was given.
 * (libconfig itself owns the names config_read and config_destroy.)
 */
#ifndef ORRERY_CONFIG_CONFIGURATION_H
#define ORRERY_CONFIG_CONFIGURATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "config/node.h"
#include "config/parameter.h"

struct config;  /* opaque, owned by the caller of config_load() */
struct section; /* one brace with its values; borrowed from the config */

struct config_source {
    const char *path;             /* the file; "-" reads standard input */
    const char *const *overrides; /* "time.step=0.01", "outputs.0.every=5", later ones win */
    size_t override_count;
    /* The place where each override is written, or NULL: all were typed on the command line. An
     * override with a line is read as if it stood there: its paths are relative to that file, and
     * errors name it. */
    const struct location *override_locations;
    const char *const
        *include_directories; /* searched for @include after the file's own directory */
    size_t include_directory_count;
};

/*
 * Reads, checks and defaults. Every error of the file is reported in one pass, a line each:
 * "file:line: key.path = value: reason". STATUS_CONFIG, STATUS_NO_INPUT (no such file, a
 * directory), STATUS_USAGE (an override without key or value), STATUS_MEMORY. The rows of the
 * schema must live as long as the config; its groups are copied.
 */
enum status config_load(const struct config_source *source, const struct schema *schema,
                        struct config **config, struct error *error);
void config_free(struct config *config); /* accepts NULL */

/*
 * The configuration that `config` becomes with the overrides of `further`, of which the path and
 * the include directories do not count: no file is read again. What it costs does not grow with
 * what the overrides leave alone. `config` must outlive it.
 */
enum status config_vary(const struct config *config, const struct config_source *further,
                        struct config **varied, struct error *error);

const char *config_path(const struct config *config);

/* The overrides that were typed on the command line, in their order; borrowed from the config. */
const char *const *config_typed(const struct config *config, size_t *count);

/* The section of a group that is not a list; always there, if need be all defaults. */
const struct section *config_section(const struct config *config, const char *group);
/* The sections of a list. */
size_t config_count(const struct config *config, const char *group);
const struct section *config_item(const struct config *config, const char *group, size_t index);

/* The config that the section is of. */
const struct config *section_config(const struct section *section);

/* The chosen variant, or NULL where the group has none. */
const struct variant *section_variant(const struct section *section);

/*
 * Typed values. The key must be in the table with that type (an assertion otherwise). Strings and
 * arrays are borrowed from the config.
 */
bool section_flag(const struct section *section, const char *key);
int64_t section_integer(const struct section *section, const char *key);
double section_real(const struct section *section, const char *key); /* NaN where unset */
const char *section_string(const struct section *section,
                           const char *key);                           /* also CHOICE, PATH; NULL */
size_t section_choice(const struct section *section, const char *key); /* index into choices */
const double *section_reals(const struct section *section, const char *key, size_t *count);
/* The elements of VALUES, each in config syntax. */
const char *const *section_values(const struct section *section, const char *key, size_t *count);
/* The files of PATHS, or the one of a PATH; none where it is unset. */
const char *const *section_paths(const struct section *section, const char *key, size_t *count);

/* Puts what the keys hold into their members of the struct at `target`; NaN for a real, NULL for a
 * string that is unset. */
void section_read(const struct section *section, void *target);

/* Returns the location of the key, or of the section if the key was not given. It lives as long as
 * the config. */
struct location section_location(const struct section *section, const char *key);

/* Has it a value (given or by default)? Was it given one that is not its default? (The echo of a
 * config gives every key, and must mean the same.) Was it written at all? */
bool section_has(const struct section *section, const char *key);
bool section_given(const struct section *section, const char *key);
bool section_written(const struct section *section, const char *key);

/*
 * Reports an error that only a higher floor can see (a step that does not fit the box, say) in the
 * form of all others: "file:line: key.path = value: reason". `key` may be NULL for the section
 * itself. Returns STATUS_CONFIG.
 */
enum status section_error(const struct section *section, const char *key, struct error *error,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with another status, where what a good value asks for is not there: a file, a GPU.
 * Returns `status`. */
enum status section_refuse(const struct section *section, const char *key, enum status status,
                           struct error *error, const char *reason);

/* The resolved configuration in config syntax: every key, %.17g, re-readable to the same values. */
void config_echo(const struct config *config, struct text *text);
/* The same as a JSON object; a new reference. NULL when memory is exhausted. */
json_t *config_json(const struct config *config);

#endif
