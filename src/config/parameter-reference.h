/* Describes config keys in words. The table of all of them is for config/defaults.cfg, the
 * man page orrery.cfg(5) and `orrery info`; requirements and suggestions are for errors too. */
#ifndef ORRERY_CONFIG_PARAMETER_REFERENCE_H
#define ORRERY_CONFIG_PARAMETER_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "config/parameter.h"

enum { REFERENCE_WIDTH = 80 }; /* columns, at which text is wrapped */

/* Appends `indent`, `name` and, from column `column` on, `help`, wrapped at REFERENCE_WIDTH. */
void reference_item(const char *indent, const char *name, size_t column, const char *help,
                    struct text *text);

/* Appends a variant of a group, such as the initial condition "plummer": its help, its own keys,
 * and the keys that all variants of the group share. */
void reference_variant(const struct group *group, const struct variant *variant, struct text *text);

/* Appends a group of keys: its help, the names of its variants, and the keys that all its variants
 * share. */
void reference_group(const struct group *group, struct text *text);

/* Appends every row of the table whose key or path ("step", "time.step") is `name`, each with its
 * path. `more` says that text was appended before, which an empty line then separates from the
 * rows. Returns whether there is any text now. */
bool reference_key(const struct schema *schema, const char *name, bool more, struct text *text);

/* Appends every choice called `name` that a row of the table explains, such as "tiled" of
 * compute.kernel; `more` and the result mean what they mean for reference_key(). */
bool reference_choice(const struct schema *schema, const char *name, bool more, struct text *text);

/* Appends the text of config/defaults.cfg: a config file with every key of the schema in a
 * comment. */
void reference_defaults(const struct schema *schema, struct text *text);

/* Appends the man page orrery.cfg(5), in roff. */
void reference_manual(const struct schema *schema, struct text *text);

/* --- requirement.c: what a parameter requires of its value ------------------------------------ */

/* The requirements that a parameter makes on its value, in words: for errors and for the reference
 * of keys. */

/* Tells whether the value is finite and in the range that the row of the parameter allows. */
bool requirement_holds(const struct parameter *parameter, double value);

/* Appends the range that the parameter allows, "greater than 0" or "at least 0 and at most 1";
 * nothing if any value is allowed. */
void requirement_range(const struct parameter *parameter, struct text *text);

/* Appends the kind of value that the parameter takes: "a number greater than 0", "one of open,
 * periodic", "true or false". */
void requirement_print(const struct parameter *parameter, struct text *text);

/* Computes the value of a text that is a finite number or a formula of numbers and pi: "7/24",
 * "1/(2-2^(1/3))". Returns false for any other text. */
bool requirement_work_out(const char *text, double *value);

/* --- values as people write them who come from other languages -------------------------------- */

/* Slips are values in the form of another language; an error can say how they are written here. */

/* Returns the length in bytes of the value at the start of `text`, up to the end of its line or
 * statement, if the whole value is a slip (0,005; 10^-3; 2*3.14; 0.005 yr; 'rk4'); otherwise 0. */
size_t slip_length(const char *text);

/* Appends to `reason`, which may be NULL, what is wrong with the value `raw` and how it is written
 * right; returns false if it is no slip. `is_text` says that the parameter takes a string. */
bool slip_print(const char *raw, bool is_text, struct text *reason);

/* --- suggest.c: what was probably meant ------------------------------------------------------- */

/* Suggestions for a key or a choice that does not exist: one that was probably meant. */

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
