/* Checks of names that are read from files: only names that the program itself could have written
 * are accepted. A run directory may be another person's, and its names become names of files, words
 * of gnuplot's scripts and parts of pages. */
#ifndef ORRERY_BASE_NAME_H
#define ORRERY_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_LONGEST = 120, NAME_FILE_LONGEST = 255 };

/* Tells whether the name can be a key of a document, a column or a diagnostic: ASCII letters,
 * digits, '_', '-' and '.', 1 to NAME_LONGEST of them, the first a letter or a digit. */
bool name_is_word(const char *name);

/* Tells whether the text can be the unit of a column, "(km/s)^2 pc": ASCII letters, digits, blanks,
 * brackets and the signs of powers and quotients, 0 to NAME_LONGEST of them. */
bool name_is_unit(const char *unit);

/* Tells whether the name can be that of a file in a directory: 1 to NAME_FILE_LONGEST bytes, no
 * '/', no '.' or '-' at its beginning, and only characters that name_is_shown() accepts. */
bool name_is_file(const char *name);

/* Returns the length in bytes of `words` or, if that is more than `most`, of the longest beginning
 * of whole UTF-8 characters that fits into `most` bytes. */
size_t name_cut(const char *words, size_t most);

/* Tells whether the name has no line end, no tab and no character that name_neutralise()
 * replaces. */
bool name_is_shown(const char *name);

/* Replaces by '?' every byte of a character that a terminal or a browser obeys instead of showing
 * it: control characters except line ends and tabs, and the marks that turn the direction of
 * writing. */
void name_neutralise(char *words);

#endif
