#include "study/study.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/child.h"
#include "base/memory.h"
#include "estimate/estimate.h"
#include "run/record.h"
#include "run/run.h"

/* Keys of the config that change no number of rows, frames or bodies. Members (runs of the study)
 * that differ only in these write the same number of bytes, which is computed once. */
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

/* The result of sum_bytes(): the bytes of all members, and the first error in preparing one. */
struct disk_estimate {
    double bytes;
    bool prepared; /* at least one member could be prepared (run_prepare()) */
    struct error refused;
};

static bool member_bytes(const struct study *study, const struct study_options *options,
                         size_t member, double *bytes, struct error *error)
{
    struct config *config = NULL;
    struct run *run = NULL;
    const struct run_options plain = { .directory = options->directory, .unchosen = true };
    const bool prepared = !study_load_member(study, 1, member, &config, error) &&
                          !run_prepare(config, &plain, false, &run, error);
    *bytes = 0.0;
    if (prepared) {
        const struct estimated estimated = run_estimated(run);
        *bytes = estimate_disk_bytes(&estimated);
    }
    run_destroy(run);
    config_free(config);
    return prepared;
}

/* The arguments of disk_needed(), for the child process. */
struct disk_request {
    const struct study *study;
    const struct study_options *options;
    bool (*counts)(const void *context, size_t member);
    const void *context;
};

/* Returns a number near 0.618 `members` that has no common divisor with `members`: its multiples,
 * modulo `members`, visit all members, and the first of them are spread over the whole grid. */
static size_t stride_over(size_t members)
{
    size_t stride = (size_t)(0.6180339887498949 * (double)members);
    for (;; stride++) {
        size_t a = members, b = stride;
        while (b > 0) {
            const size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return stride;
    }
}

/*
 * Adds up the bytes of all members that count. Members of one kind (write_as_much()) write the same
 * number of bytes, but some may fail to be prepared: so the bytes of a kind come from a member that
 * can be prepared, unless many could not. To prepare a member may take a second: if there are more
 * than MOST kinds, the members of the first MOST stand for all.
 */
static void sum_bytes(const struct disk_request *request, struct disk_estimate *estimate)
{
    /* The most kinds whose bytes are kept, and the most members that may fail to be prepared before
     * their kind counts as 0 bytes. */
    enum { MOST = 64 };
    const struct study *study = request->study;
    const size_t members = study->member_count, stride = stride_over(members);
    struct {
        size_t member;
        double bytes;
    } known[MOST];
    size_t kinds = 0, refused = 0, counted = 0, others = 0;
    for (size_t i = 0; i < members; i++) {
        const size_t m = i * stride % members;
        struct error error = { 0 };
        size_t k = 0;
        if (request->counts && !request->counts(request->context, m))
            continue;
        while (k < kinds && !write_as_much(study, known[k].member, m))
            k++;
        if (k == MOST && estimate->prepared) {
            others++;
            continue;
        }
        double bytes = k < kinds ? known[k].bytes : 0.0;
        if (k == kinds) {
            const bool prepared = member_bytes(study, request->options, m, &bytes, &error);
            estimate->prepared |= prepared;
            if (!prepared && refused++ == 0)
                estimate->refused = error;
            if (kinds < MOST && (prepared || refused > MOST)) {
                known[kinds].member = m;
                known[kinds++].bytes = bytes;
            }
        }
        estimate->bytes += bytes;
        counted++;
    }
    if (others > 0)
        estimate->bytes *= 1.0 + (double)others / (double)counted;
}

static void answer(int to, void *context)
{
    struct disk_estimate estimate = { 0 };
    sum_bytes(context, &estimate);
    child_send(to, &estimate, sizeof estimate);
}

enum status disk_needed(const struct study *study, const struct study_options *options,
                        bool (*counts)(const void *context, size_t member), const void *context,
                        double *bytes, struct error *error)
{
    struct disk_request request = { study, options, counts, context };
    struct child *child;
    struct error ignored = { 0 };
    struct disk_estimate estimate = { 0 };
    *bytes = 0.0;
    if (child_start(answer, &request, &CHILD_UNLIMITED, &child, &ignored))
        return STATUS_OK;
    const bool whole = child_receive(child, &estimate, sizeof estimate);
    child_end(child, whole, options->directory, &ignored);
    if (!whole)
        return STATUS_OK;
    *bytes = estimate.bytes;
    if (estimate.prepared || estimate.refused.status != STATUS_CONFIG)
        return STATUS_OK;
    *error = estimate.refused;
    return error->status;
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
        return STATUS_OK; /* creating the directory will show the error */
    const double room = (double)about.f_bavail * (double)about.f_frsize;
    if (bytes <= room)
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: the runs would write %.3g GB, the disk has %.3g GB free", directory,
                     1e-9 * bytes, 1e-9 * room);
}
