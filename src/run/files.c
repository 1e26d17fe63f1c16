#include "run/files.h"

#include "base/clock.h"

void files_log(struct files *files, const char *line)
{
    char stamp[CLOCK_STAMP_SIZE];
    clock_stamp(stamp);
    if (files->log)
        stream_print(files->log, "%s %s\n", stamp, line);
    else
        text_print(&files->early_log, "%s %s\n", stamp, line);
}

void files_close(struct files *files, struct error *error)
{
    stream_close(files->log, error);
    files->log = NULL;
}

void files_destroy(struct files *files)
{
    struct error ignored = { 0 }; /* whatever mattered was reported when the run was closed */
    files_close(files, &ignored);
    text_free(&files->early_log);
    json_decref(files->members);
    directory_close(files->directory);
}
