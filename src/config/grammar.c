#include "config/grammar.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* --- tokens ----------------------------------------------------------------------------------- */

const char *token_find_binary(const char *bytes, const char *end, size_t *line)
{
    for (const char *p = bytes; p < end; p++) {
        const unsigned char byte = (unsigned char)*p;
        if (byte == 0x7f || (byte < 0x20 && (byte == 0 || !strchr("\t\n\r\f", byte))))
            return p;
        if (byte == '\n' || (byte == '\r' && (p + 1 == end || p[1] != '\n')))
            *line += *line > 0;
    }
    return NULL;
}

static bool starts(const struct cursor *cursor, const char *word)
{
    return strncmp(cursor->next, word, strlen(word)) == 0;
}

/* Passes over one character and counts lines. CR LF, LF and CR alone all end a line; CR alone is
 * replaced by LF, since libconfig does not know it. */
static void step(struct cursor *cursor)
{
    char *c = cursor->next++;
    if (*c == '\r' && *cursor->next != '\n')
        *c = '\n';
    if (*c == '\n') {
        cursor->line += cursor->line > 0;
        cursor->line_start = true;
    } else if (!isspace((unsigned char)*c)) {
        cursor->line_start = false;
    }
}

static void erase(char *from, const char *end)
{
    for (; from < end; from++)
        if (*from != '\n' && *from != '\r')
            *from = ' ';
}

/* Skips blanks and comments, and overwrites the comments with blanks. Returns false, with the
 * cursor at the start of the comment, if a comment is not closed. */
static bool skip(struct cursor *cursor)
{
    while (*cursor->next) {
        char *start = cursor->next;
        if (isspace((unsigned char)*start)) {
            step(cursor);
        } else if (*start == '#' || starts(cursor, "//")) {
            cursor->next += strcspn(start, "\r\n");
            erase(start, cursor->next);
        } else if (starts(cursor, "/*")) {
            const struct cursor opened = *cursor;
            cursor->next += 2;
            while (*cursor->next && !starts(cursor, "*/"))
                step(cursor);
            if (!*cursor->next) {
                *cursor = opened;
                return false;
            }
            cursor->next += 2;
            erase(start, cursor->next);
        } else {
            break;
        }
    }
    return true;
}

static struct token make(int kind, char *start, const struct cursor *cursor)
{
    return (struct token){
        .kind = kind, .start = start, .length = (size_t)(cursor->next - start), .line = cursor->line
    };
}

static struct token fail(char *start, const struct cursor *cursor, const char *problem)
{
    struct token token = make(TOKEN_ERROR, start, cursor);
    token.problem = problem;
    return token;
}

/* Tells whether the escape \xHH at `p` in a string stands for a character from \x20 to \x7e; only
 * these are text. */
static bool escape_is_text(const char *p)
{
    if (!isxdigit((unsigned char)p[2]) || !isxdigit((unsigned char)p[3]))
        return true; /* no hexadecimal digits: no escape, libconfig takes the letters */
    return p[2] >= '2' && p[2] <= '7' && !(p[2] == '7' && tolower((unsigned char)p[3]) == 'f');
}

static struct token string(struct cursor *cursor)
{
    char *start = cursor->next++;
    while (*cursor->next && !strchr("\r\n", *cursor->next)) {
        char *p = cursor->next;
        if (*p == '"') {
            cursor->next++;
            return make(TOKEN_STRING, start, cursor);
        }
        if (*p == '\\' && (p[1] == '"' || p[1] == '\\')) {
            cursor->next += 2;
            continue;
        }
        if (*p == '\\' && (p[1] == 'x' || p[1] == 'X') && !escape_is_text(p))
            return fail(p, cursor, "only \\x20 to \\x7e are text");
        const size_t length = text_character(p);
        if (length == 0)
            return fail(p, cursor, "not UTF-8 text");
        cursor->next += length;
    }
    return fail(start, cursor, "a string starts here and does not end on this line");
}

static struct token include(struct cursor *cursor)
{
    char *start = cursor->next;
    const bool first = cursor->line_start;
    cursor->next += strlen("@include");
    cursor->next += strspn(cursor->next, " \t");
    if (!first)
        return fail(start, cursor, "@include must stand at the start of a line");
    if (*cursor->next != '"' || cursor->next[1] == '"')
        return fail(start, cursor, "must be @include \"name\"");
    const struct token name = string(cursor);
    cursor->line_start = false;
    return name.kind == TOKEN_STRING ? make(TOKEN_INCLUDE, start, cursor) : name;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("*-_", c));
}

static struct token word(struct cursor *cursor)
{
    char *start = cursor->next;
    while (in_word(*cursor->next))
        cursor->next++;
    return make(TOKEN_WORD, start, cursor);
}

/* Takes all characters that could have been meant as one number: 1e-4, 0x1FL, but also 1.2.3 and
 * 12kg. */
static struct token number(struct cursor *cursor)
{
    char *start = cursor->next++;
    while (*cursor->next) {
        const char c = *cursor->next, before = cursor->next[-1];
        const bool exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
        if (!isalnum((unsigned char)c) && c != '.' && c != '_' && !exponent_sign)
            break;
        cursor->next++;
    }
    return make(TOKEN_NUMBER, start, cursor);
}

struct token token_next(struct cursor *cursor)
{
    if (!skip(cursor))
        return fail(cursor->next, cursor, "a comment starts here and does not end");
    if (!*cursor->next)
        return make(TOKEN_END, cursor->next, cursor);
    if (starts(cursor, "@include"))
        return include(cursor);
    cursor->line_start = false;
    const char c = *cursor->next;
    if (c == '"')
        return string(cursor);
    if (isalpha((unsigned char)c) || c == '*')
        return word(cursor);
    if (isdigit((unsigned char)c) || strchr("+-.", c))
        return number(cursor);
    if (strchr("=:;,{}[]()", c)) {
        cursor->next++;
        return make(c, cursor->next - 1, cursor);
    }
    return fail(cursor->next, cursor, NULL);
}

bool token_skip_statement(struct cursor *cursor, size_t open)
{
    for (;;) {
        struct cursor ahead = *cursor;
        const struct token token = token_next(&ahead);
        const bool opens = token.kind == '{' || token.kind == '(' || token.kind == '[';
        const bool closes = token.kind == '}' || token.kind == ')' || token.kind == ']';
        if (token.kind == TOKEN_ERROR && ahead.next == token.start) {
            if (token.problem)
                return false;
            ahead.next++; /* a character that is no part of the language */
        }
        if (token.kind == TOKEN_END || (closes && open == 0))
            return true;
        *cursor = ahead;
        open = opens ? open + 1 : closes ? open - 1 : open;
        if (token.kind == ';' && open == 0)
            return true;
    }
}

/* --- the grammar ------------------------------------------------------------------------------ */

/* The error message for a token of a kind (enum sign) where another kind is wanted (enum want);
 * NULL: the token may stand there. */
static const char no_key[] = "a key was expected", no_value[] = "a value is missing",
                  no_equals[] = "an equals sign is missing", other[] = "a value was expected",
                  no_separator[] = "a semicolon was expected";
static const char *const problems[SIGNS][WANTS] = {
    [SIGN_SCALAR] = { [WANT_KEY] = no_key,
                      [WANT_EQUALS] = no_equals,
                      [WANT_SEPARATOR] = no_separator },
    [SIGN_OPEN] = { [WANT_KEY] = no_key,
                    [WANT_EQUALS] = no_equals,
                    [WANT_SEPARATOR] = no_separator },
    [SIGN_CLOSE] = { [WANT_EQUALS] = no_value, [WANT_VALUE] = no_value },
    [SIGN_EQUALS] = { [WANT_KEY] = "a key is missing",
                      [WANT_VALUE] = other,
                      [WANT_FIRST] = other,
                      [WANT_SEPARATOR] = other },
    [SIGN_SEPARATOR] = { [WANT_KEY] = no_key,
                         [WANT_EQUALS] = no_value,
                         [WANT_VALUE] = no_value,
                         [WANT_FIRST] = no_value },
    [SIGN_END] = { [WANT_EQUALS] = no_value, [WANT_VALUE] = no_value },
};

bool grammar_is_list(const struct grammar_scope *scope)
{
    return scope->open == '(' || scope->open == '[';
}

char grammar_closing(char open)
{
    return open == '{' ? '}' : open == '(' ? ')' : ']';
}

static bool is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_WORD && token->length == strlen(word) &&
           strncasecmp(token->start, word, token->length) == 0;
}

bool grammar_is_flag(const struct token *token)
{
    return is_word(token, "true") || is_word(token, "false");
}

enum sign grammar_sign(const struct grammar_scope *scope, const struct token *token)
{
    switch (token->kind) {
    case TOKEN_END:
        return SIGN_END;
    case TOKEN_WORD:
        if (grammar_is_list(scope) || (scope->want != WANT_KEY && scope->want != WANT_SEPARATOR))
            return SIGN_SCALAR;
        return SIGN_KEY;
    case TOKEN_NUMBER:
    case TOKEN_STRING:
        return SIGN_SCALAR;
    case '{':
    case '(':
    case '[':
        return SIGN_OPEN;
    case '}':
    case ')':
    case ']':
        return SIGN_CLOSE;
    default:
        return token->kind == '=' || token->kind == ':' ? SIGN_EQUALS : SIGN_SEPARATOR;
    }
}

/* Tells whether an equals sign (= or :) comes next, so that the word before `ahead` is a key. */
static bool before_equals(struct cursor ahead)
{
    const struct token token = token_next(&ahead);
    return token.kind == '=' || token.kind == ':';
}

const char *grammar_problem(const struct grammar_scope *scope, const struct token *token,
                            enum sign sign, struct cursor ahead)
{
    const enum want want = scope->want;
    const char *problem = problems[sign][want];
    if (sign == SIGN_CLOSE && !scope->open)
        return "nothing was opened";
    if (sign == SIGN_CLOSE && token->kind != grammar_closing(scope->open))
        return scope->open == '{'   ? "'}' was expected"
               : scope->open == '(' ? "')' was expected"
                                    : "']' was expected";
    if (scope->value && (sign == SIGN_KEY || problem == no_key))
        return "must be one value, which ends";
    if (sign == SIGN_KEY && grammar_is_flag(token))
        return no_key;
    if (token->kind == TOKEN_STRING && want == WANT_SEPARATOR && scope->string)
        return NULL; /* libconfig joins strings that follow one another */
    if (grammar_is_list(scope) && (problem == no_separator || token->kind == ';'))
        return problem && problem != no_separator ? problem : "a comma was expected";
    if (problem)
        return problem;
    if (sign == SIGN_SCALAR && token->kind == TOKEN_WORD && before_equals(ahead))
        return no_value;
    if (sign == SIGN_OPEN && scope->open == '[')
        return "an array holds only numbers and strings; use ( ... )";
    if (sign == SIGN_OPEN && scope->full)
        return "too many brackets inside each other";
    return NULL;
}
