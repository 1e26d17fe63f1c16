/* Suggestions for a key or a choice that does not exist: one that was probably meant. */
#ifndef ORRERY_CONFIG_SUGGEST_H
#define ORRERY_CONFIG_SUGGEST_H

#include <stdbool.h>

#include "base/text.h"
#include "config/parameter.h"

/* Returns the row of a key in a table of `count` rows, or NULL. */
const struct parameter *suggest_find(const struct parameter *parameters, size_t count,
                                     const char *key);

/* Appends the names of the variants of the group that have the key, "plummer, cold-sphere"; returns
 * false if none has it. `owners` may be NULL. */
bool suggest_owners(const struct group *group, const char *key, struct text *owners);

/* Appends "; did you mean velocity-verlet?" to the reason why `word` is none of the `count`
 * choices. It proposes the choice that the field or other programs call `word` (a synonym),
 * otherwise the choice that is spelt most alike; it appends nothing if none is near. */
void suggest_choice(const char *word, const char *const *choices, size_t count, struct text *text);

/* Appends the path of the key that was probably meant by the unknown `key` in `group`: a key for
 * which it is a synonym, the same key in another group, or a key of this group that is spelt alike.
 * `variant` is NULL if none was chosen. Returns false if no key is near. */
bool suggest_key(const struct schema *schema, const struct group *group,
                 const struct variant *variant, const char *key, struct text *path);

/* Returns a sentence for a key that other programs have: the counterpart here, or that there is
 * none; NULL if the key is not known. */
const char *synonyms_elsewhere(const char *word);

#endif
