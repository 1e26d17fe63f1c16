/*
 * The one pass over the text of a configuration. It expands @include, checks every token and its
 * order, and notes each value with its location. libconfig 1.5 then reads the same text: what it
 * would get wrong without a word is noted here and leaves a 0 in the text. That are numbers, which
 * it wraps and lets overflow, and what is no value (nan, a string without quotation marks), so that
 * the reader can report it with key and range. It also refuses arrays that mix 0 and 0.5: they
 * become lists.
 */
#ifndef ORRERY_CONFIG_SOURCE_H
#define ORRERY_CONFIG_SOURCE_H

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/node.h"

/*
 * The text for libconfig is a list of groups: the file, then one with a single member for each
 * value. Their nodes follow one another as they do in it; the names, structure, strings and flags
 * are for libconfig to read.
 */
struct source {
    struct text text;
    struct node *first, *last;
};

/* Reads the file and what it includes; nodes live in the arena. The first node is the file itself.
 * STATUS_NO_INPUT, STATUS_CONFIG with file and line, STATUS_MEMORY. */
enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error);

/* The same without a file: the first node is an empty group. */
enum status source_begin(const char *path, struct arena *arena, struct source *source,
                         struct error *error);

/* Adds one value that does not stand in a file. `location` and `path` are named in errors, which
 * leave the source as it was. NULL with an error. */
struct node *source_value(const struct location *location, const char *path, const char *bytes,
                          struct arena *arena, struct source *source, struct error *error);

#endif
