/*
 * Extended XYZ, as OVITO's reader wants it (docs/manual/outputs.md): one frame after the other,
 * all systems in each, cell, time and step in the comment line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/cell.h"
#include "output/output.h"

struct xyz;
struct xyz_column {
    const char *name;     /* in `columns` */
    const char *property; /* in Properties= */
    unsigned needs;
    void (*write)(const struct xyz *xyz, const struct moment *now, size_t index);
};

enum { MAX_COLUMNS = 16 };

struct xyz {
    struct output output;
    int digits;
    const struct xyz_column *columns[MAX_COLUMNS];
    size_t column_count;
    struct cell cell; /* of the frame being written */
};

/* --- columns -----------------------------------------------------------------------------------
 */

static void put_integer(const struct xyz *xyz, int64_t value)
{
    stream_print(xyz->output.stream, "%" PRId64, value);
}

static void put_real(const struct xyz *xyz, double value)
{
    stream_real(xyz->output.stream, value, xyz->digits);
}

static void put_vector(const struct xyz *xyz, double x, double y, double z)
{
    put_real(xyz, x);
    stream_write(xyz->output.stream, " ", 1);
    put_real(xyz, y);
    stream_write(xyz->output.stream, " ", 1);
    put_real(xyz, z);
}

static void write_species(const struct xyz *xyz, const struct moment *now, size_t index)
{
    (void)now, (void)index;
    stream_write(xyz->output.stream, "X", 1);
}

/* Into the cell; the motion itself is never wrapped. */
static double wrapped(const struct cell *cell, double x)
{
    return cell->periodic ? x - cell->side * floor((x - cell->origin) / cell->side) : x;
}

static void write_position(const struct xyz *xyz, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_vector(xyz, wrapped(&xyz->cell, b->x[i]), wrapped(&xyz->cell, b->y[i]),
               wrapped(&xyz->cell, b->z[i]));
}

static void write_velocity(const struct xyz *xyz, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_vector(xyz, b->vx[i], b->vy[i], b->vz[i]);
}

static void write_force(const struct xyz *xyz, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_vector(xyz, b->m[i] * b->ax[i], b->m[i] * b->ay[i], b->m[i] * b->az[i]);
}

static void write_mass(const struct xyz *xyz, const struct moment *now, size_t i)
{
    put_real(xyz, now->bodies->m[i]);
}

static void write_id(const struct xyz *xyz, const struct moment *now, size_t i)
{
    put_integer(xyz, now->bodies->id[i]);
}

static void write_cluster(const struct xyz *xyz, const struct moment *now, size_t i)
{
    put_integer(xyz, (int64_t)(i / now->bodies->stride) + 1);
}

static void write_kinetic(const struct xyz *xyz, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_real(xyz,
             0.5 * b->m[i] * (b->vx[i] * b->vx[i] + b->vy[i] * b->vy[i] + b->vz[i] * b->vz[i]));
}

static void write_potential(const struct xyz *xyz, const struct moment *now, size_t i)
{
    put_real(xyz, now->bodies->m[i] * now->phi[i]);
}

static const struct xyz_column columns[] = {
    { "species", "species:S:1", 0, write_species },
    { "pos", "pos:R:3", NEED_STATE, write_position },
    { "velo", "velo:R:3", NEED_STATE, write_velocity },
    { "mass", "mass:R:1", 0, write_mass },
    { "id", "id:I:1", 0, write_id },
    { "cluster", "cluster:I:1", 0, write_cluster },
    { "force", "force:R:3", NEED_ACCELERATIONS, write_force },
    { "kinetic_energy", "kinetic_energy:R:1", NEED_STATE, write_kinetic },
    { "local_energy", "local_energy:R:1", NEED_POTENTIALS, write_potential },
};

/* --- the class ---------------------------------------------------------------------------------
 */

/* The table's row for the `length` letters at `word`. */
static const struct xyz_column *find_column(const char *word, size_t length)
{
    for (size_t k = 0; k < COUNT_OF(columns); k++)
        if (strlen(columns[k].name) == length && strncmp(columns[k].name, word, length) == 0)
            return &columns[k];
    return NULL;
}

/* Turns the words of the key `columns` into rows of the table. */
static enum status choose_columns(struct xyz *xyz, const struct section *section,
                                  struct error *error)
{
    static const char blanks[] = " ,\t";
    for (const char *word = section_string(section, "columns");;) {
        word += strspn(word, blanks);
        const size_t length = strcspn(word, blanks);
        if (length == 0)
            break;
        const struct xyz_column *column = find_column(word, length);
        if (!column || xyz->column_count == MAX_COLUMNS)
            return section_error(section, "columns", error,
                                 "'%.*s' is not one of species, pos, velo, mass, id, cluster, "
                                 "force, kinetic_energy, local_energy",
                                 (int)length, word);
        for (size_t k = 0; k < xyz->column_count; k++)
            if (xyz->columns[k] == column)
                return section_error(section, "columns", error, "%s is there twice", column->name);
        xyz->columns[xyz->column_count++] = column;
        xyz->output.needs |= column->needs;
        word += length;
    }
    for (size_t k = 0; k < xyz->column_count; k++)
        if (xyz->columns[k]->write == write_position)
            return STATUS_OK;
    return section_error(section, "columns", error, "must have pos");
}

extern const struct output_class output_xyz;

static enum status xyz_close(struct output *output, struct error *error)
{
    if (!output)
        return STATUS_OK;
    const enum status status = stream_close(output->stream, error);
    free(output);
    return status;
}

static enum status xyz_open(const struct section *section, struct directory *directory,
                            const struct stream_mark *mark, struct output **result,
                            struct error *error)
{
    *result = NULL;
    struct xyz *xyz = calloc(1, sizeof *xyz);
    if (!xyz)
        return error_set(error, STATUS_MEMORY, "out of memory");
    xyz->output.class_ = &output_xyz;
    xyz->output.grows = true;
    xyz->output.file = section_string(section, "file");
    xyz->digits = (int)section_integer(section, "digits");
    enum status status = choose_columns(xyz, section, error);
    if (!status && (strchr(xyz->output.file, '/') || xyz->output.file[0] == '.'))
        status = section_error(section, "file", error, "must be a plain file name");
    if (!status && directory)
        status = stream_open(directory, xyz->output.file, mark, &xyz->output.stream, error);
    if (status)
        free(xyz);
    else
        *result = &xyz->output;
    return status;
}

static void write_comment_line(struct xyz *xyz, const struct moment *now)
{
    struct stream *stream = xyz->output.stream;
    const struct cell *cell = &xyz->cell;
    const char *pbc = cell->periodic ? "T T T" : "F F F";
    stream_print(stream, "Lattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" ", cell->side, cell->side,
                 cell->side);
    stream_print(stream, "Origin=\"%.17g %.17g %.17g\" pbc=\"%s\" Properties=", cell->origin,
                 cell->origin, cell->origin, pbc);
    for (size_t k = 0; k < xyz->column_count; k++)
        stream_print(stream, "%s%s", k ? ":" : "", xyz->columns[k]->property);
    stream_print(stream, " Time=%.17g Step=%" PRIu64 "\n", now->time, now->step);
}

/* Of an ensemble, every frame says which system a body belongs to. */
static void add_cluster_column(struct xyz *xyz)
{
    for (size_t k = 0; k < xyz->column_count; k++)
        if (xyz->columns[k]->write == write_cluster)
            return;
    if (xyz->column_count < MAX_COLUMNS)
        xyz->columns[xyz->column_count++] = find_column("cluster", strlen("cluster"));
}

static enum status xyz_write(struct output *output, const struct moment *now, struct error *error)
{
    struct xyz *xyz = (struct xyz *)output;
    if (now->bodies->systems > 1)
        add_cluster_column(xyz);
    const struct bodies *bodies = now->bodies;
    xyz->cell = cell_of(now->physics, now->bodies);
    stream_print(output->stream, "%zu\n", bodies->systems * bodies->count);
    write_comment_line(xyz, now);
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = 0; i < bodies->count; i++) {
            for (size_t k = 0; k < xyz->column_count; k++) {
                if (k > 0)
                    stream_write(output->stream, " ", 1);
                xyz->columns[k]->write(xyz, now, s * bodies->stride + i);
            }
            stream_write(output->stream, "\n", 1);
        }
    return stream_flush(output->stream, false, error);
}

/* About `digits` and seven more characters a number. */
static double xyz_event_bytes(const struct section *section, double bodies)
{
    return bodies * 8.0 * (double)(section_integer(section, "digits") + 5);
}

static const struct parameter parameters[] = {
    { .key = "file",
      .type = PARAMETER_STRING,
      .standard = "\"trajectory.xyz\"",
      .help = "Its name in the run directory." },
    { .key = "columns",
      .type = PARAMETER_STRING,
      .standard = "\"species pos velo mass id\"",
      .help = "What to write of each body, in this order: species, pos, velo, mass, id, cluster "
              "(the system), force, kinetic_energy, local_energy (potential energy)." },
    { .key = "digits",
      .type = PARAMETER_INTEGER,
      .standard = "17",
      .minimum = 1,
      .maximum = 17,
      .help = "Significant digits of reals: 17 restart exactly, 7 are enough to look at." },
};

const struct output_class output_xyz = {
    .variant = { "xyz", "Trajectory in extended XYZ, for OVITO and ASE.", parameters,
                 COUNT_OF(parameters) },
    .open = xyz_open,
    .write = xyz_write,
    .close = xyz_close,
    .event_bytes = xyz_event_bytes,
};
