#include "study/disk.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/child.h"
#include "base/memory.h"
#include "run/estimate.h"
#include "run/run.h"
#include "study/member.h"

/* Keys that change no number of rows, frames or bodies: members that differ in these alone write
 * as much, and are worked out once. */
static const char *const sizeless_keys[] = { "bodies.seed",        "physics.*", "time.integrator",
                                             "compute.*",          "watch.*",   "expect.*",
                                             "bodies.virial_ratio" };

static bool changes_size(const char *key)
{
    for (size_t i = 0; i < COUNT_OF(sizeless_keys); i++)
        if (fnmatch(sizeless_keys[i], key, 0) == 0)
            return false;
    return true;
}

static bool write_as_much(const struct study *study, size_t a, size_t b)
{
    const size_t keys = study->key_count;
    for (size_t k = 0; k < keys; k++)
        if (changes_size(study->keys[k]) &&
            strcmp(study->values[a * keys + k], study->values[b * keys + k]) != 0)
            return false;
    return true;
}

static double member_bytes(const struct study *study, const struct study_options *options,
                           size_t member)
{
    struct config *config = NULL;
    struct run *run = NULL;
    struct error ignored = { 0 };
    const struct run_options plain = { .directory = options->directory };
    double bytes = 0.0;
    if (!member_load(study, options, 1, member, &config, &ignored) &&
        !run_prepare(config, &plain, false, &run, &ignored))
        bytes = estimate_disk_bytes(run);
    run_destroy(run);
    config_free(config);
    return bytes;
}

static double sum_bytes(const struct study *study, const struct study_options *options,
                        bool (*counts)(const void *context, size_t member), const void *context)
{
    enum { MOST = 64 }; /* kinds of members that are remembered */
    struct {
        size_t member;
        double bytes;
    } known[MOST];
    size_t kinds = 0;
    double sum = 0.0;
    for (size_t m = 0; m < study->member_count; m++) {
        size_t k = 0;
        if (!counts(context, m))
            continue;
        while (k < kinds && !write_as_much(study, known[k].member, m))
            k++;
        const double bytes = k < kinds ? known[k].bytes : member_bytes(study, options, m);
        sum += bytes;
        if (k == kinds && kinds < MOST) {
            known[kinds].member = m;
            known[kinds++].bytes = bytes;
        }
    }
    return sum;
}

/* What the child is asked. */
struct question {
    const struct study *study;
    const struct study_options *options;
    bool (*counts)(const void *context, size_t member);
    const void *context;
};

static void answer(int to, void *context)
{
    const struct question *q = context;
    const double bytes = sum_bytes(q->study, q->options, q->counts, q->context);
    child_send(to, &bytes, sizeof bytes);
}

double disk_needed(const struct study *study, const struct study_options *options,
                   bool (*counts)(const void *context, size_t member), const void *context)
{
    struct question question = { study, options, counts, context };
    struct child *child;
    struct error ignored = { 0 };
    double bytes = 0.0;
    if (child_start(answer, &question, &CHILD_UNLIMITED, &child, &ignored))
        return 0.0;
    const bool whole = child_receive(child, &bytes, sizeof bytes);
    child_end(child, whole, options->directory, &ignored);
    return whole ? bytes : 0.0;
}

enum status disk_check(const char *directory, double bytes, struct error *error)
{
    char parent[4096];
    struct statvfs about;
    snprintf(parent, sizeof parent, "%s", directory);
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[slash == parent] = '\0';
    if (statvfs(directory, &about) != 0 && statvfs(slash ? parent : ".", &about) != 0)
        return STATUS_OK; /* whoever makes the directory will say what is wrong */
    const double room = (double)about.f_bavail * (double)about.f_frsize;
    if (bytes <= room)
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: the runs would write %.3g GB, the disk has %.3g GB free", directory,
                     1e-9 * bytes, 1e-9 * room);
}
