#include "run/content.h"

#include <stdio.h>
#include <string.h>

#include "base/build.h"

void content_arrays(const struct bodies *b, struct content_array arrays[CONTENT_ARRAYS])
{
    const struct content_array all[CONTENT_ARRAYS] = {
        { "mass", b->m }, { "x", b->x },   { "y", b->y },   { "z", b->z },
        { "vx", b->vx },  { "vy", b->vy }, { "vz", b->vz }, { "id", b->id },
    };
    memcpy(arrays, all, sizeof all);
}

const char content_early[] = "early:";
const char content_files[] = "files";
const char content_aggregate_row[] = "aggregate-row";
const char content_legs[] = "legs";
const char content_systems[] = "systems";

const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE])
{
    snprintf(buffer, CHECKPOINT_NAME_SIZE, "%s%s:%zu", prefix, kind, index);
    return buffer;
}

const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE])
{
    const struct backend_description *d = &run->description;
    snprintf(buffer, CONTENT_BUILD_SIZE, "orrery %s %s, %s %s; %s %s %s %s %s", build_version(),
             build_commit(), build_compiler(), build_options(), d->backend, d->kernel, d->isa,
             d->device ? d->device : "", precision_names[d->precision]);
    return buffer;
}
