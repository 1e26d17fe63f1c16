/* Run directories and the files that grow in them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/csv.h"
#include "formats/xyz.h"
#include "output/directory.h"
#include "output/gzip.h"
#include "output/stream.h"
#include "sample.h"

static struct directory *scratch(char path[64])
{
    struct directory *directory;
    struct error error = { 0 };
    strcpy(path, "output-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_int_equal(directory_open(path, DIRECTORY_NEW, &directory, &error), STATUS_OK);
    return directory;
}

static char *content(struct directory *directory, const char *name)
{
    struct error error = { 0 };
    size_t length;
    char *text = directory_read_file(directory, name, &length, &error);
    assert_non_null(text);
    return text;
}

static void test_stream_is_trimmed_to_its_mark(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    assert_int_equal(stream_open(directory, "a.csv", NULL, &stream, &error), STATUS_OK);
    stream_print(stream, "%d,%s\n", 1, "one");
    const struct stream_mark mark = stream_mark(stream);
    stream_print(stream, "2,two\n3,th");
    assert_int_equal(stream_close(stream, &error), STATUS_OK);

    assert_int_equal(stream_open(directory, "a.csv", &mark, &stream, &error), STATUS_OK);
    char *untouched = content(directory, "a.csv");
    assert_string_equal(untouched, "1,one\n2,two\n3,th");
    free(untouched);
    assert_int_equal(stream_trim(stream, &error), STATUS_OK);
    stream_print(stream, "2,zwei\n");
    const struct stream_mark end = stream_mark(stream);
    assert_int_equal(stream_close(stream, &error), STATUS_OK);
    char *text = content(directory, "a.csv");
    assert_string_equal(text, "1,one\n2,zwei\n");
    assert_int_equal(end.length, strlen(text));
    free(text);

    /* Shorter than the mark, or other bytes: refused, and nothing is cut. */
    const struct stream_mark longer = { 1000, 0 }, other = { 3, 12345 };
    assert_int_equal(stream_open(directory, "a.csv", &longer, &stream, &error), STATUS_IO);
    error_clear(&error);
    assert_int_equal(stream_open(directory, "a.csv", &other, &stream, &error), STATUS_IO);
    text = content(directory, "a.csv");
    assert_string_equal(text, "1,one\n2,zwei\n");
    free(text);
    directory_take(directory, "a.csv");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

static void write_over(struct directory *directory, off_t place, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/a.csv", directory_path(directory));
    const int fd = open(path, O_WRONLY); /* the program's own way only appends */
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, strlen(text), place), strlen(text));
    close(fd);
}

static void test_a_stream_knows_its_file(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    assert_int_equal(stream_open(directory, "a.csv", NULL, &stream, &error), STATUS_OK);
    for (int i = 0; i < 20000; i++) /* more than one buffer holds */
        stream_print(stream, "%d,%s\n", i, "row");
    const off_t end = (off_t)stream_mark(stream).length;
    assert_int_equal(stream_flush(stream, false, &error), STATUS_OK);
    assert_int_equal(stream_look(stream, directory, &error), STATUS_OK);
    /* Its last bytes, its length, its name. */
    write_over(directory, end - 3, "??");
    assert_int_equal(stream_look(stream, directory, &error), STATUS_IO);
    error_clear(&error);
    write_over(directory, end - 3, "ow");
    assert_int_equal(stream_look(stream, directory, &error), STATUS_OK);
    write_over(directory, end, "x");
    assert_int_equal(stream_look(stream, directory, &error), STATUS_IO);
    error_clear(&error);
    stream_print(stream, "the next row\n");
    assert_int_equal(stream_flush(stream, false, &error), STATUS_IO);
    error_clear(&error);
    directory_take(directory, "a.csv");
    assert_int_equal(stream_look(stream, directory, &error), STATUS_IO);
    error_clear(&error);
    assert_int_equal(directory_replace_file(directory, "a.csv", "x", 1, &error), STATUS_OK);
    assert_int_equal(stream_look(stream, directory, &error), STATUS_IO);
    error_clear(&error);
    assert_int_equal(stream_close(stream, &error), STATUS_OK); /* it has been told */
    directory_take(directory, "a.csv");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

/* A line that is too long for its buffer is not left out without a word. */
static void test_a_line_is_whole_or_an_error(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    assert_int_equal(stream_open(directory, "a.csv", NULL, &stream, &error), STATUS_OK);
    stream_print(stream, "%01000d\n", 1);
    assert_int_equal(stream_flush(stream, false, &error), STATUS_OK);
    stream_print(stream, "%02000d\n", 2);
    assert_int_equal(stream_flush(stream, false, &error), STATUS_IO);
    assert_non_null(strstr(error.text, "a.csv"));
    stream_close(stream, &error);
    directory_take(directory, "a.csv");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* Tests that the reading of what was marked, compressing and unpacking end early with no file
 * changed, and do all where nobody wants them to end any more. */
static void test_long_work_on_files_is_interrupted(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    assert_int_equal(stream_open(directory, "a.csv", NULL, &stream, &error), STATUS_OK);
    stream_print(stream, "1,one\n");
    assert_int_equal(stream_flush(stream, true, &error), STATUS_OK);
    const struct stream_mark mark = stream_mark(stream);
    assert_int_equal(stream_close(stream, &error), STATUS_OK);
    assert_int_equal(gzip_pack(directory, "a.csv", "b.gz", &error), STATUS_OK);
    for (int asked = 1; asked >= 0; asked--) {
        const enum status expected = asked ? STATUS_STOPPED : STATUS_OK;
        struct interruption interruption = { .asked = always };
        directory_lend(directory, asked ? &interruption : NULL);
        assert_int_equal(stream_check(directory, "a.csv", &mark, &error), expected);
        error_clear(&error);
        assert_int_equal(gzip_pack(directory, "a.csv", "a.gz", &error), expected);
        error_clear(&error);
        assert_int_equal(gzip_unpack(directory, "b.gz", "b.csv", &error), expected);
        error_clear(&error);
        assert_int_equal(directory_has(directory, "a.gz"), !asked);
        assert_int_equal(directory_has(directory, "b.csv"), !asked);
        assert_false(directory_has(directory, "a.gz.orrery.tmp") ||
                     directory_has(directory, "b.csv.orrery.tmp"));
    }
    static const char *const names[] = { "a.csv", "a.gz", "b.csv", "b.gz" };
    for (size_t k = 0; k < COUNT_OF(names); k++)
        directory_take(directory, names[k]);
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

static void test_a_log_goes_on_behind_half_a_line(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *log;
    for (int times = 0; times < 2; times++) {
        assert_int_equal(stream_append(directory, "run.log", &log, &error), STATUS_OK);
        stream_print(log, "half");
        assert_int_equal(stream_close(log, &error), STATUS_OK);
    }
    char *text = content(directory, "run.log");
    assert_string_equal(text, "half\nhalf");
    free(text);
    directory_take(directory, "run.log");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

static void test_links_are_not_followed(void **state)
{
    (void)state;
    char path[64], link_path[96];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    snprintf(link_path, sizeof link_path, "%s/a.csv", path);
    assert_int_equal(symlink("/dev/null", link_path), 0);
    assert_int_equal(stream_open(directory, "a.csv", NULL, &stream, &error), STATUS_CANT_CREATE);
    assert_int_equal(unlink(link_path), 0);
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

static void test_a_locked_directory_is_refused(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path), *second;
    struct error error = { 0 };
    assert_int_equal(directory_open(path, DIRECTORY_NEW, &second, &error), STATUS_CANT_CREATE);
    assert_non_null(strstr(error.text, "in use by process"));
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

static void test_force_removes_what_the_manifest_names(void **state)
{
    (void)state;
    static const char manifest[] =
        "{\"program\": {\"name\": \"orrery\"}, "
        "\"format\": \"orrery run\", \"files\": [\"run.json\", \"a.csv\", \"../escape\", "
        "\"plots/p.svg\", \"sub/b.csv\"]}";
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    assert_int_equal(
        directory_replace_file(directory, "run.json", manifest, strlen(manifest), &error),
        STATUS_OK);
    assert_int_equal(directory_replace_file(directory, "a.csv", "1\n", 2, &error), STATUS_OK);
    assert_int_equal(directory_replace_file(directory, "mine.txt", "x", 1, &error), STATUS_OK);
    directory_close(directory);

    assert_int_equal(directory_open(path, DIRECTORY_NEW, &directory, &error), STATUS_CANT_CREATE);
    error_clear(&error);
    assert_int_equal(directory_open(path, DIRECTORY_FORCE, &directory, &error), STATUS_OK);
    const char *const names[] = { "run.json", "a.csv", "mine.txt" };
    assert_int_equal(directory_claim(directory, names, 3, &error), STATUS_CANT_CREATE);
    assert_true(directory_has(directory, "a.csv"));
    error_clear(&error);
    assert_int_equal(directory_claim(directory, names, 2, &error), STATUS_OK);
    assert_false(directory_has(directory, "run.json"));
    assert_false(directory_has(directory, "a.csv"));
    assert_true(directory_has(directory, "mine.txt"));
    directory_take(directory, "mine.txt");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

/* Every column of a frame with numbers that are exact: two systems of two bodies, in a box of 8
 * that one body has left. */
static void test_the_columns_of_a_frame(void **state)
{
    (void)state;
    char path[64], problem[XYZ_PROBLEM_SIZE];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    struct bodies *b = sample_create(2, 2);
    double *arrays[BODIES_REALS], phi[2 * BODIES_PADDING];
    bodies_reals(b, arrays);
    for (size_t k = 0; k < BODIES_REALS; k++)
        for (size_t i = 0; i < bodies_length(b); i++)
            arrays[k][i] = 0.25 * (double)k + (i >= b->stride ? 0.5 : 0.125) * (double)(i % 2 + 1);
    for (size_t i = 0; i < bodies_length(b); i++)
        phi[i] = -1.5 - (double)(i % 2);
    b->x[0] = 4.5; /* which is -3.5 in the box from -4 to 4 */
    const struct physics physics = { .boundary = BOUNDARY_PERIODIC, .box_length = 8 };
    const struct moment now = {
        .step = 7, .time = 0.75, .physics = &physics, .bodies = b, .phi = phi
    };
    struct xyz_frame frame = { .digits = 17 };
    assert_true(xyz_frame_choose(
        &frame, "species pos velo mass id force kinetic_energy local_energy", problem));
    assert_int_equal(frame.needs, NEED_STATE | NEED_ACCELERATIONS | NEED_POTENTIALS);
    assert_int_equal(stream_open(directory, "a.xyz", NULL, &stream, &error), STATUS_OK);
    xyz_frame_write(&frame, stream, &now);
    assert_int_equal(stream_close(stream, &error), STATUS_OK);
    char *text = content(directory, "a.xyz");
    struct text expected = { 0 };
    text_print(&expected, "4\nLattice=\"8 0 0 0 8 0 0 0 8\" Origin=\"-4 -4 -4\" pbc=\"T T T\" "
                          "Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1:id:I:1:force:R:3:"
                          "kinetic_energy:R:1:local_energy:R:1:cluster:I:1 Time=0.75 Step=7\n");
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 2; i++) {
            const double c = (s ? 0.5 : 0.125) * (double)(i + 1), m = c;
            const double vx = 1 + c, vy = 1.25 + c, vz = 1.5 + c;
            text_print(&expected, "X %g %g %g %g %g %g %g %zu %.17g %.17g %.17g %.17g %.17g %zu\n",
                       s + i ? 0.25 + c : -3.5, 0.5 + c, 0.75 + c, vx, vy, vz, m, i + 1,
                       m * (1.75 + c), m * (2 + c), m * (2.25 + c),
                       0.5 * m * (vx * vx + vy * vy + vz * vz), m * (-1.5 - (double)i), s + 1);
        }
    assert_string_equal(text, expected.bytes);
    text_free(&expected);
    free(text);
    bodies_destroy(b);
    directory_take(directory, "a.xyz");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

/* One body in three, from the first of each system on: of five these are the first and the fourth.
 */
static void test_a_thin_frame(void **state)
{
    (void)state;
    char path[64], problem[XYZ_PROBLEM_SIZE];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    struct bodies *b = sample_create(2, 5);
    const struct physics physics = { .boundary = BOUNDARY_OPEN };
    const struct moment now = { .time = 0.75, .physics = &physics, .bodies = b };
    struct xyz_frame frame = { .digits = 17, .thin = 3 };
    assert_true(xyz_frame_choose(&frame, "id pos", problem));
    assert_int_equal(stream_open(directory, "a.xyz", NULL, &stream, &error), STATUS_OK);
    xyz_frame_write(&frame, stream, &now);
    assert_int_equal(stream_close(stream, &error), STATUS_OK);
    char *text = content(directory, "a.xyz");
    int rows[4][2], count;
    const char *const bodies = strchr(strchr(text, '\n') + 1, '\n');
    assert_int_equal(sscanf(text, "%d", &count), 1);
    assert_int_equal(count, 4);
    assert_int_equal(
        sscanf(bodies, "%d %*f %*f %*f %d %d %*f %*f %*f %d %d %*f %*f %*f %d %d %*f %*f %*f %d",
               &rows[0][0], &rows[0][1], &rows[1][0], &rows[1][1], &rows[2][0], &rows[2][1],
               &rows[3][0], &rows[3][1]),
        8);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(rows[k][0], b->id[(size_t)(k / 2) * b->stride + (size_t)(3 * (k % 2))]);
        assert_int_equal(rows[k][1], k / 2 + 1);
    }
    free(text);
    bodies_destroy(b);
    directory_take(directory, "a.xyz");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

/* The name of a file is as long as the system lets it be. */
static void test_the_name_of_a_file_in_a_table(void **state)
{
    (void)state;
    enum { LENGTH = 3000 };
    char path[64], name[LENGTH + 1], wanted[LENGTH + 32];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct stream *stream;
    const struct moment now = { .time = 0.5, .step = 3 };
    const double value = 2.0;
    memset(name, 'n', LENGTH);
    name[LENGTH] = '\0';
    name[1] = ',';
    snprintf(wanted, sizeof wanted, "\"%s\",3,0.5,2\n", name);
    assert_int_equal(stream_open(directory, "t.csv", NULL, &stream, &error), STATUS_OK);
    csv_row(stream, &now, false, 0, name, &value, 1);
    assert_int_equal(stream_flush(stream, false, &error), STATUS_OK);
    char *text = content(directory, "t.csv");
    assert_string_equal(text, wanted);
    free(text);
    /* Bytes that could not be made are reported like a failed write, and memory as such. */
    stream_fail(stream, ENOMEM);
    assert_int_equal(stream_close(stream, &error), STATUS_MEMORY);
    directory_take(directory, "t.csv");
    directory_close(directory);
    assert_int_equal(rmdir(path), 0);
}

/* More than one block of the compressor in one call. */
static void test_gzip_takes_what_it_gets(void **state)
{
    (void)state;
    enum { LENGTH = 300000 };
    char path[] = "output-test-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    unsigned char *const bytes = malloc(LENGTH), *const read = malloc(LENGTH + 1);
    assert_true(bytes && read);
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)(i / 7 + i / 65536);
    struct gzip *gzip = gzip_create(fd);
    assert_non_null(gzip);
    assert_int_equal(gzip_write(gzip, bytes, LENGTH), 0);
    assert_int_equal(gzip_end(gzip), 0);
    assert_int_equal(close(fd), 0);
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(gzread(file, read, LENGTH + 1), LENGTH);
    assert_memory_equal(read, bytes, LENGTH);
    gzclose(file);
    free(bytes);
    free(read);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_columns_of_a_frame),
        cmocka_unit_test(test_stream_is_trimmed_to_its_mark),
        cmocka_unit_test(test_a_stream_knows_its_file),
        cmocka_unit_test(test_a_line_is_whole_or_an_error),
        cmocka_unit_test(test_long_work_on_files_is_interrupted),
        cmocka_unit_test(test_a_log_goes_on_behind_half_a_line),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_a_thin_frame),
        cmocka_unit_test(test_the_name_of_a_file_in_a_table),
        cmocka_unit_test(test_gzip_takes_what_it_gets),
        cmocka_unit_test(test_a_locked_directory_is_refused),
        cmocka_unit_test(test_force_removes_what_the_manifest_names),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
