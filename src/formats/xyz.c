#include "formats/xyz.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/output.h"
#include "output/gzip.h"

struct xyz_column {
    const char *name;     /* its name in the key `columns` of a config */
    const char *property; /* its name, type and width in Properties= */
    const char *dump;     /* its names in a dump of LAMMPS */
    unsigned needs;
    void (*write)(const struct xyz_frame *frame, const struct moment *now, size_t index);
};

/* --- columns ---------------------------------------------------------------------------------- */

static void put_integer(const struct xyz_frame *frame, int64_t value)
{
    stream_print(frame->stream, "%" PRId64, value);
}

static void put_real(const struct xyz_frame *frame, double value)
{
    stream_real(frame->stream, value, frame->digits);
}

static void put_vector(const struct xyz_frame *frame, double x, double y, double z)
{
    put_real(frame, x);
    stream_write(frame->stream, " ", 1);
    put_real(frame, y);
    stream_write(frame->stream, " ", 1);
    put_real(frame, z);
}

static void write_species(const struct xyz_frame *frame, const struct moment *now, size_t index)
{
    if (frame->dump)
        put_integer(frame, (int64_t)bodies_species(now->bodies, index) + 1);
    else
        stream_print(frame->stream, "%s", bodies_species_name(now->bodies, index));
}

static void write_position(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    const double r[] = { b->x[i], b->y[i], b->z[i] };
    const struct cell *cell = &frame->cell;
    if (frame->as_read)
        put_vector(frame, r[0], r[1], r[2]);
    else
        put_vector(frame, cell_wrap(cell, r[0]), cell_wrap(cell, r[1]), cell_wrap(cell, r[2]));
}

static void write_velocity(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_vector(frame, b->vx[i], b->vy[i], b->vz[i]);
}

static void write_force(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_vector(frame, b->m[i] * b->ax[i], b->m[i] * b->ay[i], b->m[i] * b->az[i]);
}

static void write_mass(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    put_real(frame, now->bodies->m[i]);
}

static void write_id(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    put_integer(frame, now->bodies->id[i]);
}

static void write_cluster(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    put_integer(frame, (int64_t)(i / now->bodies->stride) + 1);
}

static void write_kinetic(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    const struct bodies *b = now->bodies;
    put_real(frame,
             0.5 * b->m[i] * (b->vx[i] * b->vx[i] + b->vy[i] * b->vy[i] + b->vz[i] * b->vz[i]));
}

static void write_potential(const struct xyz_frame *frame, const struct moment *now, size_t i)
{
    put_real(frame, now->bodies->m[i] * now->phi[i]);
}

static const struct xyz_column columns[] = {
    { "species", "species:S:1", "type", 0, write_species },
    { "pos", "pos:R:3", "x y z", NEED_STATE, write_position },
    { "velo", "velo:R:3", "vx vy vz", NEED_STATE, write_velocity },
    { "mass", "mass:R:1", "mass", 0, write_mass },
    { "id", "id:I:1", "id", 0, write_id },
    { "cluster", "cluster:I:1", "i_system", 0, write_cluster },
    { "force", "force:R:3", "fx fy fz", NEED_ACCELERATIONS, write_force },
    { "kinetic_energy", "kinetic_energy:R:1", "c_kinetic_energy", NEED_STATE, write_kinetic },
    { "local_energy", "local_energy:R:1", "c_potential_energy", NEED_POTENTIALS, write_potential },
};

static const struct xyz_column *find_column(const char *word, size_t length)
{
    for (size_t k = 0; k < COUNT_OF(columns); k++)
        if (strlen(columns[k].name) == length && strncmp(columns[k].name, word, length) == 0)
            return &columns[k];
    return NULL;
}

static bool has_column(const struct xyz_frame *frame, const struct xyz_column *column)
{
    for (size_t k = 0; k < frame->column_count; k++)
        if (frame->columns[k] == column)
            return true;
    return false;
}

bool xyz_frame_choose(struct xyz_frame *frame, const char *words, char problem[XYZ_PROBLEM_SIZE])
{
    static const char blanks[] = " ,\t";
    frame->column_count = 0;
    frame->needs = 0;
    for (const char *word = words; *(word += strspn(word, blanks));) {
        const size_t length = strcspn(word, blanks);
        const struct xyz_column *column = find_column(word, length);
        if (!column || has_column(frame, column)) {
            snprintf(problem, XYZ_PROBLEM_SIZE,
                     column ? "%.*s is there twice"
                            : "'%.*s' is not one of species, pos, velo, mass, id, cluster, force, "
                              "kinetic_energy, local_energy",
                     (int)(length < 40 ? length : 40), word);
            return false;
        }
        frame->columns[frame->column_count++] = column;
        frame->needs |= column->needs;
        word += length;
    }
    if (has_column(frame, find_column("pos", 3)))
        return true;
    snprintf(problem, XYZ_PROBLEM_SIZE, "must have pos");
    return false;
}

/* Estimates the bytes that one body takes in a frame, in an ensemble of `systems` systems. */
static double body_bytes(const struct xyz_frame *frame, size_t systems)
{
    /* The characters of a column: beside its digits a real has a sign or none, a zero or none, the
     * point and a blank; ids and systems are taken to have four digits. */
    enum { AROUND_REAL = 4, INTEGER = 5, LETTER = 2 };
    const struct xyz_column *const cluster = find_column("cluster", strlen("cluster"));
    double bytes = systems > 1 && !has_column(frame, cluster) ? INTEGER : 0.0;
    for (size_t k = 0; k < frame->column_count; k++) {
        const char *property = frame->columns[k]->property; /* "pos:R:3" */
        const char *const end = property + strlen(property);
        const int each = end[-3] == 'R'   ? frame->digits + AROUND_REAL
                         : end[-3] == 'I' ? INTEGER
                                          : LETTER;
        bytes += (double)(each * (end[-1] - '0'));
    }
    return bytes;
}

/* --- a frame ---------------------------------------------------------------------------------- */

/* Writes the units as keys, which Orrery's reader uses and OVITO shows as attributes. N-body units
 * are not written. */
static void write_units(struct stream *stream, const struct units *units)
{
    char label[UNITS_LABEL_SIZE];
    for (size_t k = 0; k < UNITS_WORDS && units && units_physical(units); k++)
        stream_print(stream, " %s=\"%s\"", units_words[k].word,
                     units_label(units, units_words[k].dimension, label));
}

static void write_comment_line(const struct xyz_frame *frame, const struct moment *now)
{
    struct stream *stream = frame->stream;
    const struct cell *cell = &frame->cell;
    const char *pbc = cell->periodic ? "T T T" : "F F F";
    stream_print(stream, "Lattice=\"%.17g 0 0 0 %.17g 0 0 0 %.17g\" ", cell->side, cell->side,
                 cell->side);
    stream_print(stream, "Origin=\"%.17g %.17g %.17g\" pbc=\"%s\" Properties=", frame->corner[0],
                 frame->corner[1], frame->corner[2], pbc);
    for (size_t k = 0; k < frame->column_count; k++)
        stream_print(stream, "%s%s", k ? ":" : "", frame->columns[k]->property);
    if (isfinite(now->time))
        stream_print(stream, " Time=%.17g", now->time);
    if (now->step != MOMENT_NO_STEP)
        stream_print(stream, " Step=%" PRIu64, now->step);
    write_units(stream, now->physics->units);
    stream_write(stream, "\n", 1);
}

static void write_body(const struct xyz_frame *frame, const struct moment *now, size_t index)
{
    for (size_t k = 0; k < frame->column_count; k++) {
        if (k > 0)
            stream_write(frame->stream, " ", 1);
        frame->columns[k]->write(frame, now, index);
    }
    stream_write(frame->stream, "\n", 1);
}

/* Writes the head of a frame, up to its line with the names of the columns, as LAMMPS has it in a
 * dump. */
static void write_dump_head(const struct xyz_frame *frame, const struct moment *now, size_t bodies)
{
    struct stream *const stream = frame->stream;
    const struct cell *const cell = &frame->cell;
    const char *const sides = cell->periodic ? "pp pp pp" : "ff ff ff";
    if (isfinite(now->time))
        stream_print(stream, "ITEM: TIME\n%.17g\n", now->time);
    stream_print(stream, "ITEM: TIMESTEP\n%" PRIu64 "\nITEM: NUMBER OF ATOMS\n%zu\n", now->step,
                 bodies);
    stream_print(stream, "ITEM: BOX BOUNDS %s\n", sides);
    for (int axis = 0; axis < 3; axis++)
        stream_print(stream, "%.17g %.17g\n", frame->corner[axis],
                     frame->corner[axis] + cell->side);
    stream_print(stream, "ITEM: ATOMS");
    for (size_t k = 0; k < frame->column_count; k++)
        stream_print(stream, " %s", frame->columns[k]->dump);
    stream_write(stream, "\n", 1);
}

static void write_frame(struct xyz_frame *frame, struct stream *stream, const struct moment *now)
{
    const struct bodies *bodies = now->bodies;
    const struct xyz_column *cluster = find_column("cluster", strlen("cluster"));
    if (bodies->systems > 1 && !has_column(frame, cluster))
        frame->columns[frame->column_count++] = cluster;
    const size_t stride = frame->thin > 0 ? frame->thin : 1;
    const size_t written = bodies->count / stride + (bodies->count % stride > 0);
    frame->stream = stream;
    frame->cell = cell_of(now->physics, bodies);
    for (int axis = 0; axis < 3 && !(frame->as_read && frame->cell.periodic); axis++)
        frame->corner[axis] = frame->cell.origin;
    if (frame->dump) {
        write_dump_head(frame, now, bodies->systems * written);
    } else {
        stream_print(stream, "%zu\n", bodies->systems * written);
        write_comment_line(frame, now);
    }
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t k = 0; k < written; k++)
            write_body(frame, now, s * bodies->stride + k * stride);
}

void xyz_frame_write(struct xyz_frame *frame, struct stream *stream, const struct moment *now)
{
    frame->dump = false;
    write_frame(frame, stream, now);
}

void xyz_frame_write_dump(struct xyz_frame *frame, struct stream *stream, const struct moment *now)
{
    frame->dump = true;
    write_frame(frame, stream, now);
}

/* --- the output of a run ---------------------------------------------------------------------- */

/* The output `xyz`: a trajectory, frames of extended XYZ one after the other. The file is plain
 * text while the run goes on, so that a restart can cut it at any byte; it is compressed, if asked
 * for, when the run has finished. */

struct xyz {
    struct output output;
    struct xyz_frame frame;
    struct directory *directory;
    char packed[OUTPUT_NAME_SIZE]; /* the name of the compressed file */
    bool compress;
    bool unpacked; /* the plain file was made from the compressed one, which is still there */
};

extern const struct output_class output_xyz;

static enum status check_file(const struct section *section, struct error *error)
{
    const char *file = section_string(section, "file");
    if (output_check_name(section, 16, "a plain file name", error))
        return error->status;
    if (gzip_stem(file) < strlen(file))
        return section_error(section, "file", error,
                             "leave .gz away and write compress = true: the run adds it when it "
                             "compresses the file");
    return STATUS_OK;
}

/* Opens the stream. A file that was compressed when its run had finished is unpacked first, and
 * goes on as plain text. */
static enum status open_stream(struct xyz *xyz, const struct stream_mark *mark, struct error *error)
{
    const char *file = xyz->output.file;
    if (mark && !directory_has(xyz->directory, file) &&
        directory_has(xyz->directory, xyz->packed)) {
        if (gzip_unpack(xyz->directory, xyz->packed, file, error))
            return error->status;
        xyz->unpacked = true;
    }
    return stream_open(xyz->directory, file, mark, &xyz->output.stream, error);
}

static enum status xyz_close(struct output *output, struct error *error)
{
    struct xyz *xyz = (struct xyz *)output;
    if (!xyz)
        return STATUS_OK;
    const enum status status = stream_close(output->stream, error);
    if (xyz->unpacked)
        directory_take(xyz->directory, output->file);
    free(xyz);
    return status;
}

static enum status xyz_open(const struct section *section, struct directory *directory,
                            const struct stream_mark *mark, struct output **result,
                            struct error *error)
{
    char problem[XYZ_PROBLEM_SIZE];
    *result = NULL;
    struct xyz *xyz = calloc(1, sizeof *xyz);
    if (!xyz)
        return error_memory(error);
    xyz->output.class_ = &output_xyz;
    xyz->output.grows = true;
    xyz->output.file = section_string(section, "file");
    xyz->frame.digits = (int)section_integer(section, "digits");
    xyz->frame.thin = (size_t)section_integer(section, "thin");
    xyz->compress = section_flag(section, "compress");
    xyz->directory = directory;
    enum status status = check_file(section, error);
    if (!xyz_frame_choose(&xyz->frame, section_string(section, "columns"), problem))
        status = section_error(section, "columns", error, "%s", problem);
    xyz->output.needs = xyz->frame.needs;
    if (!status) {
        snprintf(xyz->packed, sizeof xyz->packed, "%s.gz", xyz->output.file);
        if (directory)
            status = open_stream(xyz, mark, error);
    }
    if (status)
        xyz_close(&xyz->output, error);
    else
        *result = &xyz->output;
    return status;
}

/* Removes the compressed file at a restart: from here on the plain one counts. */
static enum status xyz_trim(struct output *output, struct error *error)
{
    struct xyz *xyz = (struct xyz *)output;
    (void)error;
    directory_take(xyz->directory, xyz->packed);
    xyz->unpacked = false;
    return STATUS_OK;
}

static enum status xyz_write(struct output *output, const struct moment *now, struct error *error)
{
    struct xyz *xyz = (struct xyz *)output;
    xyz_frame_write(&xyz->frame, output->stream, now);
    return stream_flush(output->stream, false, error);
}

static enum status xyz_finish(struct output *output, struct error *error)
{
    struct xyz *xyz = (struct xyz *)output;
    if (!xyz->compress || xyz->unpacked) /* unpacked: the compressed file is still there */
        return STATUS_OK;
    enum status status = stream_flush(output->stream, true, error);
    if (!status)
        status = gzip_pack(xyz->directory, output->file, xyz->packed, error);
    if (!status)
        directory_take(xyz->directory, output->file);
    return status;
}

static bool xyz_finished_file(const struct section *section, char name[OUTPUT_NAME_SIZE])
{
    snprintf(name, OUTPUT_NAME_SIZE, "%s.gz", section_string(section, "file"));
    return section_flag(section, "compress");
}

/* Estimates the bytes of a frame; with `compress` returns 1.5 times as much, since at the end the
 * compressed file stands beside the plain one for a while. */
static double xyz_event_bytes(const struct section *section, size_t systems, double bodies)
{
    char problem[XYZ_PROBLEM_SIZE];
    struct xyz_frame frame = { .digits = (int)section_integer(section, "digits") };
    /* Wrong columns are reported by xyz_open(). */
    xyz_frame_choose(&frame, section_string(section, "columns"), problem);
    const double thin = (double)section_integer(section, "thin");
    const double written = (double)systems * ceil(bodies / (double)systems / thin);
    const double plain = written * body_bytes(&frame, systems);
    return section_flag(section, "compress") ? 1.5 * plain : plain;
}

/* Returns the bytes of memory for phi and psi of all bodies, which the column local_energy
 * needs. */
static double xyz_memory_bytes(const struct section *section, size_t systems, double bodies,
                               double length)
{
    (void)systems, (void)bodies;
    return strstr(section_string(section, "columns"), "local_energy")
               ? 2.0 * length * sizeof(double)
               : 0.0;
}

static const struct parameter parameters[] = {
    { KEY(STRING, file), BY_DEFAULT(STRING, "trajectory.xyz"),
      .help = "Its name in the run directory." },
    { KEY(STRING, columns), BY_DEFAULT(STRING, "species pos velo mass id"),
      .help = "Columns of each body, in this order: species, pos, velo, mass, id, cluster "
              "(the system), force, kinetic_energy, local_energy (potential energy)." },
    { KEY(INTEGER, digits), BY_DEFAULT(INTEGER, 17), BETWEEN(1, 17),
      .help = "Significant digits of reals: 17 restart exactly, 7 are enough to look at." },
    { KEY(INTEGER, thin), BY_DEFAULT(INTEGER, 1), BETWEEN(1, 1e9),
      .help = "Write only every n-th body, beginning with the first of each system, in the "
              "order of the input. 50 leaves enough of a million bodies for a picture." },
    { KEY(FLAG, compress), BY_DEFAULT(FLAG, false),
      .help = "Compress the file with gzip once the run has finished; its name then ends in .gz." },
};

const struct output_class output_xyz = {
    .variant = { "xyz", "Trajectory in extended XYZ, for OVITO and ASE.", parameters,
                 COUNT_OF(parameters) },
    .open = xyz_open,
    .trim = xyz_trim,
    .write = xyz_write,
    .finish = xyz_finish,
    .close = xyz_close,
    .event_bytes = xyz_event_bytes,
    .memory_bytes = xyz_memory_bytes,
    .finished_file = xyz_finished_file,
};
