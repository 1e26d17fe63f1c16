/*
 * libconfig's grammar, as a table: which kinds of token, called signs, may come at a place, and the
 * error messages for the others. The sign of a token depends on its place: a word may be a key or a
 * value.
 */
#ifndef ORRERY_CONFIG_GRAMMAR_H
#define ORRERY_CONFIG_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

/* --- tokens ----------------------------------------------------------------------------------- */

/* The words and punctuation marks of libconfig's language. */

/* The kinds of tokens; each of = : ; , { } [ ] ( ) is a kind of its own. */
enum token_kind {
    TOKEN_END,
    TOKEN_WORD = 256, /* a key, true, false, or a string that lacks its quotation marks */
    TOKEN_NUMBER,     /* starts like a number */
    TOKEN_STRING,     /* with its quotation marks */
    TOKEN_INCLUDE,    /* @include "name", the whole of it */
    TOKEN_ERROR
};

struct token {
    int kind;
    char *start; /* in the text of the cursor */
    size_t length;
    size_t line;
    const char *problem; /* message of a TOKEN_ERROR; NULL: a character not in the language */
};

/* A position in a text without control characters, which ends with NUL. Lines are counted from 1; a
 * `line` of 0 stays 0, for text that is in no file. */
struct cursor {
    char *next;
    size_t line;
    bool line_start; /* nothing but blanks since the last newline */
};

/* Reads the next token, and moves the cursor behind it. The text before the token gets the form
 * that libconfig knows too: blanks replace comments, and LF replaces the CR alone that ends a
 * line. */
struct token token_next(struct cursor *cursor);

/* Passes over the rest of a statement in which `open` brackets are open: up to and with its
 * semicolon, or up to the bracket that closes its group or the end of the text. Returns false at a
 * comment that does not end, or a string that is no text. */
bool token_skip_statement(struct cursor *cursor, size_t open);

/* Returns the first control character that no text has, or NULL. Adds the lines before it to *line,
 * unless *line is 0. */
const char *token_find_binary(const char *bytes, const char *end, size_t *line);

/* --- the grammar ------------------------------------------------------------------------------ */

/* The kinds of token that may come next in a group or list. */
enum want {
    WANT_KEY, /* or the end of the group */
    WANT_EQUALS,
    WANT_VALUE,
    WANT_FIRST,     /* first value of a list, or its end */
    WANT_SEPARATOR, /* or the end of the group or list; in a group also the next key */
    WANTS
};

/* The kind of a token for the grammar. */
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
    bool string; /* the last value was a string, which another string continues */
    bool value;  /* all of the text is one value, not a file */
    bool full;   /* another bracket would be one too many */
};

bool grammar_is_list(const struct grammar_scope *scope);
char grammar_closing(char open);
bool grammar_is_flag(const struct token *token); /* true or false, in capitals or not */

enum sign grammar_sign(const struct grammar_scope *scope, const struct token *token);

/* Returns the error message if `token`, which has this sign, may not come next in the scope, or
 * NULL. `ahead` is the cursor behind the token. */
const char *grammar_problem(const struct grammar_scope *scope, const struct token *token,
                            enum sign sign, struct cursor ahead);

#endif
