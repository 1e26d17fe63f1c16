/* Text: a growable string, strict number parsing, and spelling distance. Numbers are read and
 * written with '.' in every locale, because the program never calls setlocale(). */
#ifndef ORRERY_BASE_TEXT_H
#define ORRERY_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string that grows. All zero is an empty string; `bytes` ends with a NUL as soon as it is not
 * NULL. */
struct text {
    char *bytes;
    size_t length;
    size_t capacity; /* allocated bytes */
    bool failed;     /* an allocation failed; the content is incomplete */
};

void text_append(struct text *text, const char *bytes, size_t length);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprint(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Appends `words` to the last line, broken at blanks so that no line is longer than `width` unless
 * a single word is; every new line starts with `prefix`. */
void text_wrap(struct text *text, const char *prefix, size_t width, const char *words);
/* Appends the names, an array that ends with NULL, as "double, mixed, single". */
void text_names(struct text *text, const char *const *names);
/* Appends the names in quotes: "a", "b" and "c". */
void text_quoted(struct text *text, const char *const *names);
/* Appends a cell of a CSV file (RFC 4180), in quotation marks if necessary. If a spreadsheet would
 * take the words for a formula, because they begin with '=', '+', '@' or '-' and are no number, an
 * apostrophe before them makes them text. */
void text_cell(struct text *text, const char *words);
/* Appends bytes in base 64 (RFC 4648). */
void text_base64(struct text *text, const void *from, size_t length);
/* Appends a word of a shell command, quoted if necessary; a word that begins with a dash gets "./"
 * before it, so that no program takes it for an option. */
void text_shell(struct text *text, const char *word);
void text_free(struct text *text);

/* Splits `line` in place into fields at the separator: ',', or ' ' for any number of blanks. Blanks
 * around a field and a pair of double quotes are removed; a separator inside quotes belongs to the
 * field. Returns the number of fields, of which the first `size` are in `fields`. */
size_t text_split(char *line, char separator, char **fields, size_t size);

/* Cuts the unit from a column's name: "vx [AU/d]" becomes "vx". Returns the unit, "AU/d", or NULL
 * if there is none. */
char *text_cut_unit(char *name);

/* Copies the value of a key such as "Time=" from a line of key=value and key="value" pairs,
 * whatever the case of the key's letters; returns false if the key is missing or the value too
 * long. */
bool text_find_value(const char *line, const char *key, char *value, size_t size);

/* Read all of `bytes`, blanks around it excepted, as a number in *value; return false if it is
 * anything else. A real is decimal (no hexadecimal digits, inf or nan) and not too large for a
 * double. */
bool text_parse_real(const char *bytes, double *value);
bool text_parse_integer(const char *bytes, int64_t *value);

/* Prints `value` by the shortest of %.15g, %.16g and %.17g that reads back as `value`, in at most
 * 31 characters. */
enum { TEXT_REAL_SIZE = 32 };
const char *text_real(char buffer[TEXT_REAL_SIZE], double value);

/* Prints `value` with the fewest significant digits, from `digits` to 15, with which the printed
 * number is below, at or above each of the two bounds as `value` is: 1.0001 beside the bound 1
 * becomes "1.0001", not "1". */
const char *text_beside(char buffer[TEXT_REAL_SIZE], int digits, double value, double lowest,
                        double highest);

/* Prints a factor of at least 1 with `digits` significant digits; without an exponent if it is less
 * than a million: "1.3", "1750". */
const char *text_factor(char buffer[TEXT_REAL_SIZE], double factor, int digits);

/* Prints " in system 3", for a message about one system of several, or " in system 3 (ic_3.csv)" if
 * `file` is not NULL or "". Prints "" for 0, which stands for no system. */
enum { TEXT_SYSTEM_SIZE = 160 };
const char *text_system(char buffer[TEXT_SYSTEM_SIZE], double system, const char *file);

/* Returns the length in bytes of the UTF-8 character at `text` (RFC 3629, table of section 4); 0 if
 * the bytes are no such character. Reads nothing behind the NUL that ends the text. */
size_t text_character(const char *text);

/* Returns the value; if it is NaN, a NaN without a sign, since printf() would show the sign. */
double text_plain(double value);
/* Rounds a positive value down to one significant digit: 0.0237 becomes 0.02. */
double text_round_down(double value);

/* Returns the number of edits (insert, delete or replace a letter, swap two neighbours) that turn
 * `a` into `b`. */
size_t text_distance(const char *a, const char *b);

/* Returns the candidate with the fewest edits (text_distance()) from `word`; NULL if all are too
 * far for `word` to be a slip of the keyboard. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
