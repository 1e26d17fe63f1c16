/* The output `xyz`: a trajectory, frames of extended XYZ one after the other. The file is plain
 * text while the run goes on, so that a restart can cut it at any byte; it is compressed, if asked
 * for, when the run has finished. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/output.h"
#include "formats/xyz-frame.h"
#include "output/gzip.h"

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
    const double plain = written * xyz_frame_body_bytes(&frame, systems);
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
