/*
 * libconfig's grammar, as a table: which sign may come where, and what is said where it may not. A
 * sign is what a token is for the grammar; whether a word is a key or a value depends on where it
 * stands.
 */
#ifndef ORRERY_CONFIG_GRAMMAR_H
#define ORRERY_CONFIG_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

/* --- tokens ----------------------------------------------------------------------------------- */

/* The words and signs of libconfig's language. */

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

/* --- the grammar ------------------------------------------------------------------------------ */

/* The kinds of token that may come next in a group or list. */
enum want {
    WANT_KEY, /* or the end of the group */
    WANT_EQUALS,
    WANT_VALUE,
    WANT_FIRST,     /* value of a list, or its end */
    WANT_SEPARATOR, /* or the end; in a group, the next key will do */
    WANTS
};

/* The kind of the token that comes next. */
enum sign {
    SIGN_KEY,
    SIGN_SCALAR,
    SIGN_OPEN,
    SIGN_CLOSE,
    SIGN_EQUALS,
    SIGN_SEPARATOR,
    SIGN_END,
    SIGNS
};

/* A brace or bracket that is open, or all of the text. */
struct grammar_scope {
    char open; /* '{', '(', '[', or 0 outside all */
    enum want want;
    bool string; /* the last value was one; another one continues it */
    bool value;  /* all of the text is one value, not a file */
    bool full;   /* another bracket would be one too many */
};

bool grammar_is_list(const struct grammar_scope *scope);
char grammar_closing(char open);
bool grammar_is_flag(const struct token *token); /* true or false, in capitals or not */

enum sign grammar_sign(const struct grammar_scope *scope, const struct token *token);

/* Returns the reason why the sign may not come here, or NULL: by the table, or by the token
 * itself. The cursor stands behind it. */
const char *grammar_problem(const struct grammar_scope *scope, const struct token *token,
                            enum sign sign, struct cursor ahead);

#endif
