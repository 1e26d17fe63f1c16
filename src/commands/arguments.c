#include "commands/arguments.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static enum status usage_error(const struct arguments *arguments, struct error *error,
                               const char *what, const char *word)
{
    return error_set(error, STATUS_USAGE, "orrery: %s %s; usage: %s (--help says more)", what, word,
                     arguments->usage);
}

static void print_help(const struct arguments *arguments)
{
    printf("usage: %s\n\n%s\n\noptions:\n", arguments->usage, arguments->summary);
    for (size_t i = 0; i < arguments->count; i++) {
        const struct argument *a = &arguments->table[i];
        char left[48];
        int length = 0;
        length += a->letter ? snprintf(left, sizeof left, "-%c", a->letter)
                            : snprintf(left, sizeof left, "    ");
        if (a->name)
            length += snprintf(left + length, sizeof left - (size_t)length, "%s--%s",
                               a->letter ? ", " : "", a->name);
        if (a->value)
            snprintf(left + length, sizeof left - (size_t)length, " %s", a->value);
        printf("  %-26s %s\n", left, a->help);
    }
    printf("  %-26s %s\n", "-h, --help", "this text");
}

static const struct argument *find(const struct arguments *arguments, const char *word,
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
            return usage_error(arguments, error, "too many times:", argument->name);
        list->items[list->count++] = value;
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* Takes argv[*i], which begins with '-', and the value behind it. */
static enum status take_option(const struct arguments *arguments, int argc, char **argv, int *i,
                               struct error *error)
{
    const char *word = argv[*i];
    const bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    const size_t length = is_long ? strcspn(name, "=") : 1;
    const struct argument *argument = find(arguments, name, length, is_long);
    if (!argument)
        return usage_error(arguments, error, "unknown option", word);
    const char *attached = name[length] == '\0' ? NULL : name + length + (is_long ? 1 : 0);
    if (argument->type == ARGUMENT_FLAG)
        return attached ? usage_error(arguments, error, "takes no value:", word)
                        : store(arguments, argument, NULL, error);
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
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!options_end && word[0] == '-' && word[1] != '\0') {
            if (take_option(arguments, argc, argv, &i, error))
                return error->status;
        } else {
            if (plain->count == arguments->most || plain->count == ARGUMENT_LIST_SIZE)
                return usage_error(arguments, error, "unexpected argument", word);
            plain->items[plain->count++] = word;
        }
    }
    if (plain->count < arguments->least)
        return usage_error(arguments, error, "missing argument", "");
    return STATUS_OK;
}
