/*
 * The one pass over the text of a configuration. It expands @include, checks the tokens and their
 * order, and notes each value with its location. libconfig 1.5 then reads the same text, but with a
 * 0 in the place of every value that libconfig would silently get wrong: numbers, which may
 * overflow there, and invalid values (nan, a string without quotation marks), which value.c reports
 * later with key and range. Arrays become lists, since libconfig refuses arrays that mix 0 and 0.5.
 */
#ifndef ORRERY_CONFIG_SOURCE_H
#define ORRERY_CONFIG_SOURCE_H

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/node.h"

/* The text for libconfig, which is a list of groups: the file, then for each value that was added a
 * group whose single member is that value. The nodes, linked by `next`, are in the order of the
 * text; libconfig then reads names, structure, strings and flags into them. */
struct source {
    struct text text;
    struct node *first, *last;
};

/* Reads the file and what it includes; nodes are put into the arena. The first node is the group of
 * the whole file. STATUS_NO_INPUT, STATUS_IO, STATUS_CONFIG with file and line, STATUS_MEMORY. */
enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error);

/* Begins a source without a file: its first node is an empty group; errors call it `path`.
 * STATUS_MEMORY. */
enum status source_begin(const char *path, struct arena *arena, struct source *source,
                         struct error *error);

/* Adds the value `bytes`, which is not part of the file, and returns its node, or NULL with an
 * error. Errors name `location` and `path`, the path of the key, and leave the source as it was. */
struct node *source_value(const struct location *location, const char *path, const char *bytes,
                          struct arena *arena, struct source *source, struct error *error);

#endif
