/*
 * The one pass over the text of a configuration. It expands @include, checks the tokens and their
 * order, and notes each value with its location. libconfig 1.5 then reads the same text, but with a
 * 0 in the place of every value that it would get wrong without a word: numbers, which it wraps and
 * lets overflow, and invalid values (nan, a string without quotation marks), which the reader of
 * the values reports with key and range. Arrays become lists, since libconfig refuses those that
 * mix 0 and 0.5.
 */
#ifndef ORRERY_CONFIG_SOURCE_H
#define ORRERY_CONFIG_SOURCE_H

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/node.h"

/*
 * The text for libconfig, which is a list of groups: the file, then a group with a single member
 * for each value that was added. The nodes follow one another as in the text; libconfig reads the
 * names, structure, strings and flags.
 */
struct source {
    struct text text;
    struct node *first, *last;
};

/* Reads the file and what it includes; nodes live in the arena. The first node is the file itself.
 * STATUS_NO_INPUT, STATUS_IO, STATUS_CONFIG with file and line, STATUS_MEMORY. */
enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error);

/* Begins a source without a file: its first node is an empty group. STATUS_MEMORY. */
enum status source_begin(const char *path, struct arena *arena, struct source *source,
                         struct error *error);

/* Adds one value that does not stand in a file, and returns its node, or NULL with an error. Errors
 * name `location` and `path`, and leave the source as it was. */
struct node *source_value(const struct location *location, const char *path, const char *bytes,
                          struct arena *arena, struct source *source, struct error *error);

#endif
