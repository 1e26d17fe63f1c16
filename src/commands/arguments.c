#include "commands/arguments.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/parameter-reference.h"
#include "output/lock.h"
#include "run/schema.h"

/* Returns the length of the command at the beginning of its usage: of "orrery run" in "orrery run
 * FILE.cfg [options]". */
static int command_length(const struct arguments *arguments)
{
    const char *blank = strchr(arguments->usage, ' ');
    return (int)(blank - arguments->usage + 1 + (ptrdiff_t)strcspn(blank + 1, " "));
}

static enum status usage_error(const struct arguments *arguments, struct error *error,
                               const char *what, const char *word)
{
    const int length = command_length(arguments);
    return error_set(error, STATUS_USAGE, "%.*s: %s%s%s (%.*s --help says more)", length,
                     arguments->usage, what, *word ? " " : "", word, length, arguments->usage);
}

/* Appends the form of an argument in the help: "-o, --output DIR". */
static void print_form(const struct argument *a, struct text *text)
{
    if (a->letter)
        text_print(text, "-%c", a->letter);
    else
        text_print(text, "    ");
    if (a->name)
        text_print(text, "%s--%s", a->letter ? ", " : "", a->name);
    if (a->value)
        text_print(text, a->type == ARGUMENT_WORD ? "[=%s]" : " %s", a->value);
}

static void print_help(const struct arguments *arguments)
{
    enum { HELP_COLUMN = 29 };
    struct text text = { 0 };
    text_print(&text, "usage: %s\n\n", arguments->usage);
    text_wrap(&text, "", REFERENCE_WIDTH, arguments->summary);
    text_print(&text, "\n\noptions:\n");
    for (size_t i = 0; i < arguments->count; i++) {
        struct text form = { 0 };
        print_form(&arguments->table[i], &form);
        reference_item("  ", form.bytes ? form.bytes : "", HELP_COLUMN, arguments->table[i].help,
                       &text);
        text_free(&form);
    }
    reference_item("  ", "-h, --help", HELP_COLUMN, "this text", &text);
    fputs(text.bytes ? text.bytes : "out of memory\n", stdout);
    text_free(&text);
}

/*
 * Prints what scripts for the completion of shells read: the name of the first plain argument of
 * the usage, "FILE.cfg", then a line for each option with its letter, its name, the name of its
 * value and its help, separated by tabs.
 */
static void print_completions(const struct arguments *arguments)
{
    const char *word = arguments->usage;
    for (int skipped = 0; skipped < 2; skipped++) { /* skips "orrery run " */
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    word += strspn(word, "[");
    size_t length = *word == '-' ? 0 : strcspn(word, " ]");
    while (length > 0 && word[length - 1] == '.')
        length--;
    printf("%.*s\n", (int)length, word);
    for (size_t i = 0; i < arguments->count; i++) {
        const struct argument *a = &arguments->table[i];
        if (a->letter)
            printf("-%c", a->letter);
        printf("\t%s%s\t%s\t%s\n", a->name ? "--" : "", a->name ? a->name : "",
               a->value && a->type != ARGUMENT_WORD ? a->value : "", a->help);
    }
    printf("-h\t--help\t\tthis text\n");
}

static const struct argument *find_argument(const struct arguments *arguments, const char *word,
                                            size_t length, bool is_long)
{
    for (size_t i = 0; i < arguments->count; i++) {
        const struct argument *a = &arguments->table[i];
        if (is_long ? a->name && strlen(a->name) == length && !strncmp(a->name, word, length)
                    : a->letter == word[0])
            return a;
    }
    return NULL;
}

static enum status store(const struct arguments *arguments, const struct argument *argument,
                         const char *value, struct error *error)
{
    int64_t integer;
    double real;
    struct argument_list *list = argument->target;
    switch (argument->type) {
    case ARGUMENT_FLAG:
        *(bool *)argument->target = true;
        return STATUS_OK;
    case ARGUMENT_TEXT:
    case ARGUMENT_WORD:
        *(const char **)argument->target = value;
        return STATUS_OK;
    case ARGUMENT_INTEGER:
        if (!text_parse_integer(value, &integer))
            return usage_error(arguments, error, "not a whole number:", value);
        *(long long *)argument->target = integer;
        return STATUS_OK;
    case ARGUMENT_REAL:
        if (!text_parse_real(value, &real))
            return usage_error(arguments, error, "not a number:", value);
        *(double *)argument->target = real;
        return STATUS_OK;
    case ARGUMENT_LIST:
        if (list->count == ARGUMENT_LIST_SIZE)
            return usage_error(arguments, error, "an option stands here more than 1024 times", "");
        list->items[list->count++] = value;
        return STATUS_OK;
    case ARGUMENT_NO_LOCK:
        lock_do_without();
        return STATUS_OK;
    }
    return STATUS_OK;
}

static bool sets_keys(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (arguments->table[i].type == ARGUMENT_LIST)
            return true;
    return false;
}

/* Tells whether `word`, which is no argument of the command, probably means a key of the config, as
 * in "--integrator euler" or "time.step=0.1" (`next` is the word behind it). If so, appends to
 * `text` how the key is set: "-P time.step=0.1". */
static bool suggest_override(const struct arguments *arguments, const char *word, const char *next,
                             struct text *text)
{
    char name[64];
    struct schema_room room;
    struct text path = { 0 };
    const size_t length = strcspn(word, "=");
    if (!sets_keys(arguments) || length == 0 || length >= sizeof name)
        return false;
    const char *const value = word[length] ? word + length + 1 : next ? next : "VALUE";
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const struct schema *schema = schema_experiment(&room);
    if (strchr(name, '.'))
        text_print(&path, "%s", name);
    else if (!suggest_key(schema, &schema->groups[0], NULL, name, &path) ||
             !strchr(path.bytes ? path.bytes : "", '.'))
        text_free(&path);
    if (path.bytes)
        text_print(text, "a key of the config is set by -P %s=%s", path.bytes, value);
    text_free(&path);
    return text->length > 0;
}

static enum status refuse_word(const struct arguments *arguments, const char *what,
                               const char *word, struct text *how, struct error *error)
{
    error_set(error, STATUS_USAGE, "%.*s: %s %s; %s", command_length(arguments), arguments->usage,
              what, word, how->bytes ? how->bytes : "");
    text_free(how);
    return error->status;
}

/* Tells whether "-P a=b" was written with blanks, as "-P a = b": whether the word before words[i]
 * is "a" or "a=" and follows -P, and words[i] is a sign or a value. If so, appends to `text` how it
 * must be written. */
static bool suggest_joined(const struct arguments *arguments, char *const *words, int count, int i,
                           struct text *text)
{
    if (!sets_keys(arguments) || i < 2 || strcmp(words[i - 2], "-P") != 0)
        return false;
    const char *const key = words[i - 1];
    const size_t length = strcspn(key, "=");
    const char *value = words[i] + (words[i][0] == '=');
    if (key[length] ? key[length + 1] != '\0' : words[i][0] != '=')
        return false;
    if (!*value && i + 1 < count)
        value = words[i + 1];
    text_print(text, "leave no blanks around the equals sign: write -P %.*s=%s", (int)length, key,
               value);
    return true;
}

/* Reports an unknown option `word`, and the option or key that may have been meant. `name` is a
 * long option without its dashes; NULL if the option is a letter. `next` is the word behind it, or
 * NULL. */
static enum status unknown_option(const struct arguments *arguments, const char *word,
                                  const char *name, const char *next, struct error *error)
{
    enum { MOST = 64 };
    struct text how = { 0 };
    const char *names[MOST];
    size_t count = 0;
    for (size_t i = 0; i < arguments->count && count < MOST; i++)
        if (arguments->table[i].name)
            names[count++] = arguments->table[i].name;
    const char *nearest = name ? text_nearest(name, names, count) : NULL;
    if (!nearest && name && suggest_override(arguments, name, next, &how))
        return refuse_word(arguments, "unknown option", word, &how, error);
    if (!nearest)
        return usage_error(arguments, error, "unknown option", word);
    const int length = command_length(arguments);
    return error_set(error, STATUS_USAGE,
                     "%.*s: unknown option %s; did you mean --%s? (%.*s --help says more)", length,
                     arguments->usage, word, nearest, length, arguments->usage);
}

/* Stores the value of the option argv[*i], which begins with '-'. If the value is the next word,
 * advances *i to that word. */
static enum status take_option(const struct arguments *arguments, int argc, char **argv, int *i,
                               struct error *error)
{
    const char *word = argv[*i];
    const bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    const size_t length = is_long ? strcspn(name, "=") : 1;
    const struct argument *argument = find_argument(arguments, name, length, is_long);
    if (!argument)
        return unknown_option(arguments, word, is_long ? name : NULL,
                              *i + 1 < argc ? argv[*i + 1] : NULL, error);
    const char *attached = name[length] == '\0' ? NULL : name + length + (is_long ? 1 : 0);
    if (argument->type == ARGUMENT_FLAG || argument->type == ARGUMENT_NO_LOCK)
        return attached ? usage_error(arguments, error, "takes no value:", word)
                        : store(arguments, argument, NULL, error);
    if (argument->type == ARGUMENT_WORD)
        return store(arguments, argument, attached ? attached : "", error);
    if (!attached && *i + 1 == argc)
        return usage_error(arguments, error, "needs a value:", word);
    return store(arguments, argument, attached ? attached : argv[++*i], error);
}

enum status arguments_parse(const struct arguments *arguments, int argc, char **argv,
                            struct argument_list *plain, bool *helped, struct error *error)
{
    *helped = false;
    plain->count = 0;
    bool options_end = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!options_end && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            print_help(arguments);
            *helped = true;
            return STATUS_OK;
        }
        if (!options_end && strcmp(word, "--complete") == 0) {
            print_completions(arguments);
            *helped = true;
            return STATUS_OK;
        }
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!options_end && word[0] == '-' && word[1] != '\0') {
            if (take_option(arguments, argc, argv, &i, error))
                return error->status;
        } else {
            struct text how = { 0 };
            if (suggest_joined(arguments, argv, argc, i, &how))
                return refuse_word(arguments, "unexpected argument", word, &how, error);
            if (plain->count == arguments->most || plain->count == ARGUMENT_LIST_SIZE)
                return strchr(word, '=') && suggest_override(arguments, word, NULL, &how)
                           ? refuse_word(arguments, "unexpected argument", word, &how, error)
                           : usage_error(arguments, error, "unexpected argument", word);
            plain->items[plain->count++] = word;
        }
    }
    if (plain->count < arguments->least)
        return usage_error(arguments, error, "missing argument; usage:", arguments->usage);
    return STATUS_OK;
}
