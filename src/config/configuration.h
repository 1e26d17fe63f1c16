/*
 * A configuration: the value of every parameter of a schema (the table of all keys), read from a
 * libconfig file and from the command line, checked, filled in with defaults, and each with the
 * location where it was given. (libconfig has functions config_read() and config_destroy(), so that
 * the names here are others.)
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
struct section; /* the values of one group { ... } of the file; borrowed from the config */

struct config_source {
    const char *path;             /* the file; "-" reads standard input */
    const char *const *overrides; /* "time.step=0.01", ...; the last one of a key wins */
    size_t override_count;
    /* The location where each override is written, [override_count]; NULL if all were typed on the
     * command line. An override with a line number is read as if it stood there: its paths are
     * relative to that file, and errors name that file and line. */
    const struct location *override_locations;
    const char *const *include_directories; /* searched for @include, after the file's own */
    size_t include_directory_count;
};

/*
 * Reads the file and the overrides of `source`, checks them against `schema` and fills in the
 * defaults. Every error of the file is reported in one pass, a line each: "file:line: key.path =
 * value: reason"; *config is NULL then. STATUS_CONFIG, STATUS_NO_INPUT (no such file, a directory),
 * STATUS_IO, STATUS_USAGE (an override without key or value), STATUS_MEMORY. The config has copies
 * of the groups of the schema, but points to their rows, which must live as long.
 */
enum status config_load(const struct config_source *source, const struct schema *schema,
                        struct config **config, struct error *error);
void config_free(struct config *config); /* accepts NULL */

/* Overrides that the program itself makes; all zero means that there are none yet. */
struct config_overrides {
    size_t count;
    const char **items;         /* [count], each "key=value" */
    struct location *locations; /* [count]; line 0: the override is in no file */
    bool failed;                /* an override was lost because memory was exhausted */
};

/* Adds the override "key=value"; `location` is where the value is written in a file, or NULL. Sets
 * overrides->failed if memory is exhausted. */
void config_override(struct config_overrides *overrides, const struct location *location,
                     const char *key, const char *value);

/* Makes the config *varied from `config` and the overrides, and frees the overrides, even if it
 * fails. No file is read again: the settings of `config`, changed by the overrides, are checked
 * against the schema. `config` must outlive *varied. STATUS_CONFIG, STATUS_USAGE, STATUS_MEMORY. */
enum status config_vary(const struct config *config, struct config_overrides *overrides,
                        struct config **varied, struct error *error);

const char *config_path(const struct config *config);

/* Returns the *count overrides that were typed on the command line, in their order; borrowed from
 * the config. */
const char *const *config_typed(const struct config *config, size_t *count);

/* Returns the section of a group that is no list. A group that is not in the file has a section
 * too, in which all values are defaults. */
const struct section *config_section(const struct config *config, const char *group);
/* Return the number of sections of a group that is a list, such as "outputs", and its section
 * number `index`, from 0. */
size_t config_count(const struct config *config, const char *group);
const struct section *config_item(const struct config *config, const char *group, size_t index);

/* Returns the config to which the section belongs. */
const struct config *section_config(const struct section *section);

/* Returns the variant that the section has chosen, or NULL if its group has no variants. */
const struct variant *section_variant(const struct section *section);

/* Return the value of a key. The key must be in the table of the section, with the type that the
 * function has in its name (otherwise an assertion fails). Strings and arrays are borrowed from the
 * config. */
bool section_flag(const struct section *section, const char *key);
int64_t section_integer(const struct section *section, const char *key);
double section_real(const struct section *section, const char *key); /* NaN if unset */
const char *section_string(const struct section *section,
                           const char *key); /* for types STRING, CHOICE and PATH; NULL if unset */
size_t section_choice(const struct section *section, const char *key); /* index among its choices */
const double *section_reals(const struct section *section, const char *key, size_t *count);
/* Returns the *count elements of a key of type VALUES, each as a string in config syntax. */
const char *const *section_values(const struct section *section, const char *key, size_t *count);
/* Returns the *count paths of files of a key of type PATHS, or the one path of a key of type PATH;
 * *count is 0 if the key is unset. */
const char *const *section_paths(const struct section *section, const char *key, size_t *count);

/* Writes the value of each key that its row binds to a member (BIND() in parameter.h) into that
 * member of the struct at `target`. If the key is unset, a real becomes NaN, any other member 0 or
 * NULL. */
void section_read(const struct section *section, void *target);

/* Returns where the value of the key was given or, if the value is a default, where the section
 * was. The location's `file` lives as long as the config. */
struct location section_location(const struct section *section, const char *key);

/* Returns the memory of `kept_size` bytes (struct group of parameter.h) that the section has for
 * the results of the function `check` of its group; zeroed before that function fills it. */
void *section_kept(const struct section *section);

/* Tell about a key: section_has() whether it has a value, given or by default; section_given()
 * whether a value was given that differs from the default (the echo of a config gives every key,
 * and must mean the same as the config itself); section_written() whether a value was given at
 * all. */
bool section_has(const struct section *section, const char *key);
bool section_given(const struct section *section, const char *key);
bool section_written(const struct section *section, const char *key);

/* Reports an error in a value that only code outside of src/config can find (a step that does not
 * fit the box, say), in the form of all others: "file:line: key.path = value: reason". If `key` is
 * NULL, the error is about the section itself. Returns STATUS_CONFIG. */
enum status section_error(const struct section *section, const char *key, struct error *error,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports an error as section_error() does, but with `status`: for a good value that asks for
 * something that is missing, such as a file or a GPU. Returns `status`. */
enum status section_refuse(const struct section *section, const char *key, enum status status,
                           struct error *error, const char *reason);

/* Appends the whole configuration in config syntax: every key that has a value, given or by
 * default, with enough digits to read back the same bits. */
void config_echo(const struct config *config, struct text *text);
/* Returns what config_echo() appends as a new JSON object, which the caller owns; NULL if memory is
 * exhausted. */
json_t *config_json(const struct config *config);

#endif
