#include "output/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "output/directory-files.h"
#include "output/directory-state.h"

/* The bytes of the largest file that is read; the program writes no larger file with a seal. */
enum { LARGEST = 64 << 20 };

static const char plots[] = "plots/";

const char *seal_plain(const char *name)
{
    const size_t length = strlen(plots);
    return strncmp(name, plots, length) == 0 ? name + length : name;
}

bool seal_is_plain(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

int seal_folder(const struct directory *directory, const char *name)
{
    return openat(directory->fd, seal_plain(name) == name ? "." : "plots",
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* --- what a file holds ------------------------------------------------------------------------ */

int seal_hash(int folder, const char *name, char hash[SHA256_TEXT_SIZE])
{
    struct stat about;
    size_t length;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int code = fd < 0 ? errno : fstat(fd, &about) != 0 ? errno : 0;
    if (code == 0 && (!S_ISREG(about.st_mode) || about.st_size > LARGEST))
        code = EINVAL;
    char *bytes = code == 0 ? malloc((size_t)about.st_size + 1) : NULL;
    if (code == 0)
        code = bytes ? descriptor_read(fd, bytes, (size_t)about.st_size, &length) : ENOMEM;
    if (code == 0)
        sha256_text(bytes, length, hash);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return code;
}

static bool lists(const json_t *manifest, const char *name, const char *hash)
{
    size_t index;
    json_t *listed;
    json_array_foreach(json_object_get(json_object_get(manifest, "sha256"), name), index, listed)
    {
        const char *text = json_string_value(listed);
        if (text && strcmp(text, hash) == 0)
            return true;
    }
    return false;
}

/* --- looking ---------------------------------------------------------------------------------- */

enum status seal_check(const struct directory *directory, const json_t *manifest, const char *name,
                       char hash[SHA256_TEXT_SIZE], struct error *error)
{
    struct stat about;
    hash[0] = '\0';
    const int folder = seal_folder(directory, name);
    if (folder < 0 && errno == ENOENT)
        return STATUS_OK;
    if (folder < 0)
        return error_set(error, STATUS_CANT_CREATE,
                         "%s/plots: is no folder of its own; move it away", directory->path);
    const bool there = fstatat(folder, seal_plain(name), &about, AT_SYMLINK_NOFOLLOW) == 0;
    const int code = there ? seal_hash(folder, seal_plain(name), hash) : 0;
    close(folder);
    if (code == ENOMEM)
        return directory_error(directory, name, STATUS_MEMORY, code, error);
    const bool gone = !there || code == ENOENT; /* `run --force` may remove it at any time */
    if (gone || (code == 0 && lists(manifest, name, hash)))
        return STATUS_OK;
    hash[0] = '\0';
    const json_t *const known = json_object_get(json_object_get(manifest, "sha256"), name);
    return error_set(error, STATUS_CANT_CREATE,
                     known ? "%s/%s: is no longer what the %s has written there; move it away, or "
                             "write elsewhere with -o DIR"
                           : "%s/%s: is there already and belongs to no %s; move it away, or write "
                             "elsewhere with -o DIR",
                     directory->path, name, directory->kind->noun);
}

/* --- removing --------------------------------------------------------------------------------- */

static enum status remove_file(const struct directory *directory, const json_t *manifest,
                               const char *name, struct error *error)
{
    char hash[SHA256_TEXT_SIZE];
    const int folder = seal_is_plain(seal_plain(name)) ? seal_folder(directory, name) : -1;
    if (folder < 0)
        return STATUS_OK;
    int code = seal_hash(folder, seal_plain(name), hash);
    if (code == 0 && lists(manifest, name, hash) && unlinkat(folder, seal_plain(name), 0) != 0 &&
        errno != ENOENT)
        directory_error(directory, name, STATUS_CANT_CREATE, errno, error);
    else if (code == ENOMEM)
        directory_error(directory, name, STATUS_MEMORY, code, error);
    close(folder);
    return error->status;
}

enum status seal_remove(struct directory *directory, const json_t *manifest, struct error *error)
{
    const char *name;
    json_t *unused;
    json_object_foreach(json_object_get(manifest, "sha256"), name, unused)
    {
        if (remove_file(directory, manifest, name, error))
            return error->status;
    }
    unlinkat(directory->fd, "plots", AT_REMOVEDIR); /* succeeds only if the folder is empty */
    return STATUS_OK;
}
