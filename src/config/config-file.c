#include "config/config-file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *file_shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static enum status read_stream(FILE *stream, const char *path, struct text *text,
                               struct error *error)
{
    char buffer[16384];
    size_t length;
    while ((length = fread(buffer, 1, sizeof buffer, stream)) > 0) {
        if (text->length + length > FILE_LIMIT)
            return error_set(error, STATUS_CONFIG, "%s: longer than %d bytes, no configuration",
                             file_shown(path), (int)FILE_LIMIT);
        text_append(text, buffer, length);
    }
    if (ferror(stream))
        return error_system(error, STATUS_IO, errno, file_shown(path));
    if (text->failed)
        return error_set(error, STATUS_MEMORY, "%s: out of memory", file_shown(path));
    return STATUS_OK;
}

enum status file_read(const char *path, struct text *text, struct stat *identity,
                      struct error *error)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!stream)
        return error_system(error, STATUS_NO_INPUT, errno, path);
    enum status status;
    if (fstat(fileno(stream), identity) != 0)
        status = error_system(error, STATUS_NO_INPUT, errno, file_shown(path));
    else if (S_ISDIR(identity->st_mode))
        status = error_system(error, STATUS_NO_INPUT, EISDIR, file_shown(path));
    else
        status = read_stream(stream, path, text, error);
    if (stream != stdin)
        fclose(stream);
    return status;
}

void file_beside(const char *file, const char *name, struct text *path)
{
    const char *slash = strrchr(file, '/');
    if (slash && name[0] != '/')
        text_append(path, file, (size_t)(slash - file) + 1);
    text_append(path, name, strlen(name));
}

bool file_there(const char *path)
{
    struct stat identity;
    return stat(path, &identity) == 0;
}

bool file_regular(const char *path)
{
    struct stat identity;
    return stat(path, &identity) == 0 && S_ISREG(identity.st_mode);
}

bool file_readable(const char *path)
{
    struct stat identity;
    return stat(path, &identity) == 0 && !S_ISDIR(identity.st_mode) && access(path, R_OK) == 0;
}
