/* The frames of the trajectory of a run, an extended XYZ file: the values of its bodies are read
 * frame by frame, when they are asked for. */
#ifndef ORRERY_REPORT_TRAJECTORY_H
#define ORRERY_REPORT_TRAJECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/lines.h"
#include "base/status.h"
#include "report/result.h"

struct trajectory_frame {
    struct lines_mark mark; /* place of the frame's comment line in the file */
    double time;            /* the value after "Time=" in that line; NaN without */
};

struct trajectory {
    struct lines *lines;
    size_t bodies;          /* the number of bodies, the same in every frame */
    size_t columns;         /* the number of columns of a body's line */
    size_t position;        /* the column of x; y and z follow */
    size_t mass, id;        /* the columns of mass and id; NO_COLUMN if the file has none */
    size_t velocity;        /* the column of vx, before vy and vz; or NO_COLUMN */
    size_t system, species; /* the columns of a body's system and species; or NO_COLUMN */
    double cell_side;       /* side of the periodic cube of the first frame; 0 in open space */
    double cell_origin;     /* the least x of that cube, which is its least y and z too */
    size_t frame_count;
    struct trajectory_frame *frames;
};

/* Finds all frames of the trajectory of a run. *trajectory is NULL if the run has none, or none
 * yet. A last frame that is cut off is ignored. STATUS_DATA (the file is no extended XYZ, its
 * frames differ in their numbers of bodies, or the run has ended and it has no frame),
 * STATUS_NO_INPUT, STATUS_MEMORY. */
enum status trajectory_open(const struct result *result, struct trajectory **trajectory,
                            struct error *error);
void trajectory_close(struct trajectory *trajectory); /* accepts NULL */

/* The arrays that receive the values of a frame, one for each body that is read. */
struct trajectory_values {
    double *x, *y, *z;
    double *m;     /* NULL: not wanted; 1 if the file has no masses */
    double *speed; /* NULL: not wanted; NaN if the file has no velocities */
};

/* Reads every `stride`-th body of frame `frame`, from the first: (bodies + stride - 1) / stride of
 * them. STATUS_DATA, STATUS_IO. */
enum status trajectory_read(struct trajectory *trajectory, size_t frame, size_t stride,
                            const struct trajectory_values *values, struct error *error);

enum { TRAJECTORY_GROUPS = 64, TRAJECTORY_GROUP_SIZE = 40 };

/* Groups of bodies, each with a name: the systems of an ensemble or, in a single system, the
 * species. */
struct trajectory_groups {
    const char *kind; /* "system" or "species" */
    size_t count;     /* number of groups; 0 if it is 1, or more than TRAJECTORY_GROUPS */
    char names[TRAJECTORY_GROUPS][TRAJECTORY_GROUP_SIZE];
    size_t sizes[TRAJECTORY_GROUPS]; /* number of bodies in each group, of those that were read */
    bool whole;                      /* all bodies were read */
};

/* Reads the id of every `stride`-th body of the first frame (its place, from 1, if the file has no
 * ids) and, unless `group` is NULL, its group as an index into `groups`. STATUS_DATA, STATUS_IO. */
enum status trajectory_identify(struct trajectory *trajectory, size_t stride, double *ids,
                                unsigned *group, struct trajectory_groups *groups,
                                struct error *error);

/* Returns the name of a body, if it is the only one of its species and all bodies were read: that
 * of the species. NULL for any other group, and for the species "X", which is no name. */
const char *trajectory_body_name(const struct trajectory_groups *groups, unsigned group);

#endif
