#include "report/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "config/suggest.h"

/* Figures in the order in which they are asked for. */
struct choice {
    const struct figures *figures;
    size_t *order;
    size_t count;
};

static char plain(char c)
{
    return c == '_' ? '-' : c;
}

/* Tells whether it is the same name, where '_' and '-' are one. */
static bool is_named(const char *name, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || plain(name[i]) != plain(word[i]))
            return false;
    return length > 0 && name[length] == '\0';
}

static const char *column_of(const struct figure *figure)
{
    const char *dot = strchr(figure->column, '.');
    return dot ? dot + 1 : "";
}

static void add(struct choice *choice, size_t index)
{
    for (size_t i = 0; i < choice->count; i++)
        if (choice->order[i] == index)
            return;
    choice->order[choice->count++] = index;
}

/* Tells whether a figure is called so, or drawn of a column that is. */
static bool is_meant(const struct figure *figure, bool by_name, const char *word, size_t length)
{
    if (by_name)
        return is_named(figure->name, word, length);
    return is_named(figure->column, word, length) || is_named(column_of(figure), word, length);
}

/* The figure of this name, or else all that are of a column of this name; false for none. */
static bool add_word(struct choice *choice, const char *word, size_t length)
{
    const struct figures *figures = choice->figures;
    bool found = false;
    for (int by_name = 1; by_name >= 0 && !found; by_name--)
        for (size_t i = 0; i < figures->count; i++)
            if (is_meant(&figures->figures[i], by_name, word, length)) {
                add(choice, i);
                found = true;
            }
    return found;
}

/* Reports that a word is no figure; the columns are too many to list. */
static void put_unknown(const struct figures *figures, const char *word, size_t length,
                        struct text *why)
{
    const char **names = calloc(figures->count + 1, sizeof *names);
    char wanted[FIGURE_LABEL_SIZE];
    size_t count = 0;
    snprintf(wanted, sizeof wanted, "%.*s", (int)length, word);
    for (size_t i = 0; i < figures->count && names; i++) {
        if (!figures->figures[i].column[0])
            names[count++] = figures->figures[i].name;
        else
            names[count++] = column_of(&figures->figures[i]);
    }
    struct text meant = { 0 };
    if (names)
        suggest_choice(wanted, names, count, &meant);
    text_print(why, "%s\"%s\"", why->length ? ", " : "", wanted);
    if (meant.length > 2) /* "; did you mean x?" */
        text_print(why, " (%s)", meant.bytes + 2);
    why->failed |= !names || meant.failed;
    text_free(&meant);
    free(names);
}

static enum status refuse(const struct figures *figures, const struct text *why,
                          struct error *error)
{
    struct text there = { 0 };
    for (size_t i = 0; i < figures->count; i++)
        if (!figures->figures[i].column[0])
            text_print(&there, "%s%s", there.length ? ", " : "", figures->figures[i].name);
    const bool failed = why->failed || there.failed;
    if (!failed)
        error_set(error, STATUS_USAGE,
                  "--plot: no such figure: %s; there are %s, and every column of the diagnostics",
                  why->bytes, there.length ? there.bytes : "none");
    text_free(&there);
    return failed ? error_memory(error) : error->status;
}

/* Puts the chosen figures first and frees the others. */
static void keep(const struct choice *choice, struct figures *figures, struct figure *kept)
{
    for (size_t i = 0; i < choice->count; i++) {
        struct figure *figure = &figures->figures[choice->order[i]];
        kept[i] = *figure;
        *figure = (struct figure){ 0 };
    }
    figure_free_all(figures);
    *figures = (struct figures){ choice->count, kept };
}

enum status choice_select(const char *words, struct figures *figures, struct error *error)
{
    struct choice choice = { figures, NULL, 0 };
    struct text why = { 0 };
    struct figure *kept = malloc(memory_bytes(figures->count + 1, sizeof *kept));
    choice.order = malloc(memory_bytes(figures->count + 1, sizeof *choice.order));
    enum status status = kept && choice.order ? STATUS_OK : error_memory(error);
    for (const char *word = words; !status && word;) {
        const size_t length = strcspn(word, ",");
        if (!add_word(&choice, word, length))
            put_unknown(figures, word, length, &why);
        word = word[length] ? word + length + 1 : NULL;
    }
    if (!status && (why.length || why.failed))
        status = refuse(figures, &why, error);
    if (!status) {
        keep(&choice, figures, kept);
        kept = NULL;
    }
    text_free(&why);
    free(kept);
    free(choice.order);
    return status;
}
