#include "initial/body-files.h"

#include <string.h>

/* The length of the folder that `a` and the first `length` letters of `b` have in common. */
static size_t common_folder(const char *a, const char *b, size_t length)
{
    size_t folder = 0;
    for (size_t i = 0; i < length && a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            folder = i + 1;
    return folder;
}

struct body_files body_files_of(const struct section *bodies)
{
    struct body_files files = { 0 };
    if (strcmp(section_variant(bodies)->name, "file") != 0)
        return files;
    files.key = section_has(bodies, "files") ? "files" : "file";
    files.paths = section_paths(bodies, files.key, &files.count);
    if (files.count > 0)
        files.folder = strlen(files.paths[0]);
    for (size_t i = 0; i < files.count; i++)
        files.folder = common_folder(files.paths[i], files.paths[0], files.folder);
    return files;
}

size_t body_files_systems(const struct body_files *files)
{
    return files->count > 0 && strcmp(files->key, "files") == 0 ? files->count : 0;
}

const char *body_files_name(const struct body_files *files, size_t system)
{
    return system < body_files_systems(files) ? files->paths[system] + files->folder : "";
}
