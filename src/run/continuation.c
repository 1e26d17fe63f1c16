#include "run/continuation.h"

#include <jansson.h>
#include <string.h>

void continuation_close(struct continuation *continuation)
{
    checkpoint_close(continuation->checkpoint);
    continuation->checkpoint = NULL;
}

void continuation_forget(struct continuation *continuation)
{
    json_decref(continuation->before);
    continuation->before = NULL;
}

void continuation_destroy(struct continuation *continuation)
{
    continuation_close(continuation);
    continuation_forget(continuation);
    json_decref(continuation->legs);
}

bool continuation_owns(const struct continuation *continuation, const char *name)
{
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(continuation->before, "files"), index, file)
    {
        const char *other = json_string_value(file);
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}
