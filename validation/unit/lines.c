#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/lines.h"
#include "base/memory.h"

static char directory[] = "/tmp/orrery-lines-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    static const char *const files[] = { "plain", "long", "packed.gz" };
    for (size_t i = 0; i < COUNT_OF(files); i++)
        unlink(files[i]);
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Reads all lines of a file into `text`, one '|' after each; returns the status of the end. */
static enum status read_all(const char *path, char *text, size_t size, struct error *error)
{
    struct lines *lines;
    char *line = NULL;
    size_t length = 0;
    text[0] = '\0';
    error_clear(error);
    if (lines_open(path, &lines, error) != STATUS_OK)
        return error->status;
    enum status status;
    while ((status = lines_next(lines, &line, error)) == STATUS_OK && line)
        length += (size_t)snprintf(text + length, size - length, "%s|", line);
    lines_close(lines);
    return status;
}

static void test_line_ends_make_no_difference(void **state)
{
    (void)state;
    static const char *const same[] = { "a\tb\n\nc\n", "a\tb\r\n\r\nc\r\n", "a\tb\n\nc",
                                        "\357\273\277a\tb\n\nc\n" };
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        char text[100];
        struct error error = { 0 };
        write_file("plain", same[i], strlen(same[i]));
        assert_int_equal(read_all("plain", text, sizeof text, &error), STATUS_OK);
        assert_string_equal(text, "a\tb||c|");
    }
}

static void test_a_line_without_an_end(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool cut[3];
    } files[] = { { "a\nb\nc\n", { false, false, false } },
                  { "a\nb\nc", { false, false, true } },
                  { "a\r\nb\r\nc\r", { false, false, true } },
                  { "a\n\nc", { false, false, true } } };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct lines *lines;
        struct error error = { 0 };
        char *line;
        write_file("plain", files[i].bytes, strlen(files[i].bytes));
        assert_int_equal(lines_open("plain", &lines, &error), STATUS_OK);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(lines_next(lines, &line, &error), STATUS_OK);
            assert_non_null(line);
            if (lines_is_cut(lines) != files[i].cut[k])
                fail_msg("file %zu, line %zu", i, k);
        }
        lines_close(lines);
    }
}

static void test_short_files(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        { "", "" }, { "\n", "|" }, { "\xef\xbb\xbf", "|" }, { "\xef", "\xef|" }, { "x", "x|" }
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char text[100];
        struct error error = { 0 };
        write_file("plain", files[i][0], strlen(files[i][0]));
        assert_int_equal(read_all("plain", text, sizeof text, &error), STATUS_OK);
        assert_string_equal(text, files[i][1]);
    }
}

/* Lines of 0, 1, 2 ... 699 letters: their ends fall on every part of a block. */
static void test_blocks_and_marks(void **state)
{
    (void)state;
    enum { LINES = 700 };
    char letters[LINES];
    memset(letters, 'x', sizeof letters);
    FILE *file = fopen("long", "wb");
    assert_non_null(file);
    for (int n = 0; n < LINES; n++)
        fprintf(file, "%.*s\n", n, letters);
    assert_int_equal(fclose(file), 0);

    struct error error = { 0 };
    struct lines *lines;
    struct lines_mark mark = { 0 };
    char *line;
    assert_int_equal(lines_open("long", &lines, &error), STATUS_OK);
    for (size_t n = 0; n < LINES; n++) {
        if (n == 444)
            mark = lines_tell(lines);
        assert_int_equal(lines_next(lines, &line, &error), STATUS_OK);
        assert_int_equal(strlen(line), n);
        assert_int_equal(lines_number(lines), n + 1);
    }
    assert_int_equal(lines_next(lines, &line, &error), STATUS_OK);
    assert_null(line);

    assert_int_equal(lines_seek(lines, mark, &error), STATUS_OK);
    assert_int_equal(lines_next(lines, &line, &error), STATUS_OK);
    assert_int_equal(strlen(line), 444);
    assert_int_equal(lines_number(lines), 445);
    lines_error(lines, &error, "bad %s", "thing");
    assert_string_equal(error.text, "long:445: bad thing");
    lines_close(lines);
}

static void test_a_long_line_is_read_and_an_endless_one_refused(void **state)
{
    (void)state;
    char *bytes = malloc(LINES_LONGEST + 10), *text = malloc(LINES_LONGEST + 10);
    assert_true(bytes && text);
    memset(bytes, 'x', LINES_LONGEST + 10);
    struct error error = { 0 };
    write_file("long", bytes, LINES_LONGEST - 1);
    assert_int_equal(read_all("long", text, LINES_LONGEST + 10, &error), STATUS_OK);
    assert_int_equal(strlen(text), LINES_LONGEST);
    memcpy(bytes, "1\n", 2);
    write_file("long", bytes, LINES_LONGEST + 10);
    assert_int_equal(read_all("long", text, LINES_LONGEST + 10, &error), STATUS_DATA);
    assert_string_equal(error.text,
                        "long:2: longer than 1048576 bytes: this is no table of bodies");
    free(bytes);
    free(text);
}

static void test_binary_is_refused(void **state)
{
    (void)state;
    char text[100];
    struct error error = { 0 };
    write_file("plain", "m,x\n1,\0002\n", 9);
    assert_int_equal(read_all("plain", text, sizeof text, &error), STATUS_DATA);
    assert_string_equal(error.text, "plain:2: byte 3 is 0x00: this is not a text file");
    write_file("plain",
               "\x7f"
               "ELF\x02\x01",
               6);
    assert_int_equal(read_all("plain", text, sizeof text, &error), STATUS_DATA);
    assert_string_equal(error.text, "plain:1: byte 1 is 0x7f: this is not a text file");
}

/* A gzip file of 20000 numbered lines; returns its size. */
static size_t write_packed(void)
{
    gzFile file = gzopen("packed.gz", "wb");
    assert_non_null(file);
    for (int n = 0; n < 20000; n++)
        gzprintf(file, "%d %d\n", n, n * n % 7919);
    assert_int_equal(gzclose(file), Z_OK);
    struct stat about;
    assert_int_equal(stat("packed.gz", &about), 0);
    return (size_t)about.st_size;
}

static void test_compressed_files(void **state)
{
    (void)state;
    enum { SIZE = 400000 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    const size_t size = write_packed();
    struct error error = { 0 };
    assert_int_equal(read_all("packed.gz", text, SIZE, &error), STATUS_OK);
    assert_memory_equal(text, "0 0|1 1|2 4|", 12);
    assert_non_null(strstr(text, "|19999 "));

    char head[8];
    size_t length;
    assert_int_equal(lines_head("packed.gz", head, sizeof head, &length, &error), STATUS_OK);
    assert_int_equal(length, 7);
    assert_string_equal(head, "0 0\n1 1");

    /* Cut short: by the trailer, in the middle of the data, and behind the header. */
    static const size_t keep[] = { 4, 0, 12 };
    for (size_t i = 0; i < COUNT_OF(keep); i++) {
        const size_t left = i == 0 ? size - keep[i] : i == 1 ? size / 2 : keep[i];
        write_packed();
        assert_int_equal(truncate("packed.gz", (off_t)left), 0);
        assert_int_equal(read_all("packed.gz", text, SIZE, &error), STATUS_DATA);
        assert_string_equal(error.text, "packed.gz: the compressed file is cut short");
    }
    /* One flipped bit: the stream or its checksum is wrong. */
    write_packed();
    FILE *file = fopen("packed.gz", "r+b");
    assert_non_null(file);
    fseek(file, (long)(size / 2), SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, (long)(size / 2), SEEK_SET);
    fputc(byte ^ 0x10, file);
    fclose(file);
    assert_int_equal(read_all("packed.gz", text, SIZE, &error), STATUS_DATA);
    assert_string_equal(error.text, "packed.gz: the compressed file is damaged");
    free(text);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    char text[100];
    struct error error = { 0 };
    assert_int_equal(read_all("missing", text, sizeof text, &error), STATUS_NO_INPUT);
    assert_string_equal(error.text, "missing: No such file or directory");
    assert_int_equal(read_all(directory, text, sizeof text, &error), STATUS_NO_INPUT);
    assert_non_null(strstr(error.text, ": Is a directory"));
    assert_int_equal(read_all("/dev/zero", text, sizeof text, &error), STATUS_NO_INPUT);
    assert_string_equal(error.text, "/dev/zero: is not a regular file");
}

/* Just as many bytes as may be, and one line more; going back begins the count anew. */
static void test_lines_without_data_are_counted(void **state)
{
    (void)state;
    enum { LINE = 1 << 16 };
    char *line;
    struct lines *lines;
    struct error error = { 0 };
    char *text = malloc(LINES_EMPTIEST + LINE + 1);
    assert_non_null(text);
    memset(text, '#', LINES_EMPTIEST + LINE);
    for (size_t i = LINE - 1; i < LINES_EMPTIEST + LINE; i += LINE)
        text[i] = '\n';
    text[LINES_EMPTIEST + LINE] = '\0';
    write_file("plain", text, LINES_EMPTIEST + LINE);
    assert_int_equal(lines_open("plain", &lines, &error), STATUS_OK);
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < LINES_EMPTIEST / LINE; i++) {
            assert_int_equal(lines_next(lines, &line, &error), STATUS_OK);
            assert_int_equal(lines_pass_over(lines, &error), STATUS_OK);
        }
        assert_int_equal(lines_next(lines, &line, &error), STATUS_OK);
        if (twice == 0)
            assert_int_equal(lines_seek(lines, (struct lines_mark){ 0, 0 }, &error), STATUS_OK);
    }
    assert_int_equal(lines_pass_over(lines, &error), STATUS_DATA);
    assert_string_equal(error.text, "plain:257: more than 16 MiB of comments and blank lines: "
                                    "this is no table of bodies");
    lines_close(lines);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_ends_make_no_difference),
        cmocka_unit_test(test_a_line_without_an_end),
        cmocka_unit_test(test_short_files),
        cmocka_unit_test(test_blocks_and_marks),
        cmocka_unit_test(test_a_long_line_is_read_and_an_endless_one_refused),
        cmocka_unit_test(test_binary_is_refused),
        cmocka_unit_test(test_compressed_files),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_lines_without_data_are_counted),
    };
    return cmocka_run_group_tests_name("lines", tests, make_directory, remove_directory);
}
