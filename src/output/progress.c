#include "output/progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "output/directory-state.h"

/* The line has a fixed length, so that each takes the whole place of the one before. */
static const char form[] =
    "step %20" PRIu64 " of %20" PRIu64 " from %20" PRIu64 " in %14.3f s at %12.6e /s";
static const char scan_form[] =
    "step %" SCNu64 " of %" SCNu64 " from %" SCNu64 " in %lf s at %lf /s";

void progress_write(const struct directory *directory, const struct progress *progress)
{
    char note[LOCK_TEXT_SIZE];
    snprintf(note, sizeof note, form, progress->step, progress->last, progress->first_step,
             progress->seconds, progress->rate);
    lock_note(directory->lock, note);
}

struct progress progress_read(const char *path, const struct directory_kind *kind)
{
    struct progress progress = { 0 };
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return progress;
    const struct lock_view view = lock_look(folder, kind->lock);
    close(folder);
    progress.held = view.held;
    snprintf(progress.owner, sizeof progress.owner, "%s", view.owner);
    progress.known = sscanf(view.note, scan_form, &progress.step, &progress.last,
                            &progress.first_step, &progress.seconds, &progress.rate) == 5 &&
                     progress.first_step <= progress.step && progress.step <= progress.last;
    clock_stamp_of(view.written, progress.stamp);
    return progress;
}
