#include "config/section.h"

#include <string.h>
#include <strings.h>

#include "config/grammar.h"
#include "config/parameter-reference.h"

enum {
    MAX_DEPTH = 32,     /* the most braces and brackets inside each other */
    MAX_KEYS = 4096,    /* the most keys in one group */
    MAX_INCLUDES = 256, /* the most @include in all files together */
    MAX_SHOWN = 40      /* bytes of a token that an error shows */
};

/* A group or list that is being read, or the file as a whole. */
struct scope {
    struct grammar_scope at;      /* bracket that began it, and the token that is wanted next */
    struct location opened;       /* location of its opening bracket */
    const char *key;              /* in a group: the key that was read last */
    struct location key_location; /* location of that key; in a list, of the list */
    size_t count;      /* number of keys of a group, or of values of a list, read before */
    struct node *last; /* the node that was added last to the group or list */
    struct statement { /* in a group: the statement that is being read */
        const struct frame *frame; /* the file in which it began */
        char *start;               /* beginning of its key in the text; NULL between statements */
        struct node *before;       /* the last node of the whole text before the statement */
        struct node *last;         /* the last node of the group before the statement */
    } statement;
};

/* A file that is being read. In an included file, `outer` is the frame of the file that includes
 * it. */
struct frame {
    struct frame *outer;
    const char *file;
    struct stat identity;
    struct cursor cursor;
    const char *taken; /* the text before this has been handed on to libconfig */
};

/* The state of the pass over the text of a configuration. */
struct scanner {
    const struct config_source *from; /* NULL: the text is one value, not a file */
    struct arena *arena;
    struct source *source;
    struct error *error;
    struct frame *frame;
    size_t include_count;
    struct scope scopes[MAX_DEPTH + 1];
    size_t depth;     /* the innermost open scope is scopes[depth] */
    struct text path; /* room for the text that path() returns */
};

/* --- errors ----------------------------------------------------------------------------------- */

/* Returns the path of the key or value that is being read, "outputs.1.every"; "" if memory is
 * exhausted. */
static const char *path(struct scanner *s)
{
    s->path.length = 0;
    text_append(&s->path, "", 0);
    for (size_t i = 0; i <= s->depth; i++) {
        const struct scope *scope = &s->scopes[i];
        if (!grammar_is_list(&scope->at) && !scope->key)
            break;
        if (s->path.length)
            text_append(&s->path, ".", 1);
        if (grammar_is_list(&scope->at))
            text_print(&s->path, "%zu", scope->count);
        else
            text_append(&s->path, scope->key, strlen(scope->key));
    }
    return s->path.failed ? "" : s->path.bytes;
}

static struct location location_of(const struct scanner *s, const struct token *token)
{
    return (struct location){ s->frame->file, token->line };
}

static int shown_length(const struct token *token)
{
    return (int)(token->length < MAX_SHOWN ? token->length : MAX_SHOWN);
}

static enum status unexpected(struct scanner *s, const struct token *token, const char *reason)
{
    const struct location here = location_of(s, token);
    if (token->kind == TOKEN_END)
        return location_report(&here, path(s), NULL, s->error, "%s before the end", reason);
    return location_report(&here, path(s), NULL, s->error, "%s before '%.*s'", reason,
                           shown_length(token), token->start);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Adds a node at the end of the source and of the present group or list; NULL if memory is
 * exhausted. The scalars of a list have the location of the list. */
static struct node *add_node(struct scanner *s, const struct token *token, enum node_kind kind)
{
    struct scope *scope = &s->scopes[s->depth];
    struct node *node = arena_take(s->arena, 1, sizeof *node);
    if (!node)
        return NULL;
    const bool own = grammar_is_list(&scope->at) && (kind == NODE_LIST || kind == NODE_GROUP);
    *node = (struct node){ .kind = kind,
                           .name = scope->key,
                           .location = own ? location_of(s, token) : scope->key_location,
                           .before = scope->last };
    scope->last = node;
    if (s->source->last)
        s->source->last->next = node;
    else
        s->source->first = node;
    return s->source->last = node;
}

/* Adds a node for a value that libconfig shall not read, a number or an invalid value, and puts a 0
 * in its place in the text. */
static enum status note_literal(struct scanner *s, const struct token *token)
{
    struct node *node = add_node(s, token, NODE_BAD);
    char *bytes = arena_copy(s->arena, token->start, token->length);
    if (!node || !bytes)
        return arena_exhausted(s->error);
    node->bad = BAD_WORD;
    if (token->kind == TOKEN_NUMBER)
        node_read_number(node, bytes);
    bytes[shown_length(token)] = '\0';
    node->string = bytes;
    memset(token->start, ' ', token->length);
    *token->start = '0';
    return STATUS_OK;
}

/* --- the grammar ------------------------------------------------------------------------------ */

static const struct node *find_key(const struct node *last, const char *key)
{
    while (last && strcmp(last->name, key) != 0)
        last = last->before;
    return last;
}

static enum status accept_key(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    scope->statement = (struct statement){ s->frame, token->start, s->source->last, scope->last };
    scope->key = arena_copy(s->arena, token->start, token->length);
    scope->key_location = location_of(s, token);
    if (!scope->key)
        return arena_exhausted(s->error);
    const struct node *first = find_key(scope->last, scope->key);
    if (first)
        return location_report(&scope->key_location, path(s), NULL, s->error,
                               "given twice; first at %s:%zu", first->location.file,
                               first->location.line);
    if (scope->count++ == MAX_KEYS)
        return location_report(&scope->key_location, path(s), NULL, s->error,
                               "more than %d keys in one group", (int)MAX_KEYS);
    scope->at.want = WANT_EQUALS;
    return STATUS_OK;
}

static enum status accept_scalar(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    const bool continued = scope->at.want == WANT_SEPARATOR;
    const bool flag = grammar_is_flag(token);
    scope->at.want = WANT_SEPARATOR;
    scope->at.string = token->kind == TOKEN_STRING;
    if (continued)
        return STATUS_OK;
    if (!flag && !scope->at.string)
        return note_literal(s, token);
    return add_node(s, token, flag ? NODE_FLAG : NODE_STRING) ? STATUS_OK
                                                              : arena_exhausted(s->error);
}

static enum status accept_open(struct scanner *s, const struct token *token)
{
    struct scope *scope = &s->scopes[s->depth];
    const bool group = token->kind == '{';
    const struct node *node = add_node(s, token, group ? NODE_GROUP : NODE_LIST);
    if (!node)
        return arena_exhausted(s->error);
    scope->at.want = WANT_SEPARATOR;
    scope->at.string = false;
    s->depth++;
    s->scopes[s->depth] = (struct scope){ .at = { .open = (char)token->kind,
                                                  .want = group ? WANT_KEY : WANT_FIRST,
                                                  .full = s->depth == MAX_DEPTH },
                                          .opened = location_of(s, token),
                                          .key_location = node->location };
    *token->start = group ? '{' : '(';
    return STATUS_OK;
}

static enum status accept_end(struct scanner *s)
{
    const struct scope *scope = &s->scopes[s->depth];
    if (!scope->at.open)
        return STATUS_OK;
    s->depth--;
    return location_report(&scope->opened, path(s), NULL, s->error,
                           "the '%c' here is never closed by a '%c'", scope->at.open,
                           grammar_closing(scope->at.open));
}

static enum status accept_sign(struct scanner *s, const struct token *token, enum sign sign)
{
    struct scope *scope = &s->scopes[s->depth];
    switch (sign) {
    case SIGN_KEY:
        return accept_key(s, token);
    case SIGN_SCALAR:
        return accept_scalar(s, token);
    case SIGN_OPEN:
        return accept_open(s, token);
    case SIGN_CLOSE:
        s->depth--;
        *token->start = token->kind == '}' ? '}' : ')';
        return STATUS_OK;
    case SIGN_EQUALS:
        scope->at.want = WANT_VALUE;
        return STATUS_OK;
    case SIGN_SEPARATOR:
        scope->at.want = grammar_is_list(&scope->at) ? WANT_VALUE : WANT_KEY;
        scope->count += grammar_is_list(&scope->at);
        scope->key = NULL;
        scope->statement.start = NULL;
        return STATUS_OK;
    default:
        return accept_end(s);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static enum status scan(struct scanner *s, struct frame *frame);

static enum status scan_text(struct scanner *s, struct frame *frame, char *bytes, const char *end,
                             size_t line)
{
    frame->cursor = (struct cursor){ bytes, line, true };
    frame->taken = bytes;
    const char *binary = token_find_binary(bytes, end, &line);
    if (!binary)
        return scan(s, frame);
    return location_report(&(struct location){ frame->file, line },
                           s->from ? NULL : s->scopes[0].key, NULL, s->error,
                           "byte 0x%02x is not text", (unsigned char)*binary);
}

static enum status scan_file(struct scanner *s, const char *file, struct frame *frame)
{
    struct text text = { 0 };
    enum status status = file_read(file, &text, &frame->identity, s->error);
    frame->file = file_shown(file);
    for (const struct frame *f = s->frame; f && !status; f = f->outer)
        if (f->identity.st_dev == frame->identity.st_dev &&
            f->identity.st_ino == frame->identity.st_ino)
            status =
                location_report(&(struct location){ s->frame->file, s->frame->cursor.line }, NULL,
                                NULL, s->error, "@include \"%s\": includes itself", file);
    if (!status && text.length) {
        const size_t mark = strncmp(text.bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        status = scan_text(s, frame, text.bytes + mark, text.bytes + text.length, 1);
    }
    text_free(&text);
    return status;
}

/* Finds the file that @include names: in the directory of the including file, then in the
 * directories for includes. Returns false if there is none, or no memory. */
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

/* Appends the text from frame->taken up to `end` to the text for libconfig; then all text up to the
 * cursor counts as taken. */
static enum status take(struct scanner *s, const char *end)
{
    struct text *text = &s->source->text;
    text_append(text, s->frame->taken, (size_t)(end - s->frame->taken));
    text_append(text, "\n", 1);
    s->frame->taken = s->frame->cursor.next;
    return text->failed ? arena_exhausted(s->error) : STATUS_OK;
}

static enum status include(struct scanner *s, const struct location *here, const char *name)
{
    struct text found = { 0 };
    struct frame frame = { 0 };
    enum status status;
    if (!find_include(s, name, &found)) {
        status = location_report(here, NULL, NULL, s->error,
                                 "@include \"%s\": no such file beside this one%s", name,
                                 s->from->include_directory_count ? " or among the presets" : "");
    } else if (!file_regular(found.bytes)) {
        status = location_report(here, NULL, NULL, s->error,
                                 "@include \"%s\": is not a regular file", name);
    } else {
        const char *file = arena_copy(s->arena, found.bytes, found.length);
        status = file ? scan_file(s, file, &frame) : arena_exhausted(s->error);
    }
    text_free(&found);
    return status;
}

static enum status accept_include(struct scanner *s, const struct token *token)
{
    const struct location here = location_of(s, token);
    const char *quote = strchr(token->start, '"');
    const char *name =
        arena_copy(s->arena, quote + 1, (size_t)(token->start + token->length - quote - 2));
    if (!name)
        return arena_exhausted(s->error);
    if (!s->from)
        return location_report(&here, NULL, NULL, s->error, "@include works in files only");
    if (s->include_count++ == MAX_INCLUDES)
        return location_report(&here, NULL, NULL, s->error, "more than %d includes",
                               (int)MAX_INCLUDES);
    const enum status status = take(s, token->start);
    return status ? status : include(s, &here, name);
}

static enum status accept_error(struct scanner *s, const struct token *token)
{
    const struct location here = location_of(s, token);
    const unsigned char c = (unsigned char)*token->start;
    if (token->problem)
        return location_report(&here, path(s), NULL, s->error, "%s", token->problem);
    if (c < 0x80)
        return location_report(&here, path(s), NULL, s->error,
                               "unexpected '%c'; a string needs quotation marks", c);
    return location_report(&here, path(s), NULL, s->error,
                           "unexpected byte 0x%02x; a string needs quotation marks", c);
}

/* Tells whether a slip (slip_length()) starts at the token: several words and signs that are meant
 * as one value, such as 2*3.14. They become one token, *whole, so that a later check can say what
 * is wrong with the value. */
static bool is_slip(const struct scanner *s, const struct token *token, struct token *whole)
{
    const struct grammar_scope *const at = &s->scopes[s->depth].at;
    if (at->want != WANT_VALUE || grammar_is_list(at) || token->kind == TOKEN_END ||
        token->kind == TOKEN_STRING || token->kind == TOKEN_INCLUDE)
        return false;
    *whole = *token;
    whole->kind = TOKEN_WORD;
    whole->length = slip_length(token->start);
    return whole->length > 0 && (token->kind == TOKEN_ERROR || whole->length > token->length);
}

static enum status accept_token(struct scanner *s, const struct token *token)
{
    struct token whole;
    if (is_slip(s, token, &whole)) {
        s->frame->cursor.next = whole.start + whole.length;
        return accept_scalar(s, &whole);
    }
    if (token->kind == TOKEN_ERROR)
        return accept_error(s, token);
    if (token->kind == TOKEN_INCLUDE)
        return accept_include(s, token);
    if (token->kind == TOKEN_END && s->frame->outer)
        return STATUS_OK; /* the group may end in the including file */
    const struct grammar_scope *const at = &s->scopes[s->depth].at;
    const enum sign sign = grammar_sign(at, token);
    const char *problem = grammar_problem(at, token, sign, s->frame->cursor);
    return problem ? unexpected(s, token, problem) : accept_sign(s, token, sign);
}

/* --- going on behind an error ----------------------------------------------------------------- */

/* Blanks out the statement that has an error, so that the scanner goes on behind it. The key stays,
 * with "=0;", and counts as given, with a value whose errors have all been reported. Returns
 * STATUS_OK if the rest of the file, which may have errors of its own, can be read. */
static enum status go_on(struct scanner *s, struct frame *frame, const struct token *token)
{
    static const char nothing[] = "=0;";
    size_t depth = s->depth, open = 0;
    for (; depth > 0 && grammar_is_list(&s->scopes[depth].at); depth--)
        open++;
    if (token->kind == '{' || token->kind == '(' || token->kind == '[')
        open++;
    struct scope *scope = &s->scopes[depth];
    const struct statement begun = scope->statement;
    if (s->error->status != STATUS_CONFIG || !s->from || !begun.start || begun.frame != frame ||
        begun.start < frame->taken || !token_skip_statement(&frame->cursor, open))
        return s->error->status;
    const bool twice = find_key(begun.last, scope->key) != NULL;
    char *key_end = begun.start + strlen(scope->key);
    const bool stays = !twice && (size_t)(frame->cursor.next - key_end) >= sizeof nothing - 1;
    for (char *p = stays ? key_end : begun.start; p < frame->cursor.next; p++)
        if (*p != '\n' && *p != '\r')
            *p = ' ';
    s->depth = depth;
    s->source->last = begun.before;
    begun.before->next = NULL;
    scope->last = begun.last;
    scope->at.want = WANT_KEY;
    scope->at.string = false;
    scope->statement.start = NULL;
    if (stays) {
        struct node *node = add_node(s, NULL, NODE_BAD);
        if (!node)
            return arena_exhausted(s->error);
        node->bad = BAD_TOLD;
        node->string = "";
        memcpy(key_end, nothing, sizeof nothing - 1);
    }
    scope->key = NULL;
    return STATUS_OK;
}

static enum status scan(struct scanner *s, struct frame *frame)
{
    frame->outer = s->frame;
    s->frame = frame;
    enum status status;
    struct token token;
    do {
        token = token_next(&frame->cursor);
        status = accept_token(s, &token);
        if (status && token.kind != TOKEN_END && token.kind != TOKEN_INCLUDE)
            status = go_on(s, frame, &token);
    } while (!status && token.kind != TOKEN_END);
    if (!status)
        status = take(s, frame->cursor.next);
    s->frame = frame->outer;
    return status;
}

enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error)
{
    struct scanner s = { .from = from, .arena = arena, .source = source, .error = error };
    struct frame frame = { 0 };
    const char *file = arena_copy(arena, from->path, strlen(from->path));
    s.scopes[0].key_location = (struct location){ file_shown(from->path), 1 };
    text_print(&source->text, "all = ( {\n");
    if (!file || !add_node(&s, NULL, NODE_GROUP))
        return arena_exhausted(error);
    s.scopes[0].last = NULL;
    const enum status status = scan_file(&s, file, &frame);
    text_print(&source->text, "}");
    text_free(&s.path);
    return status;
}

enum status source_begin(const char *path_, struct arena *arena, struct source *source,
                         struct error *error)
{
    struct scanner s = { .arena = arena, .source = source, .error = error };
    s.scopes[0].key_location = (struct location){ file_shown(path_), 1 };
    text_print(&source->text, "all = ( {\n}");
    return add_node(&s, NULL, NODE_GROUP) ? STATUS_OK : arena_exhausted(error);
}

struct node *source_value(const struct location *location, const char *path_, const char *bytes,
                          struct arena *arena, struct source *source, struct error *error)
{
    struct scanner s = { .arena = arena, .source = source, .error = error };
    struct frame frame = { .file = location->file };
    const struct source before = *source;
    const size_t length = strlen(bytes);
    char *copy = arena_copy(arena, bytes, length);
    s.scopes[0] = (struct scope){ .at = { .want = WANT_VALUE, .value = true },
                                  .key = path_,
                                  .key_location = *location };
    text_print(&source->text, ", { value =\n");
    const enum status status =
        copy ? scan_text(&s, &frame, copy, copy + length, location->line) : arena_exhausted(error);
    text_print(&source->text, "}");
    text_free(&s.path);
    if (!status)
        return before.last->next;
    source->text.length = before.text.length;
    source->last = before.last;
    source->last->next = NULL;
    return NULL;
}
