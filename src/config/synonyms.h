/*
 * The names that the field and other programs have for the things that a config file names here:
 * "leapfrog" for velocity-verlet, "dt" for time.step. The table is in synonyms.c; a synonym is only
 * ever proposed in an error message and never accepted as a value.
 */
#ifndef ORRERY_CONFIG_SYNONYMS_H
#define ORRERY_CONFIG_SYNONYMS_H

#include <stddef.h>

struct synonym {
    const char *word;  /* in small letters, without hyphens and underscores: "leapfrog" */
    const char *meant; /* a choice ("velocity-verlet") or the path of a key ("time.step") */
    const char *note;  /* where `meant` is not the same thing, what it is; else NULL */
};

/*
 * The first synonym of `word` whose meaning is one of the `count` candidates, or NULL. Capitals,
 * hyphens, underscores and blanks in `word` do not matter.
 */
const struct synonym *synonyms_find(const char *word, const char *const *candidates, size_t count);

/* Returns the counterpart of a key that other programs have, or a note that there is none; NULL for
 * an unknown key. */
const char *synonyms_elsewhere(const char *word);

#endif
