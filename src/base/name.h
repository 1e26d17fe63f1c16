/*
 * Names that come out of files: what the program itself could have written, and nothing else. A run
 * directory may be another person's, and its names become names of files, words of gnuplot's
 * scripts and parts of pages.
 */
#ifndef ORRERY_BASE_NAME_H
#define ORRERY_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_LONGEST = 120, NAME_FILE_LONGEST = 255 };

/* A key of a document, a column, a diagnostic: letters of ASCII, digits, '_', '-' and '.', at least
 * one and at most NAME_LONGEST, of which the first is a letter or a digit. */
bool name_is_word(const char *name);

/* The unit of a column, "(km/s)^2 pc": letters of ASCII, digits, blanks, brackets and the signs of
 * powers and quotients, at most NAME_LONGEST, or none. */
bool name_is_unit(const char *unit);

/* A file of a directory: no '/', no control character, no '.' at its beginning, not longer than
 * NAME_FILE_LONGEST. */
bool name_is_file(const char *name);

/* Returns the length of `words`, or of their first characters that fit into `most` bytes: a
 * character of UTF-8 is whole. */
size_t name_cut(const char *words, size_t most);

/* Tells whether it has none of the characters that name_neutralise() replaces, no line ends and no
 * tabs. */
bool name_is_shown(const char *name);

/* Puts '?' in the place of what a terminal or a browser would obey and not show: control
 * characters, but for line ends and tabs, and the marks that turn the direction of writing. */
void name_neutralise(char *words);

#endif
