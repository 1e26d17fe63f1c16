/* The common part of the tests of the configuration: a small schema made for these tests, and
 * functions that write config files and read them by it. */
#ifndef ORRERY_VALIDATION_UNIT_CONFIG_CASE_H
#define ORRERY_VALIDATION_UNIT_CONFIG_CASE_H

#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/configuration.h"

/* The schema has all that a schema can have: a group with variants that have keys of their own,
 * groups without variants, and a list. */
static const struct parameter cube_keys[] = {
    { KEY(INTEGER, count), BETWEEN(1, 1e9), .help = "bodies" },
    { KEY(REAL, half_side), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,
      .help = "half the side of the cube" },
};
static const struct parameter file_keys[] = {
    { KEY(PATH, file), .help = "the bodies" },
    { KEY(FLAG, center), BY_DEFAULT(FLAG, false), .help = "replaces the row" },
};
static const struct variant starts[] = {
    { "uniform-cube", "uniform in a cube", cube_keys, COUNT_OF(cube_keys) },
    { "file", "from a file", file_keys, COUNT_OF(file_keys) },
    { "cold-sphere", "at rest", cube_keys, 1 },
};
static const struct variant *start_at(size_t i)
{
    return i < COUNT_OF(starts) ? &starts[i] : NULL;
}

static const char *const boundaries[] = { "open", "periodic", NULL };

static const struct parameter root_keys[] = {
    { KEY(STRING, name), BY_DEFAULT(STRING, "orrery"), .help = "of the run" },
};
static const struct parameter bodies_keys[] = {
    { KEY(INTEGER, seed), BY_DEFAULT(INTEGER, 42), .help = "random seed" },
    { KEY(FLAG, center), BY_DEFAULT(FLAG, true), .help = "move to the centre" },
};
static const struct parameter physics_keys[] = {
    { KEY(REAL, softening), BY_DEFAULT(REAL, 0.0), NOT_NEGATIVE, .dimension = DIMENSION_LENGTH,
      .help = "softening length" },
    { KEY(CHOICE, boundary), BY_DEFAULT(STRING, "open"), .choices = boundaries,
      .help = "of space" },
    { KEY(REAL, box_length), OPTIONAL, POSITIVE, .help = "side of the box" },
};
static const struct parameter time_keys[] = {
    { KEY(REAL, step), POSITIVE, .help = "time step" },
    { KEY(REAL, end), BY_DEFAULT(REAL, 1.0), POSITIVE, .help = "end" },
};
static const struct parameter output_keys[] = {
    { KEY(INTEGER, every), BY_DEFAULT(INTEGER, 1), .minimum = 1, .help = "steps" },
    { KEY(REALS, fractions), BY_DEFAULT(REALS, 0.1, 0.5), POSITIVE_TO(1), .help = "of the mass" },
    { KEY(REALS, between), OPTIONAL, .length = 2, .help = "both bounds" },
    { KEY(VALUES, values), OPTIONAL, .help = "anything" },
};

static void check_physics(const struct section *section, struct error *error)
{
    if (section_choice(section, "boundary") == 1 && !section_has(section, "box_length"))
        section_error(section, "boundary", error, "needs a box_length");
}

static const struct group groups[] = {
    { .name = "", .parameters = root_keys, .parameter_count = COUNT_OF(root_keys) },
    { .name = "bodies",
      .parameters = bodies_keys,
      .parameter_count = COUNT_OF(bodies_keys),
      .variant_key = "initial",
      .variant_help = "where the bodies start",
      .variant = start_at },
    { .name = "physics",
      .parameters = physics_keys,
      .parameter_count = COUNT_OF(physics_keys),
      .check = check_physics },
    { .name = "time", .parameters = time_keys, .parameter_count = COUNT_OF(time_keys) },
    { .name = "outputs",
      .list = true,
      .parameters = output_keys,
      .parameter_count = COUNT_OF(output_keys) },
};
static const struct schema schema = { groups, COUNT_OF(groups) };

/* The groups that a config file must have, to which tests add more: bodies on line 1, time on line
 * 2. */
#define BODIES "bodies = { initial = \"uniform-cube\"; count = 8; };\n"
#define TIME "time = { step = 0.25; };\n"

/* Makes a directory for one test, and changes to it. */
static int enter_directory(void **state)
{
    char name[] = "/tmp/orrery-config-XXXXXX";
    if (!mkdtemp(name) || chdir(name) != 0)
        return -1;
    *state = strdup(name);
    return 0;
}

static int leave_directory(void **state)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    const int result = chdir("/") + system(command);
    free(*state);
    return result;
}

static inline void put_bytes(const char *name, const char *bytes, size_t length)
{
    FILE *stream = fopen(name, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

static inline void put(const char *name, const char *bytes)
{
    put_bytes(name, bytes, strlen(bytes));
}

/* Reads run.cfg by the schema, with one override of a key from the command line; NULL: none. */
static inline enum status load(const char *override, struct config **config, struct error *error)
{
    const char *const presets[] = { "presets" };
    const struct config_source source = { .path = "run.cfg",
                                          .overrides = &override,
                                          .override_count = override ? 1 : 0,
                                          .include_directories = presets,
                                          .include_directory_count = 1 };
    *error = (struct error){ 0 };
    return config_load(&source, &schema, config, error);
}

/* Writes a config file, and checks that reading it fails with exactly this message. */
static inline void refused(const char *bytes, const char *override, const char *message)
{
    struct config *config;
    struct error error;
    put("run.cfg", bytes);
    const enum status status = load(override, &config, &error);
    assert_null(config);
    assert_string_equal(error.text, message);
    assert_int_equal(status, STATUS_CONFIG);
}

/* Writes a config file, and checks that it is read without an error. The caller owns the result. */
static inline struct config *accepted(const char *bytes, const char *override)
{
    struct config *config;
    struct error error;
    put("run.cfg", bytes);
    if (load(override, &config, &error))
        fail_msg("refused: %s", error.text);
    return config;
}

#define config_test(function)                                                                      \
    cmocka_unit_test_setup_teardown(function, enter_directory, leave_directory)

#endif
