#include "formats/system-list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

size_t system_list_find(struct system_list *systems, int64_t name)
{
    if (systems->last < systems->length && systems->all[systems->last].name == name)
        return systems->last;
    size_t low = 0, high = systems->length;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (systems->all[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return systems->last = low;
}

static enum status grow(struct system_list *systems, struct error *error)
{
    const size_t capacity = systems->capacity ? 2 * systems->capacity : 16;
    void *const all = realloc(systems->all, memory_bytes(capacity, sizeof *systems->all));
    if (!all)
        return error_set(error, STATUS_MEMORY, "out of memory for the systems of a file");
    systems->all = all;
    systems->capacity = capacity;
    return STATUS_OK;
}

enum status system_list_add(struct system_list *systems, int64_t name, struct error *error)
{
    const size_t at = system_list_find(systems, name);
    if (at == systems->length || systems->all[at].name != name) {
        if (systems->length == systems->capacity && grow(systems, error))
            return error->status;
        memmove(systems->all + at + 1, systems->all + at,
                (systems->length++ - at) * sizeof *systems->all);
        systems->all[at].name = name;
        systems->all[at].count = 0;
    }
    systems->all[at].count++;
    return STATUS_OK;
}

void system_list_free(struct system_list *systems)
{
    free(systems->all);
    *systems = (struct system_list){ 0 };
}
