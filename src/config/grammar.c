#include "config/grammar.h"

#include <string.h>
#include <strings.h>

/* The reasons why a sign may not come at a place. */
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

/* Tells whether the next sign is an equals sign, so that the word before it is a key. */
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
