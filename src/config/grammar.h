/* The grammar of libconfig's language, as a table: which kinds of token, called signs, may come
 * next, and the error messages for the others. The sign of a token depends on where it stands: a
 * word may be a key or a value. */
#ifndef ORRERY_CONFIG_GRAMMAR_H
#define ORRERY_CONFIG_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

/* --- tokens ----------------------------------------------------------------------------------- */

/* The kinds of tokens; each of = : ; , { } [ ] ( ) is a kind of its own. */
enum token_kind {
    TOKEN_END,
    TOKEN_WORD = 256, /* a key, true, false, or a string without quotation marks */
    TOKEN_NUMBER,     /* a word that begins like a number */
    TOKEN_STRING,     /* the quotation marks belong to it */
    TOKEN_INCLUDE,    /* @include "name" as one token */
    TOKEN_ERROR
};

/* A word, number, string or punctuation mark of the text. */
struct token {
    int kind;      /* enum token_kind, or the punctuation mark itself */
    char *start;   /* points into the text that is read */
    size_t length; /* in bytes */
    size_t line;
    const char *problem; /* message of a TOKEN_ERROR; NULL: no token has this character */
};

/* A position in a text that has no control characters and ends with NUL. Lines are counted from 1;
 * a `line` of 0 stays 0, for text that is in no file. */
struct cursor {
    char *next; /* the first character that was not read */
    size_t line;
    bool line_start; /* the line has only blanks before `next` */
};

/* Reads the next token, and moves the cursor behind it. Rewrites the text before the token so that
 * libconfig reads it too: blanks replace comments, and LF replaces a CR alone that ends a line. */
struct token token_next(struct cursor *cursor);

/* Moves the cursor over the rest of a statement in which `open` brackets are open: behind its
 * semicolon, or before the bracket that closes its group or the end of the text. Returns false at a
 * comment that does not end, or a string that is no text. */
bool token_skip_statement(struct cursor *cursor, size_t open);

/* Returns the first control character between `bytes` and `end` that no text has, or NULL. Adds the
 * number of lines before it to *line, unless *line is 0. */
const char *token_find_binary(const char *bytes, const char *end, size_t *line);

/* --- the grammar ------------------------------------------------------------------------------ */

/* The kinds of token that are wanted next in a group or list. */
enum want {
    WANT_KEY, /* a key, or the end of the group */
    WANT_EQUALS,
    WANT_VALUE,
    WANT_FIRST,     /* the first value of a list, or the end of the list */
    WANT_SEPARATOR, /* a separator, or the end; in a group also the next key */
    WANTS
};

/* The kind of a token at its place in the text: a word may be a key or a value. */
enum sign {
    SIGN_KEY,
    SIGN_SCALAR, /* a number, a string, a flag or a word that is no key */
    SIGN_OPEN,
    SIGN_CLOSE,
    SIGN_EQUALS,
    SIGN_SEPARATOR,
    SIGN_END,
    SIGNS
};

/* The part of the text that is being read: inside an open brace or bracket, or all of the text. */
struct grammar_scope {
    char open;      /* "{", "(", "[" that began it; 0: all of the text */
    enum want want; /* kind of token that is wanted next */
    bool string;    /* the last value was a string, which another string continues */
    bool value;     /* the text is a single value, not a file */
    bool full;      /* no further bracket may be opened in it */
};

/* Tells whether the scope is a list or array, in parentheses or brackets. */
bool grammar_is_list(const struct grammar_scope *scope);
char grammar_closing(char open);
bool grammar_is_flag(const struct token *token); /* the words "true" and "false", in any case */

/* Returns the sign of a token that comes next in the scope. */
enum sign grammar_sign(const struct grammar_scope *scope, const struct token *token);

/* Returns the error message if `token`, which has this sign, may not come next in the scope;
 * otherwise NULL. `ahead` is the cursor behind the token. */
const char *grammar_problem(const struct grammar_scope *scope, const struct token *token,
                            enum sign sign, struct cursor ahead);

#endif
