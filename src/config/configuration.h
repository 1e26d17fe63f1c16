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
struct section; /* the values of one group { ... }; borrowed from the config */

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
 * Reads the file and the overrides of `source`, checks them against `schema` and fills in the
 * defaults. Every error of the file is reported in one pass, a line each: "file:line: key.path =
 * value: reason"; *config is NULL then. STATUS_CONFIG, STATUS_NO_INPUT (no such file, a directory),
 * STATUS_IO, STATUS_USAGE (an override without key or value), STATUS_MEMORY. The rows of the schema
 * must live as long as the config; its groups are copied.
 */
enum status config_load(const struct config_source *source, const struct schema *schema,
                        struct config **config, struct error *error);
void config_free(struct config *config); /* accepts NULL */

/* Overrides that the program makes itself; zeroed, there are none yet. */
struct config_overrides {
    size_t count;
    const char **items;         /* [count], each "key=value" */
    struct location *locations; /* [count]; line 0: the override stands in no file */
    bool failed;                /* an override was lost for want of memory */
};

/* Adds the override "key=value"; `location` is where the value is written, or NULL. Sets `failed`
 * when memory is exhausted. */
void config_override(struct config_overrides *overrides, const struct location *location,
                     const char *key, const char *value);

/*
 * Makes *varied from `config` and the overrides, which are freed in any case. No file is read
 * again: the tree of `config`, changed by the overrides, is checked against the schema. `config`
 * must outlive *varied. STATUS_CONFIG, STATUS_USAGE, STATUS_MEMORY.
 */
enum status config_vary(const struct config *config, struct config_overrides *overrides,
                        struct config **varied, struct error *error);

const char *config_path(const struct config *config);

/* Returns the *count overrides that were typed on the command line, in their order; borrowed from
 * the config. */
const char *const *config_typed(const struct config *config, size_t *count);

/* Returns the section of a group that is no list. It exists also if the file does not have the
 * group; then all its values are defaults. */
const struct section *config_section(const struct config *config, const char *group);
/* Return the number of sections of a group that is a list, and section number `index`. */
size_t config_count(const struct config *config, const char *group);
const struct section *config_item(const struct config *config, const char *group, size_t index);

/* Returns the config to which the section belongs. */
const struct config *section_config(const struct section *section);

/* Returns the variant that the section has chosen, or NULL if its group has no variants. */
const struct variant *section_variant(const struct section *section);

/*
 * Return the value of a key, which must be in the table of the section with that type (otherwise an
 * assertion fails). Strings and arrays are borrowed from the config.
 */
bool section_flag(const struct section *section, const char *key);
int64_t section_integer(const struct section *section, const char *key);
double section_real(const struct section *section, const char *key); /* NaN where unset */
const char *section_string(const struct section *section,
                           const char *key); /* also of CHOICE and PATH; NULL where unset */
size_t section_choice(const struct section *section, const char *key); /* index into choices */
const double *section_reals(const struct section *section, const char *key, size_t *count);
/* Returns the *count elements of a key of type VALUES, each in config syntax. */
const char *const *section_values(const struct section *section, const char *key, size_t *count);
/* Returns the *count files of a key of type PATHS, or the one of a PATH; *count is 0 where the key
 * is unset. */
const char *const *section_paths(const struct section *section, const char *key, size_t *count);

/* Writes the value of each key that is bound to a member (parameter.h) into this member of the
 * struct at `target`. If the key is unset, a real becomes NaN, all else 0 or NULL. */
void section_read(const struct section *section, void *target);

/* Returns the location of the key, or of the section if the key was not given. It lives as long as
 * the config. */
struct location section_location(const struct section *section, const char *key);

/* Returns the `kept_size` bytes that the group of the section asks for (parameter.h): zeroed at
 * first, and then filled by its `check`. */
void *section_kept(const struct section *section);

/* Tell about a key: section_has() whether it has a value, given or by default; section_given()
 * whether it was given a value that is not its default (the echo of a config gives every key, and
 * must mean the same); section_written() whether it was written at all. */
bool section_has(const struct section *section, const char *key);
bool section_given(const struct section *section, const char *key);
bool section_written(const struct section *section, const char *key);

/*
 * Reports an error that only code outside of src/config can see (a step that does not fit the box,
 * say) in the form of all others: "file:line: key.path = value: reason". `key` may be NULL for the
 * section itself. Returns STATUS_CONFIG.
 */
enum status section_error(const struct section *section, const char *key, struct error *error,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Does the same with another status, for a good value that asks for something that is missing: a
 * file, a GPU. Returns `status`. */
enum status section_refuse(const struct section *section, const char *key, enum status status,
                           struct error *error, const char *reason);

/* Appends the resolved configuration in config syntax: every key that has a value, with digits
 * enough to read back the same bits. */
void config_echo(const struct config *config, struct text *text);
/* Returns the same as a JSON object, a new reference; NULL when memory is exhausted. */
json_t *config_json(const struct config *config);

#endif
