/* The checkpoint container: what is put is got, and no damage goes unseen. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/checkpoint.h"

static const double reals[] = { 2.385, -0.0, INFINITY, 1e-310, 7.25, 8.5 };
static const uint64_t integers[] = { 3, UINT64_MAX, 0 };

/* A directory of its own under the build's; the caller removes it. */
static struct directory *scratch(char path[64])
{
    struct directory *directory;
    struct error error = { 0 };
    strcpy(path, "checkpoint-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_int_equal(directory_open(path, DIRECTORY_NEW, &directory, &error), STATUS_OK);
    return directory;
}

static void save(struct directory *directory, uint64_t step)
{
    struct error error = { 0 };
    struct checkpoint_writer *writer;
    assert_int_equal(checkpoint_begin(directory, &writer, &error), STATUS_OK);
    checkpoint_put_words(writer, "step", &step, 1, 1, 1);
    checkpoint_put_text(writer, "config", "time = { step = 0.01; };");
    checkpoint_put_words(writer, "x", reals, 2, 2, 3); /* two rows of two, three apart */
    checkpoint_put_words(writer, "id", integers, 1, COUNT_OF(integers), 0);
    assert_int_equal(checkpoint_commit(writer, true, &error), STATUS_OK);
}

static void clean(struct directory *directory, const char *path)
{
    directory_take(directory, checkpoint_name);
    directory_take(directory, checkpoint_previous);
    directory_close(directory);
    assert_int_equal(rmdir(path), 0); /* no litter */
}

static void test_what_is_put_is_got(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    save(directory, 41);
    save(directory, 42);
    struct error error = { 0 };
    struct checkpoint *checkpoint;
    uint64_t step = 0, id[3];
    double x[6] = { 0 };

    assert_int_equal(checkpoint_open(directory, checkpoint_previous, &checkpoint, &error),
                     STATUS_OK);
    assert_int_equal(checkpoint_get_words(checkpoint, "step", &step, 1, 1, 1, &error), STATUS_OK);
    assert_int_equal(step, 41);
    checkpoint_close(checkpoint);

    assert_int_equal(checkpoint_open(directory, checkpoint_name, &checkpoint, &error), STATUS_OK);
    assert_int_equal(checkpoint_get_words(checkpoint, "step", &step, 1, 1, 1, &error), STATUS_OK);
    assert_int_equal(step, 42);
    assert_int_equal(checkpoint_get_words(checkpoint, "x", x, 2, 2, 3, &error), STATUS_OK);
    const double expected[] = { reals[0], reals[1], 0.0, reals[3], reals[4], 0.0 };
    assert_memory_equal(x, expected, sizeof expected);
    assert_int_equal(checkpoint_get_words(checkpoint, "id", id, 1, 3, 0, &error), STATUS_OK);
    assert_memory_equal(id, integers, sizeof integers);
    char *text = checkpoint_get_text(checkpoint, "config", &error);
    assert_string_equal(text, "time = { step = 0.01; };");
    free(text);

    assert_int_equal(checkpoint_get_words(checkpoint, "y", x, 1, 1, 1, &error), STATUS_DATA);
    error_clear(&error);
    assert_int_equal(checkpoint_get_words(checkpoint, "x", x, 1, 5, 5, &error), STATUS_DATA);
    checkpoint_close(checkpoint);
    clean(directory, path);
}

/* Every truncation and every flipped bit. */
static void test_damage_is_seen(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    save(directory, 7);
    struct error error = { 0 };
    size_t length;
    char *bytes = directory_read_file(directory, checkpoint_name, &length, &error);
    assert_non_null(bytes);
    struct checkpoint *checkpoint;
    for (size_t cut = 0; cut < length; cut++) {
        error_clear(&error);
        if (checkpoint_parse("cut", bytes, cut, &checkpoint, &error) != STATUS_DATA)
            fail_msg("%zu of %zu bytes were accepted", cut, length);
    }
    bytes[8]++; /* the version, before anything that depends on it is judged */
    error_clear(&error);
    assert_int_equal(checkpoint_parse("a", bytes, length, &checkpoint, &error), STATUS_DATA);
    assert_string_equal(error.text, "a: is a checkpoint of another format version");
    bytes[8]--;
    for (size_t bit = 0; bit < 8 * length; bit++) {
        error_clear(&error);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        if (checkpoint_parse("flipped", bytes, length, &checkpoint, &error) != STATUS_DATA)
            fail_msg("bit %zu was flipped unseen", bit);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    }
    error_clear(&error);
    assert_int_equal(checkpoint_parse("whole", bytes, length, &checkpoint, &error), STATUS_OK);
    checkpoint_close(checkpoint);
    free(bytes);
    clean(directory, path);
}

/* A damaged one must not take the place of the good previous one. */
static void test_a_damaged_one_is_not_kept(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    save(directory, 1);
    save(directory, 2);
    assert_int_equal(directory_replace_file(directory, checkpoint_name, "damaged", 7, &error),
                     STATUS_OK);
    struct checkpoint_writer *writer;
    assert_int_equal(checkpoint_begin(directory, &writer, &error), STATUS_OK);
    checkpoint_put_text(writer, "config", "3");
    assert_int_equal(checkpoint_commit(writer, false, &error), STATUS_OK);
    struct checkpoint *checkpoint;
    uint64_t step = 0;
    assert_int_equal(checkpoint_open(directory, checkpoint_previous, &checkpoint, &error),
                     STATUS_OK);
    assert_int_equal(checkpoint_get_words(checkpoint, "step", &step, 1, 1, 1, &error), STATUS_OK);
    assert_int_equal(step, 1);
    checkpoint_close(checkpoint);
    clean(directory, path);
}

/* Several parts in a row, rows with padding between them, and text longer than a part. */
static void test_long_sections(void **state)
{
    (void)state;
    enum { ROWS = 3, COUNT = 20011, STRIDE = 20016, TEXT = 300000 };
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    double *values = calloc((size_t)ROWS * STRIDE, sizeof *values), *got;
    char *text = calloc(1, TEXT + 1);
    assert_non_null(values);
    assert_non_null(text);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < COUNT; i++)
            values[r * STRIDE + i] = 1.0 / (double)(1 + r * COUNT + i);
    memset(text, 'x', TEXT);
    struct checkpoint_writer *writer;
    assert_int_equal(checkpoint_begin(directory, &writer, &error), STATUS_OK);
    checkpoint_put_words(writer, "values", values, ROWS, COUNT, STRIDE);
    checkpoint_put_text(writer, "text", text);
    checkpoint_put_words(writer, "nothing", values, 1, 0, 0);
    assert_int_equal(checkpoint_commit(writer, true, &error), STATUS_OK);

    struct checkpoint *checkpoint;
    assert_int_equal(checkpoint_open(directory, checkpoint_name, &checkpoint, &error), STATUS_OK);
    got = calloc((size_t)ROWS * STRIDE, sizeof *got);
    assert_non_null(got);
    assert_int_equal(checkpoint_get_words(checkpoint, "values", got, ROWS, COUNT, STRIDE, &error),
                     STATUS_OK);
    assert_memory_equal(got, values, (size_t)ROWS * STRIDE * sizeof *got);
    assert_int_equal(checkpoint_get_words(checkpoint, "nothing", got, 1, 0, 0, &error), STATUS_OK);
    char *text_got = checkpoint_get_text(checkpoint, "text", &error);
    assert_string_equal(text_got, text);
    free(text_got);
    free(got);
    free(text);
    free(values);
    checkpoint_close(checkpoint);
    clean(directory, path);
}

static void test_abandoned_leaves_nothing(void **state)
{
    (void)state;
    char path[64];
    struct directory *directory = scratch(path);
    struct error error = { 0 };
    struct checkpoint_writer *writer;
    assert_int_equal(checkpoint_begin(directory, &writer, &error), STATUS_OK);
    checkpoint_put_text(writer, "config", "x");
    checkpoint_abandon(writer);
    assert_false(directory_has(directory, checkpoint_name));
    clean(directory, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_put_is_got),        cmocka_unit_test(test_damage_is_seen),
        cmocka_unit_test(test_a_damaged_one_is_not_kept), cmocka_unit_test(test_long_sections),
        cmocka_unit_test(test_abandoned_leaves_nothing),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
