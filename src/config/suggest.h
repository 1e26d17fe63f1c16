/* Suggestions for a key or a choice that does not exist: those that a person may have meant. */
#ifndef ORRERY_CONFIG_SUGGEST_H
#define ORRERY_CONFIG_SUGGEST_H

#include <stdbool.h>

#include "base/text.h"
#include "config/parameter.h"

/* Returns the row of a key in a table, or NULL. */
const struct parameter *suggest_find(const struct parameter *parameters, size_t count,
                                     const char *key);

/* Appends the variants of the group that have the key, "plummer, cold-sphere"; returns false if
 * none has it. `owners` may be NULL. */
bool suggest_owners(const struct group *group, const char *key, struct text *owners);

/*
 * Appends "; did you mean velocity-verlet?" to the reason why `word` is no choice. It names the
 * choice that the word means in the field or in other programs (synonyms), else the choice that is
 * spelt most alike. Appends nothing if no choice is near.
 */
void suggest_choice(const char *word, const char *const *choices, size_t count, struct text *text);

/*
 * Appends the path that `key` in `group` was likely meant to be: of a key that the field calls so,
 * of the same key in another group, or of a similar key in this one. `variant` is NULL if none was
 * chosen. Returns false if no key is near.
 */
bool suggest_key(const struct schema *schema, const struct group *group,
                 const struct variant *variant, const char *key, struct text *path);

/* Returns the counterpart of a key that other programs have, or a note that there is none; NULL for
 * an unknown key. */
const char *synonyms_elsewhere(const char *word);

#endif
