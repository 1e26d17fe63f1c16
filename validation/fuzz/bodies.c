/*
 * The readers of files of bodies: an input is such a file. Every text reader gets it, whatever it
 * looks like; then the one that recognises it, up to the checks of the bodies. Compressed, a file
 * must give the same bits (every fourth is tried: it takes most of the time). HDF5 is left out:
 * what a damaged file does in that library is not ours.
 */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/read.h"
#include "fuzz.h"
#include "initial/initial.h"
#include "run/schema.h"

const char fuzz_corpus[] = "bodies";

enum { PLAIN_FILE, GZIP_FILE, CONFIG_FILE };
static const size_t most_bodies = 1 << 20;

static const char *plain_path, *gzip_path;
static struct config *config; /* bodies from the plain file */

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    struct error error = { 0 };
    struct text text = { 0 };
    plain_path = fuzz_path(PLAIN_FILE, "bodies");
    gzip_path = fuzz_path(GZIP_FILE, "bodies.gz");
    text_print(&text,
               "bodies = { initial = \"file\"; file = \"%s\"; };\n"
               "time = { step = 0.01; end = 1.0; };\n",
               plain_path);
    const char *path = fuzz_path(CONFIG_FILE, "bodies.cfg");
    fuzz_write(path, text.bytes, text.length);
    text_free(&text);
    fuzz_demand(schema_load(path, NULL, 0, &config, &error) == STATUS_OK, error.text);
    return 0;
}

/* The bodies of the file, or NULL. */
static struct bodies *read_file(const struct read_format *format, const char *path, int64_t frame)
{
    struct read_about about;
    const struct read_request request = {
        .path = path, .frame = frame, .wish.units = units_find("pc-msun-kms"), .about = &about
    };
    struct read_shape shape;
    struct error error = { 0 };
    struct bodies *bodies = NULL;
    if (format->measure(format, &request, &shape, &error) != STATUS_OK) {
        fuzz_demand(error.lines > 0, "an error has words");
        return NULL;
    }
    fuzz_demand(shape.systems > 0 && shape.count > 0, "a file that was measured has bodies");
    fuzz_demand(shape.systems * shape.count <= most_bodies, "a body takes some bytes");
    if (bodies_create(shape.systems, shape.count, &bodies, &error) == STATUS_OK &&
        format->read(format, &request, bodies, &error) == STATUS_OK) {
        fuzz_demand(bodies_not_finite(bodies, 0, bodies_length(bodies)) == bodies_length(bodies),
                    "no NaN gets through");
        return bodies;
    }
    fuzz_demand(error.lines > 0, "an error has words");
    bodies_destroy(bodies);
    return NULL;
}

static void compare(const struct bodies *a, const struct bodies *b)
{
    fuzz_demand(a->systems == b->systems && a->count == b->count, "compressed, the same bodies");
    const size_t bytes = bodies_length(a) * sizeof(double);
    fuzz_demand(memcmp(a->m, b->m, bytes) == 0 && memcmp(a->x, b->x, bytes) == 0 &&
                    memcmp(a->vz, b->vz, bytes) == 0 && memcmp(a->id, b->id, bytes) == 0,
                "compressed, the same bits");
}

static void check_compressed(const struct read_format *format, const struct bodies *bodies,
                             const uint8_t *bytes, size_t length)
{
    if (length % 4 != 0 || (length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b))
        return;
    gzFile file = gzopen(gzip_path, "wb1");
    fuzz_demand(file && gzwrite(file, bytes, (unsigned)length) == (int)length &&
                    gzclose(file) == Z_OK,
                "the scratch file can be written");
    struct bodies *again = read_file(format, gzip_path, -1);
    fuzz_demand(again != NULL, "compressed, it is read as well");
    compare(bodies, again);
    bodies_destroy(again);
}

/* As a run does: recognised, read, checked. */
static void create(void)
{
    const struct section *section = config_section(config, "bodies");
    const struct physics physics = { .gravitational_constant = 1.0, .units = units_find("nbody") };
    struct error error = { 0 };
    struct bodies *bodies = NULL;
    struct initial_warnings warnings;
    size_t count;
    if (initial_count(section, 1, &count, &error) == STATUS_OK &&
        initial_create(section, &physics, NULL, 1, count, &bodies, &warnings, &error) == STATUS_OK)
        fuzz_demand(bodies_not_finite(bodies, 0, bodies_length(bodies)) == bodies_length(bodies),
                    "no NaN gets through");
    else
        fuzz_demand(error.lines > 0, "an error has words");
    bodies_destroy(bodies);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length >= 4 && memcmp(bytes, "\x89HDF", 4) == 0)
        return -1;
    fuzz_write(plain_path, bytes, length);
    for (size_t k = 0; read_names[k]; k++) {
        const struct read_format *const format = read_find(read_names[k]);
        struct bodies *bodies = format->open_rows ? read_file(format, plain_path, -1) : NULL;
        if (bodies)
            check_compressed(format, bodies, bytes, length);
        bodies_destroy(bodies);
    }
    bodies_destroy(read_file(&read_xyz, plain_path, 0));
    create();
    return 0;
}
