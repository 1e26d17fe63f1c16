/* JSON documents that are whole or not there, and what a library's exit becomes. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/status.h"

static void test_a_missing_piece_takes_the_whole(void **state)
{
    (void)state;
    json_t *object = json_object(), *array = json_array();
    document_set(&object, "step", json_integer(17));
    document_append(&array, document_number(2.385));
    document_append(&array, document_number(NAN));
    assert_int_equal(json_integer_value(json_object_get(object, "step")), 17);
    assert_int_equal(json_array_size(array), 2);
    assert_true(json_is_null(json_array_get(array, 1)));
    document_append(&array, NULL);
    assert_null(array);
    document_append(&array, json_integer(3));
    assert_null(array);
    document_set(&object, "rows", array);
    assert_null(object);
    document_set(&object, "step", json_integer(18));
    assert_null(object);
}

static void test_objects_are_rows_in_their_order(void **state)
{
    (void)state;
    const struct document_row none[] = { { NULL, NULL } };
    const struct document_row missing[] = {
        { "a", json_integer(17) }, { "b", NULL }, { "c", json_integer(19) }, { NULL, NULL }
    };
    json_t *object = DOCUMENT({ "b", json_integer(17) }, { "a", document_number(NAN) });
    char *text = document_print(object, JSON_COMPACT);
    assert_string_equal(text, "{\"b\":17,\"a\":null}");
    free(text);
    json_decref(object);
    object = document_of(none);
    assert_true(json_is_object(object));
    json_decref(object);
    assert_null(document_of(missing));
}

static void test_text_and_back(void **state)
{
    (void)state;
    bool no_memory = true;
    json_t *document = document_parse("{\"a\": [1, 2.385]}", 17, &no_memory);
    assert_non_null(document);
    assert_false(no_memory);
    char *text = document_print(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    assert_string_equal(text, "{\"a\":[1,2.3849999999999998]}");
    free(text);
    json_decref(document);
    assert_null(document_parse("{\"a\": ", 6, &no_memory));
    assert_false(no_memory);
}

static enum status load(const char *path, struct error *error)
{
    json_t *document;
    *error = (struct error){ 0 };
    const enum status status = document_load(path, &document, error);
    assert_int_equal(!document, status != STATUS_OK);
    json_decref(document);
    return status;
}

static void test_documents_from_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/orrery-document-XXXXXX", path[64];
    struct error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.json", folder);
    assert_int_equal(load(path, &error), STATUS_NO_INPUT);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(load(path, &error), STATUS_NO_INPUT); /* and is not waited for */
    assert_non_null(strstr(error.text, "is not a regular file"));
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"steps\": 40,\n", file);
    fflush(file);
    assert_int_equal(load(path, &error), STATUS_DATA);
    assert_non_null(strstr(error.text, "run.json:2: "));
    fputs("\"verdict\": \"held\"}\n", file);
    fclose(file);
    assert_int_equal(load(path, &error), STATUS_OK);
    struct rlimit files, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = files, none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(load(path, &error), STATUS_IO); /* the file is there, but cannot be read */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    unlink(path);
    rmdir(folder);
}

/* How a child that does this ends, as waitpid() says. */
static int end_of(void (*act)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        act();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void library_exits(void)
{
    memory_watch_libraries();
    exit(2);
}

static void main_exits(void)
{
    memory_watch_libraries();
    memory_finish();
    exit(1); /* as `return STATUS_EXPECT_FAILED` in main() */
}

static void test_the_end_of_a_library(void **state)
{
    (void)state;
    const int exited = end_of(library_exits);
    assert_true(WIFEXITED(exited));
    assert_int_equal(WEXITSTATUS(exited), STATUS_MEMORY);
    assert_int_equal(WEXITSTATUS(end_of(main_exits)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_missing_piece_takes_the_whole),
        cmocka_unit_test(test_objects_are_rows_in_their_order),
        cmocka_unit_test(test_text_and_back),
        cmocka_unit_test(test_documents_from_files),
        cmocka_unit_test(test_the_end_of_a_library),
    };
    return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
