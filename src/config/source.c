#include "config/source.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "config/file.h"
#include "config/token.h"

enum {
    MAX_DEPTH = 32,     /* braces and brackets inside each other */
    MAX_KEYS = 4096,    /* in one group */
    MAX_INCLUDES = 256, /* in all */
    MAX_SHOWN = 40      /* characters of a token in an error */
};

/* What may come next in a group or list. */
enum want {
    WANT_KEY, /* or the end of the group */
    WANT_EQUALS,
    WANT_VALUE,
    WANT_FIRST,    /* value of a list, or its end */
    WANT_SEPARATOR /* or the end; in a group, the next key will do */
};

struct scope {
    char open;          /* '{', '(', '[', or 0 outside all */
    struct place place; /* where it was opened */
    enum want want;
    bool string;      /* the last value was one; another one continues it */
    const char *key;  /* of a group: the last one */
    size_t index;     /* of a list: of the last value */
    size_t first_key; /* of a group: in scanner.keys */
};

struct key {
    const char *name;
    struct place place;
};

/* A file being read; they stand inside each other by @include. */
struct frame {
    struct frame *outer;
    const char *file;
    struct stat identity;
    struct cursor cursor;
};

struct scanner {
    const struct config_source *from;
    struct arena *arena;
    struct source *source;
    struct error *error;
    struct frame *frame;
    size_t include_count;
    bool single; /* one value, not a file */
    struct scope scopes[MAX_DEPTH + 1];
    size_t depth;
    struct key *keys;
    size_t key_count, key_capacity;
    struct text path; /* of the value at hand, for errors */
};

/* --- errors ------------------------------------------------------------------------------------
 */

static enum status out_of_memory(struct scanner *s)
{
    return error_set(s->error, STATUS_MEMORY, "%s: out of memory", s->from->path);
}

/* "outputs.1.every": where in the tree the scanner is. */
static const char *path(struct scanner *s)
{
    s->path.length = 0;
    text_append(&s->path, "", 0);
    for (size_t i = 0; i <= s->depth; i++) {
        const struct scope *scope = &s->scopes[i];
        const bool group = scope->open == '{' || !scope->open;
        if (group && !scope->key)
            break;
        if (s->path.length)
            text_append(&s->path, ".", 1);
        if (group)
            text_append(&s->path, scope->key, strlen(scope->key));
        else
            text_print(&s->path, "%zu", scope->index);
    }
    return s->path.failed ? "" : s->path.bytes;
}

static struct place place_of(const struct scanner *s, const struct token *token)
{
    return (struct place){ s->frame->file, token->line };
}

/* "'token'" in an error; the end of the file and line breaks in words. */
struct shown {
    char bytes[MAX_SHOWN + 8];
};

static struct shown show(const struct token *token)
{
    struct shown shown;
    if (token->kind == TOKEN_END)
        strcpy(shown.bytes, "the end");
    else
        snprintf(shown.bytes, sizeof shown.bytes, "'%.*s'",
                 (int)(token->length < MAX_SHOWN ? token->length : MAX_SHOWN), token->start);
    return shown;
}

static enum status unexpected(struct scanner *s, const struct token *token, const char *reason)
{
    const struct place here = place_of(s, token);
    return place_report(&here, path(s), NULL, s->error, "%s before %s", reason, show(token).bytes);
}

/* --- writing for libconfig ----------------------------------------------------------------------
 */

/* Starts a new line of the text where the place has changed. */
static enum status locate(struct scanner *s, const struct token *token)
{
    struct source *source = s->source;
    const struct place here = place_of(s, token);
    if (source->line_count) {
        const struct place *last = &source->places[source->line_count - 1];
        if (last->line == here.line && last->file == here.file)
            return STATUS_OK;
        text_append(&source->text, "\n", 1);
    }
    if (source->line_count == source->line_capacity) {
        const size_t capacity = source->line_capacity ? 2 * source->line_capacity : 64;
        struct place *places = realloc(source->places, memory_bytes(capacity, sizeof *places));
        if (!places)
            return out_of_memory(s);
        source->places = places;
        source->line_capacity = capacity;
    }
    source->places[source->line_count++] = here;
    return STATUS_OK;
}

static enum status emit(struct scanner *s, const struct token *token, const char *bytes,
                        size_t length)
{
    const enum status status = locate(s, token);
    if (status)
        return status;
    text_append(&s->source->text, bytes, length);
    text_append(&s->source->text, " ", 1);
    return s->source->text.failed ? out_of_memory(s) : STATUS_OK;
}

static enum status emit_bad(struct scanner *s, const struct token *token, enum source_bad bad)
{
    const struct shown shown = show(token);
    char bytes[sizeof shown.bytes + 8];
    /* The token in its own quotation marks; it holds none itself. */
    const int length = snprintf(bytes, sizeof bytes, "\"%c%c%.*s\"", SOURCE_BAD, bad,
                                (int)strlen(shown.bytes) - 2, shown.bytes + 1);
    return emit(s, token, bytes, (size_t)length);
}

static enum status emit_integer(struct scanner *s, const struct token *token, int64_t value)
{
    char bytes[32];
    const char *suffix = value < INT32_MIN || value > INT32_MAX ? "L" : "";
    const int length = snprintf(bytes, sizeof bytes, "%lld%s", (long long)value, suffix);
    return emit(s, token, bytes, (size_t)length);
}

/* The digits of an integer, 64 bits and signed; anything else is refused. */
static enum status emit_number(struct scanner *s, const struct token *token)
{
    char *bytes = arena_copy(s->arena, token->start, token->length);
    if (!bytes)
        return out_of_memory(s);
    char *end;
    errno = 0;
    if (strncasecmp(bytes, "0x", 2) == 0) {
        const unsigned long long value = strtoull(bytes, &end, 16);
        if (end - bytes < 3 || strspn(end, "L") > 2 || end[strspn(end, "L")])
            return emit_bad(s, token, SOURCE_BAD_NUMBER);
        if (errno == ERANGE || value > INT64_MAX)
            return emit_bad(s, token, SOURCE_BAD_RANGE);
        return emit_integer(s, token, (int64_t)value);
    }
    const long long integer = strtoll(bytes, &end, 10);
    if (end > bytes && strspn(end, "L") <= 2 && !end[strspn(end, "L")])
        return errno == ERANGE ? emit_bad(s, token, SOURCE_BAD_RANGE)
                               : emit_integer(s, token, integer);
    const double real = strtod(bytes, &end);
    if (end == bytes || *end || !strpbrk(bytes, "0123456789") || strpbrk(bytes, "xXnN"))
        return emit_bad(s, token, SOURCE_BAD_NUMBER);
    if (!isfinite(real))
        return emit_bad(s, token, SOURCE_BAD_RANGE);
    return emit(s, token, bytes, token->length);
}

/* --- the grammar --------------------------------------------------------------------------------
 */

static bool is_word(const struct token *token, const char *word)
{
    return token->length == strlen(word) && strncasecmp(token->start, word, token->length) == 0;
}

static enum status accept_key(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    if (s->single && s->depth == 0)
        return unexpected(s, token, "must be one value, which ends");
    if (token->kind != TOKEN_WORD || is_word(token, "true") || is_word(token, "false"))
        return unexpected(s, token, "a key was expected");
    const char *name = arena_copy(s->arena, token->start, token->length);
    if (!name)
        return out_of_memory(s);
    scope->key = name;
    const struct place here = place_of(s, token);
    for (size_t i = scope->first_key; i < s->key_count; i++)
        if (strcmp(s->keys[i].name, name) == 0)
            return place_report(&here, path(s), NULL, s->error, "given twice; first at %s:%zu",
                                s->keys[i].place.file, s->keys[i].place.line);
    if (s->key_count - scope->first_key == MAX_KEYS)
        return place_report(&here, path(s), NULL, s->error, "more than %d keys in one group",
                            (int)MAX_KEYS);
    if (s->key_count == s->key_capacity) {
        const size_t capacity = s->key_capacity ? 2 * s->key_capacity : 64;
        struct key *keys = realloc(s->keys, memory_bytes(capacity, sizeof *keys));
        if (!keys)
            return out_of_memory(s);
        s->keys = keys;
        s->key_capacity = capacity;
    }
    s->keys[s->key_count++] = (struct key){ name, here };
    scope->want = WANT_EQUALS;
    return emit(s, token, token->start, token->length);
}

/* Is the next sign after this word an equals sign, so that the word is a key? */
static bool before_equals(const struct scanner *s)
{
    struct cursor ahead = s->frame->cursor;
    const struct token token = token_next(&ahead);
    return token.kind == '=' || token.kind == ':';
}

static enum status accept_value(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    const bool continued = scope->want == WANT_SEPARATOR && scope->string;
    if (scope->want == WANT_EQUALS)
        return unexpected(s, token, "an equals sign is missing");
    if (scope->want == WANT_SEPARATOR && !(continued && token->kind == TOKEN_STRING))
        return unexpected(s, token,
                          scope->open == '(' || scope->open == '[' ? "a comma was expected"
                                                                   : "a semicolon was expected");
    if (token->kind == TOKEN_WORD && before_equals(s))
        return unexpected(s, token, "a value is missing");
    scope->want = WANT_SEPARATOR;
    scope->string = token->kind == TOKEN_STRING;
    s->source->value_count += !continued;
    if (token->kind == TOKEN_NUMBER)
        return emit_number(s, token);
    if (token->kind == TOKEN_STRING || is_word(token, "true") || is_word(token, "false"))
        return emit(s, token, token->start, token->length);
    return emit_bad(s, token, SOURCE_BAD_WORD);
}

static enum status accept_open(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    if (scope->want == WANT_EQUALS)
        return unexpected(s, token, "an equals sign is missing");
    if (scope->want == WANT_SEPARATOR)
        return unexpected(s, token,
                          scope->open == '(' || scope->open == '[' ? "a comma was expected"
                                                                   : "a semicolon was expected");
    if (scope->open == '[')
        return unexpected(s, token, "an array holds only numbers and strings; use ( ... )");
    if (s->depth == MAX_DEPTH)
        return unexpected(s, token, "too many brackets inside each other");
    scope->want = WANT_SEPARATOR;
    scope->string = false;
    s->source->value_count++;
    s->scopes[++s->depth] = (struct scope){ .open = (char)token->kind,
                                            .place = place_of(s, token),
                                            .want = token->kind == '{' ? WANT_KEY : WANT_FIRST,
                                            .first_key = s->key_count };
    return emit(s, token, token->kind == '{' ? "{" : "(", 1);
}

static char closing(char open)
{
    return open == '{' ? '}' : open == '(' ? ')' : ']';
}

static enum status accept_close(struct scanner *s, const struct token *token)
{
    const struct scope *scope = &s->scopes[s->depth];
    if (!scope->open)
        return unexpected(s, token, "nothing was opened");
    if (closing(scope->open) != token->kind)
        return unexpected(s, token,
                          scope->open == '{'   ? "'}' was expected"
                          : scope->open == '(' ? "')' was expected"
                                               : "']' was expected");
    if (scope->want == WANT_EQUALS || scope->want == WANT_VALUE)
        return unexpected(s, token, "a value is missing");
    s->key_count = scope->first_key;
    s->depth--;
    return emit(s, token, token->kind == '}' ? "}" : ")", 1);
}

static enum status accept_sign(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    const bool list = scope->open == '(' || scope->open == '[';
    if (token->kind == '=' || token->kind == ':') {
        if (scope->want != WANT_EQUALS)
            return unexpected(
                s, token, scope->want == WANT_KEY ? "a key is missing" : "a value was expected");
        scope->want = WANT_VALUE;
    } else {
        if (scope->want == WANT_VALUE || scope->want == WANT_FIRST || scope->want == WANT_EQUALS)
            return unexpected(s, token, "a value is missing");
        if (scope->want == WANT_KEY)
            return unexpected(s, token, "a key was expected");
        if (list && token->kind == ';')
            return unexpected(s, token, "a comma was expected");
        scope->want = list ? WANT_VALUE : WANT_KEY;
        scope->index += list;
        scope->key = NULL;
    }
    const char sign = (char)token->kind;
    return emit(s, token, &sign, 1);
}

static enum status accept_end(struct scanner *s, const struct token *token)
{
    const struct scope *scope = &s->scopes[s->depth];
    if (scope->want == WANT_EQUALS || scope->want == WANT_VALUE)
        return unexpected(s, token, "a value is missing");
    if (!scope->open)
        return STATUS_OK;
    const struct place opened = scope->place;
    const char open = scope->open;
    s->depth--;
    return place_report(&opened, path(s), NULL, s->error, "the '%c' here is never closed by a '%c'",
                        open, closing(open));
}

/* --- files --------------------------------------------------------------------------------------
 */

static enum status scan(struct scanner *s, struct frame *frame);

static enum status scan_file(struct scanner *s, const char *file, struct frame *frame)
{
    struct text text = { 0 };
    enum status status = file_read(file, &text, &frame->identity, s->error);
    frame->file = source_name(file);
    for (const struct frame *f = s->frame; f && !status; f = f->outer)
        if (f->identity.st_dev == frame->identity.st_dev &&
            f->identity.st_ino == frame->identity.st_ino)
            status = place_report(&(struct place){ s->frame->file, s->frame->cursor.line }, NULL,
                                  NULL, s->error, "@include \"%s\": includes itself", file);
    if (!status && text.length) {
        const bool bom = text.length >= 3 && memcmp(text.bytes, "\xef\xbb\xbf", 3) == 0;
        frame->cursor =
            (struct cursor){ text.bytes + (bom ? 3 : 0), text.bytes + text.length, 1, true };
        size_t line = 1;
        const char *binary = token_find_binary(frame->cursor.next, frame->cursor.end, &line);
        if (binary)
            status = place_report(&(struct place){ frame->file, line }, NULL, NULL, s->error,
                                  "byte 0x%02x is not text", (unsigned char)*binary);
        else
            status = scan(s, frame);
    }
    text_free(&text);
    return status;
}

/* Beside the including file, then in the directories given; false where there is none. */
static bool find_include(const struct scanner *s, const char *name, struct text *found)
{
    file_beside(s->frame->file, name, found);
    for (size_t i = 0; !found->failed && !file_readable(found->bytes); i++) {
        if (name[0] == '/' || i == s->from->include_directory_count)
            return false;
        found->length = 0;
        text_print(found, "%s/%s", s->from->include_directories[i], name);
    }
    return !found->failed;
}

static enum status accept_include(struct scanner *s, const struct token *token)
{
    const struct place here = place_of(s, token);
    const char *name = arena_copy(s->arena, token->start, token->length);
    if (!name)
        return out_of_memory(s);
    if (s->single)
        return place_report(&here, NULL, NULL, s->error, "@include works in files only");
    if (s->include_count++ == MAX_INCLUDES)
        return place_report(&here, NULL, NULL, s->error, "more than %d includes",
                            (int)MAX_INCLUDES);
    struct text found = { 0 };
    struct frame frame = { 0 };
    enum status status;
    const bool there = find_include(s, name, &found);
    if (there && !file_regular(found.bytes)) {
        status = place_report(&here, NULL, NULL, s->error, "@include \"%s\": is not a regular file",
                              name);
    } else if (there) {
        const char *file = arena_copy(s->arena, found.bytes, found.length);
        status = file ? scan_file(s, file, &frame) : out_of_memory(s);
    } else {
        status = place_report(&here, NULL, NULL, s->error,
                              "@include \"%s\": no such file beside this one%s", name,
                              s->from->include_directory_count ? " or among the presets" : "");
    }
    text_free(&found);
    return status;
}

static enum status accept_error(struct scanner *s, const struct token *token)
{
    const struct place here = place_of(s, token);
    const unsigned char c = (unsigned char)*token->start;
    if (token->problem)
        return place_report(&here, path(s), NULL, s->error, "%s", token->problem);
    if (c < 0x80)
        return place_report(&here, path(s), NULL, s->error,
                            "unexpected '%c'; a string needs quotation marks", c);
    return place_report(&here, path(s), NULL, s->error,
                        "unexpected byte 0x%02x; a string needs quotation marks", c);
}

static enum status accept_token(struct scanner *s, const struct token *token)
{
    const enum want want = s->scopes[s->depth].want;
    const bool group = !s->scopes[s->depth].open || s->scopes[s->depth].open == '{';
    switch (token->kind) {
    case TOKEN_ERROR:
        return accept_error(s, token);
    case TOKEN_INCLUDE:
        return accept_include(s, token);
    case TOKEN_WORD:
        return want == WANT_KEY || (want == WANT_SEPARATOR && group) ? accept_key(s, token)
                                                                     : accept_value(s, token);
    case TOKEN_NUMBER:
    case TOKEN_STRING:
        return want == WANT_KEY ? accept_key(s, token) : accept_value(s, token);
    case '{':
    case '(':
    case '[':
        return want == WANT_KEY ? accept_key(s, token) : accept_open(s, token);
    case '}':
    case ')':
    case ']':
        return accept_close(s, token);
    default:
        return accept_sign(s, token);
    }
}

/* The tokens of one file, those of its includes in their places. */
static enum status scan(struct scanner *s, struct frame *frame)
{
    frame->outer = s->frame;
    s->frame = frame;
    enum status status = STATUS_OK;
    while (!status) {
        const struct token token = token_next(&frame->cursor);
        if (token.kind == TOKEN_END) {
            if (!frame->outer) /* an include may end inside a group of its includer */
                status = accept_end(s, &token);
            break;
        }
        status = accept_token(s, &token);
    }
    s->frame = frame->outer;
    return status;
}

static void scanner_free(struct scanner *s)
{
    free(s->keys);
    text_free(&s->path);
}

enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error)
{
    struct scanner s = { .from = from, .arena = arena, .source = source, .error = error };
    struct frame frame = { 0 };
    const char *file = arena_copy(arena, from->path, strlen(from->path));
    const enum status status = file ? scan_file(&s, file, &frame) : out_of_memory(&s);
    scanner_free(&s);
    return status;
}

enum status source_value(const struct place *at, const char *path_, const char *bytes,
                         struct arena *arena, struct source *source, struct error *error)
{
    const struct config_source from = { .path = at->file };
    struct scanner s = {
        .from = &from, .arena = arena, .source = source, .error = error, .single = true
    };
    s.scopes[0] = (struct scope){ .want = WANT_VALUE, .key = path_ };
    struct frame frame = { .file = at->file,
                           .cursor = { bytes, bytes + strlen(bytes), at->line, true } };
    const struct token start = { .line = at->line, .start = bytes };
    s.frame = &frame;
    enum status status = emit(&s, &start, "value =", strlen("value ="));
    s.frame = NULL;
    size_t line = 0;
    const char *binary = token_find_binary(frame.cursor.next, frame.cursor.end, &line);
    if (!status && binary)
        status =
            place_report(at, path_, NULL, error, "byte 0x%02x is not text", (unsigned char)*binary);
    if (!status)
        status = scan(&s, &frame);
    scanner_free(&s);
    return status;
}

const struct place *source_place(const struct source *source, size_t line)
{
    static const struct place nowhere = { "", 0 };
    if (line == 0 || !source->line_count)
        return &nowhere;
    return &source->places[(line <= source->line_count ? line : source->line_count) - 1];
}

const char *source_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

void source_free(struct source *source)
{
    text_free(&source->text);
    free(source->places);
    *source = (struct source){ 0 };
}
