/*
 * The outcome of a function that can fail, and the message that goes with it.
 *
 * Such a function returns an enum status and describes the failure once, where the facts are known,
 * in the struct error that its caller lends. Callers pass both up unchanged; only main() prints the
 * text and makes the status the exit status of the program (the numbers of sysexits.h).
 */
#ifndef ORRERY_BASE_STATUS_H
#define ORRERY_BASE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum status {
    STATUS_OK = 0,
    /* The run finished, but its verdict is failed: by the criteria `expect` of the config, the
     * accuracy watch, time.energy_error or time.trust_until. */
    STATUS_EXPECT_FAILED = 1,
    STATUS_USAGE = 64,       /* an error in the command line */
    STATUS_DATA = 65,        /* an error in the content of an input file */
    STATUS_NO_INPUT = 66,    /* an input file is missing or unreadable */
    STATUS_UNAVAILABLE = 69, /* a backend, device or optional library is missing on this machine */
    STATUS_NUMERICAL = 70,   /* a result is not finite, the energy blew up, a step is too small */
    STATUS_MEMORY = 71,      /* out of host or device memory */
    STATUS_CANT_CREATE = 73, /* an output file or directory cannot be created */
    STATUS_IO = 74,          /* reading or writing failed */
    STATUS_STOPPED = 75,     /* stopped early; continue with --restart */
    STATUS_CONFIG = 78       /* an error in the configuration */
};

enum { ERROR_TEXT_SIZE = 8192 };

/* A failure in words: one or more lines, no newline after the last. All zero means "none". */
struct error {
    enum status status;
    size_t length;  /* length of text */
    size_t lines;   /* number of messages in text */
    size_t dropped; /* number of further messages, for which text had no room */
    char text[ERROR_TEXT_SIZE];
};

/* Adds a message, one line, to *error and returns error->status, which the first message has set to
 * `status`. Later messages only add their lines: all errors of a configuration are reported in one
 * pass. */
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the message "what: reason" by error_set() after a failed system call on `what`, with the
 * reason strerror(code). If `code` is ENOMEM, the status is STATUS_MEMORY, whatever `status` says,
 * and the reason "out of memory". */
enum status error_system(struct error *error, enum status status, int code, const char *what);

/* Adds a message as error_system() does, about the file folder/name (about `name` alone if `folder`
 * is ""). */
enum status error_file(struct error *error, enum status status, int code, const char *folder,
                       const char *name);

/* Adds the message "out of memory" with STATUS_MEMORY. */
enum status error_memory(struct error *error);

/* Adds the messages of `other` and returns error->status; if `other` has none, returns
 * STATUS_OK. */
enum status error_pass(struct error *error, const struct error *other);

void error_clear(struct error *error);

#ifdef __cplusplus
}
#endif

#endif
