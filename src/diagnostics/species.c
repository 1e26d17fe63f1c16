#include "diagnostics/species.h"

#include <stdio.h>
#include <string.h>

static bool takes(const char *wanted, const char *name)
{
    const size_t length = strlen(wanted);
    return strncmp(wanted, name, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

bool species_has(const char *species, const struct bodies *bodies, size_t i)
{
    const size_t own = bodies_species(bodies, i);
    return !species || (own < bodies->species_count && takes(species, bodies->species[own].name));
}

enum status species_check(const struct section *section, const char *species,
                          const struct bodies *bodies, struct error *error)
{
    char names[512] = "";
    for (size_t i = 0; i < bodies->count; i++)
        if (species_has(species, bodies, i))
            return STATUS_OK;
    for (size_t k = 0; k < bodies->species_count; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k > 0 ? ", " : "",
                 bodies->species[k].name);
    return section_error(section, "species", error, "is no species of the bodies, which %s%s",
                         names[0] ? "are: " : "have none", names);
}
