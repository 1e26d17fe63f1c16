/*
 * The outcome of anything that can fail, and the message that goes with it.
 *
 * A function that can fail returns an enum status and describes the failure once, where the facts
 * are known, in the struct error that its caller lends. Callers pass both up unchanged; only
 * main() prints the text and turns the status into the exit status (sysexits.h numbers).
 */
#ifndef ORRERY_BASE_STATUS_H
#define ORRERY_BASE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum status {
    STATUS_OK = 0,
    STATUS_EXPECT_FAILED = 1, /* the run finished, but its verdict is failed: by `expect`, the watch
                                 or time.energy_error */
    STATUS_USAGE = 64,        /* the command line */
    STATUS_DATA = 65,         /* the content of an input file */
    STATUS_NO_INPUT = 66,     /* an input file is missing or unreadable */
    STATUS_UNAVAILABLE = 69,  /* a backend, device or optional library is not here */
    STATUS_NUMERICAL = 70,    /* NaN or blow-up */
    STATUS_MEMORY = 71,       /* out of host or device memory */
    STATUS_CANT_CREATE = 73,  /* an output file or directory cannot be created */
    STATUS_IO = 74,           /* reading or writing failed */
    STATUS_STOPPED = 75,      /* stopped early; continue with --restart */
    STATUS_CONFIG = 78        /* the configuration */
};

enum { ERROR_TEXT_SIZE = 8192 };

/* A failure in words: one or more lines, no newline after the last. All zero means "none". */
struct error {
    enum status status;
    size_t length;  /* of text */
    size_t lines;   /* messages in text */
    size_t dropped; /* further messages that no longer fit */
    char text[ERROR_TEXT_SIZE];
};

/*
 * Adds one line, and returns `status`. The first message decides the status that error->status
 * keeps; later ones (all configuration errors are reported in one pass) only add their lines.
 */
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call on `what`: adds ": " and strerror(code). ENOMEM is
 * STATUS_MEMORY, whatever was attempted, and is said as error_memory() says it. */
enum status error_system(struct error *error, enum status status, int code, const char *what);

/* The same on the file `name` of a folder. */
enum status error_file(struct error *error, enum status status, int code, const char *folder,
                       const char *name);

/* STATUS_MEMORY: "out of memory", where nothing more is to be said. */
enum status error_memory(struct error *error);

/* The message of another error in its place, if there is one; returns its status. */
enum status error_pass(struct error *error, const struct error *other);

void error_clear(struct error *error);

#ifdef __cplusplus
}
#endif

#endif
