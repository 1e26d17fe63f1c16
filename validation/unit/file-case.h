/* The common part of the tests that read files: a temporary folder for the test, and the file `f`
 * in it. */
#ifndef ORRERY_VALIDATION_UNIT_FILE_CASE_H
#define ORRERY_VALIDATION_UNIT_FILE_CASE_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline char *file_case_directory(void)
{
    static char directory[] = "/tmp/orrery-file-XXXXXX";
    return directory;
}

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(file_case_directory()) && chdir(file_case_directory()) == 0 ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    unlink("f");
    return chdir("/") == 0 ? rmdir(file_case_directory()) : -1;
}

static inline void write_file(const char *text)
{
    FILE *file = fopen("f", "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#endif
