/*
 * Text: a growable string, strict number parsing, and spelling distance. Numbers are read and
 * written with '.' in every locale, because the program never calls setlocale().
 */
#ifndef ORRERY_BASE_TEXT_H
#define ORRERY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string that grows; all zero is an empty one. `bytes` is NUL-terminated once non-NULL. */
struct text {
    char *bytes;
    size_t length;
    size_t capacity;
    bool failed; /* an allocation failed; the content is incomplete */
};

void text_append(struct text *text, const char *bytes, size_t length);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `words` after what the last line holds, broken at blanks so that no line is longer than `width`;
 * every new line starts with `prefix`. */
void text_wrap(struct text *text, const char *prefix, size_t width, const char *words);
/* "double, mixed, single": the names, which end with NULL. */
void text_names(struct text *text, const char *const *names);
/* "a", "b" and "c" */
void text_quoted(struct text *text, const char *const *names);
/* A cell of a CSV file as RFC 4180 has it: in quotation marks, doubled inside, where it needs them.
 * What a spreadsheet would take for a formula, '=', '+', '@' or '-' and no number, is made words by
 * an apostrophe before it. */
void text_cell(struct text *text, const char *words);
/* Any bytes in the letters of RFC 4648. */
void text_base64(struct text *text, const void *from, size_t length);
/* A word of a command for the shell, quoted where it needs that; no option even where it begins
 * with a dash. */
void text_shell(struct text *text, const char *word);
void text_free(struct text *text);

/*
 * Splits `line` in place at the separator, ',' or ' ' for any blanks; blanks around fields and a
 * pair of double quotes are removed. Gives the number of fields, of which the first `size` are in
 * `fields`.
 */
size_t text_split(char *line, char separator, char **fields, size_t size);

/* Cuts the name of a column, as in "vx [AU/d]", behind "vx"; gives its unit "AU/d", or NULL. */
char *text_cut_unit(char *name);

/* Copies the value of a key, "Time=", in a line of key=value and key="value" pairs; false where it
 * is not there or too long. */
bool text_find_value(const char *line, const char *key, char *value, size_t size);

/* Reads the whole of `bytes` as a number, surrounding blanks allowed; false if it is anything else.
 * Reals: decimal only (no hex, inf or nan); overflow to infinity is refused. */
bool text_parse_real(const char *bytes, double *value);
bool text_parse_integer(const char *bytes, int64_t *value);

/* The shortest of %.15g, %.16g, %.17g that reads back as `value`; at most 31 characters. */
enum { TEXT_REAL_SIZE = 32 };
const char *text_real(char buffer[TEXT_REAL_SIZE], double value);

/* Prints `value` with as few digits, from `digits` to 15, as leave it above, at or below each of
 * the two bounds, as it is: 1.0001 beside 1, not "1"; beside itself with as many as read back. */
const char *text_beside(char buffer[TEXT_REAL_SIZE], int digits, double value, double lowest,
                        double highest);

/* " in system 3", for what is of one system of several, or " in system 3 (ic_3.csv)" where it has
 * the name of a file, else NULL or ""; "" for system 0, which is none. */
enum { TEXT_SYSTEM_SIZE = 160 };
const char *text_system(char buffer[TEXT_SYSTEM_SIZE], double system, const char *file);

/* Returns the length of the UTF-8 character at `text` (RFC 3629, table of section 4); 0 if there is
 * none. A NUL, where the text ends, continues none. */
size_t text_character(const char *text);

/* The value; of NaN, one without the sign that printf() would show. */
double text_plain(double value);

/* Edits (insert, delete, replace, swap neighbours) that turn a into b. */
size_t text_distance(const char *a, const char *b);

/* The candidate nearest to `word`, or NULL where none is near enough to be a likely slip. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
