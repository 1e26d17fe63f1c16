/* The key `names`, which names single bodies: each name becomes a species of one body
 * (model/bodies.h). */
#include <stdio.h>
#include <string.h>

#include "config/configuration.h"
#include "initial/initial-table.h"
#include "initial/initial.h"

/* Copies the word within the quotation marks of `value` to `name`. Returns false if the word cannot
 * be a name. */
static bool read_name(const char *value, char name[SPECIES_NAME_SIZE])
{
    const size_t length = strlen(value);
    if (length < 2 || value[0] != '"' || length - 2 >= SPECIES_NAME_SIZE)
        return false;
    snprintf(name, SPECIES_NAME_SIZE, "%.*s", (int)(length - 2), value + 1);
    return bodies_is_species(name) && strcmp(name, "X") != 0;
}

void initial_take_names(const struct section *section, struct bodies *bodies, struct error *error)
{
    size_t count = 0;
    if (!section_has(section, "names"))
        return;
    const char *const *values = section_values(section, "names", &count);
    if (count > SPECIES_MOST || (bodies && count > bodies->count))
        section_error(section, "names", error, "%zu names; there may be %zu", count,
                      bodies && bodies->count < SPECIES_MOST ? bodies->count
                                                             : (size_t)SPECIES_MOST);
    if (bodies)
        bodies->species_count = 0;
    for (size_t i = 0; i < count && !error->status; i++) {
        char name[SPECIES_NAME_SIZE];
        size_t same = 0;
        while (same < i && strcmp(values[same], values[i]) != 0)
            same++;
        if (!read_name(values[i], name))
            section_error(section, "names", error,
                          "%.40s is no name: a word of at most %d bytes, without blanks and the "
                          "signs \" \\ = , and not X, which stands for none",
                          values[i], SPECIES_NAME_SIZE - 1);
        else if (same < i)
            section_error(section, "names", error, "%.40s is there twice", values[i]);
        else if (bodies)
            bodies_add_species(bodies, name, i + 1);
    }
}

void initial_check_bodies(const struct section *section, struct error *error)
{
    initial_take_names(section, NULL, error);
    initial_check(section, error);
}
