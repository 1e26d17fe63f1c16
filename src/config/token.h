/* The words and signs of libconfig's language. */
#ifndef ORRERY_CONFIG_TOKEN_H
#define ORRERY_CONFIG_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

/* Signs = : ; , { } [ ] ( ) are their own kind. */
enum token_kind {
    TOKEN_END,
    TOKEN_WORD = 256, /* a key, true, false, or a string that lacks its quotation marks */
    TOKEN_NUMBER,     /* starts like one */
    TOKEN_STRING,     /* with its quotation marks */
    TOKEN_INCLUDE,    /* @include "name", the whole of it */
    TOKEN_ERROR
};

struct token {
    int kind;
    char *start; /* in the text of the cursor */
    size_t length;
    size_t line;
    const char *problem; /* of TOKEN_ERROR; NULL: a character that the language has not */
};

/* A position in a text without control characters, which ends with NUL. Lines are counted from 1,
 * but not from 0. */
struct cursor {
    char *next;
    size_t line;
    bool line_start; /* nothing but blanks since the last newline */
};

/* Reads the next token. The text before it that is no token is put into the form that libconfig
 * knows as well: blanks for comments, and LF for the CR alone that ends a line. */
struct token token_next(struct cursor *cursor);

/* Passes over the rest of a statement with `open` brackets open: up to its semicolon, or to the
 * bracket that closes its group, which stays. Returns false if that end is missing. */
bool token_skip_statement(struct cursor *cursor, size_t open);

/* The first control character that no text has, or NULL; *line counts on. */
const char *token_find_binary(const char *bytes, const char *end, size_t *line);

#endif
