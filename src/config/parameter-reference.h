/* The parameter table in words: defaults.cfg, orrery.cfg(5), `orrery info`. */
#ifndef ORRERY_CONFIG_PARAMETER_REFERENCE_H
#define ORRERY_CONFIG_PARAMETER_REFERENCE_H

#include <stdbool.h>

#include "base/text.h"
#include "config/parameter.h"

enum { REFERENCE_WIDTH = 80 }; /* columns */

/*
 * "  name      help ...", wrapped at REFERENCE_WIDTH, the help from column `column` on. Appends.
 */
void reference_item(const char *indent, const char *name, size_t column, const char *help,
                    struct text *text);

/* A variant of a group: its help, its own keys and those that its group shares. Appends. */
void reference_variant(const struct group *group, const struct variant *variant, struct text *text);

/* A group: its help, its variants by name, its own keys. Appends. */
void reference_group(const struct group *group, struct text *text);

/*
 * Every row whose key or path ("step", "time.step") is `name`, each after its path; `more`: after
 * other text, from which an empty line parts it. Appends; returns whether there is any text now.
 */
bool reference_key(const struct schema *schema, const char *name, bool more, struct text *text);

/*
 * Every choice called `name` that a row explains ("tiled" of compute.kernel), in the same way.
 */
bool reference_choice(const struct schema *schema, const char *name, bool more, struct text *text);

/* config/defaults.cfg: a config file with every key of the schema in a comment. Appends. */
void reference_defaults(const struct schema *schema, struct text *text);

/* Appends the man page orrery.cfg(5). */
void reference_manual(const struct schema *schema, struct text *text);

#endif
