/* The trajectory of a run, an extended XYZ file. Opening it finds the places of its frames; the
 * values of the bodies are read frame by frame when they are asked for. */
#ifndef ORRERY_REPORT_TRAJECTORY_H
#define ORRERY_REPORT_TRAJECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/lines.h"
#include "base/status.h"
#include "report/result.h"

struct trajectory_frame {
    struct lines_mark mark; /* place of the frame's comment line in the file */
    double time;            /* the value of "Time=" in that line; NaN without */
};

struct trajectory {
    struct lines *lines;
    size_t bodies;   /* number of bodies, the same in every frame */
    size_t columns;  /* columns of a body's line */
    size_t position; /* the column of x; y and z follow */
    size_t mass, id; /* the columns of mass and id; NO_COLUMN (trajectory.c) if the file has none */
    size_t velocity; /* the column of vx, before vy and vz; or NO_COLUMN */
    size_t system, species; /* the columns of a body's system and species; or NO_COLUMN */
    double cell_side;       /* side of the periodic cube of the first frame; 0 in open space */
    double cell_origin;     /* the least x of that cube, which is its least y and z too */
    size_t frame_count;
    struct trajectory_frame *frames;
};

/* Finds all frames of a run's trajectory. *trajectory is NULL if the run has none, or none yet. A
 * last frame that is cut off is ignored. STATUS_DATA (the file is no extended XYZ, its frames have
 * different numbers of bodies, or it has no frame although the run was completed), STATUS_NO_INPUT,
 * STATUS_MEMORY. */
enum status trajectory_open(const struct result *result, struct trajectory **trajectory,
                            struct error *error);
void trajectory_close(struct trajectory *trajectory); /* accepts NULL */

/* The arrays that receive the values of a frame, one for each body that is read. */
struct trajectory_values {
    double *x, *y, *z;
    double *m;     /* NULL: not wanted; 1 if the file has no masses */
    double *speed; /* NULL: not wanted; NaN if the file has no velocities */
};

/* Reads every `stride`-th body of frame number `frame`, beginning with the first: (bodies + stride
 * - 1) / stride bodies. STATUS_DATA, STATUS_IO. */
enum status trajectory_read(struct trajectory *trajectory, size_t frame, size_t stride,
                            const struct trajectory_values *values, struct error *error);

enum { TRAJECTORY_GROUPS = 64, TRAJECTORY_GROUP_SIZE = 40 };

/* Groups of bodies, each with a name: the systems of an ensemble or, in a single system, the
 * species. */
struct trajectory_groups {
    const char *kind; /* "system" or "species" */
    size_t count;     /* number of groups; 0 if there is one, or more than TRAJECTORY_GROUPS */
    char names[TRAJECTORY_GROUPS][TRAJECTORY_GROUP_SIZE];
    size_t sizes[TRAJECTORY_GROUPS]; /* number of bodies read in each group */
    bool whole;                      /* all bodies were read */
};

/* Reads the id of every `stride`-th body of the first frame (its number in the frame, from 1, if
 * the file has no ids) and, unless `group` is NULL, its group as an index into `groups`, which
 * means nothing if groups->count is 0. STATUS_DATA, STATUS_IO. */
enum status trajectory_identify(struct trajectory *trajectory, size_t stride, double *ids,
                                unsigned *group, struct trajectory_groups *groups,
                                struct error *error);

/* If all bodies were read and a group is a species of one body, returns its name, which is that
 * body's name; else, and for the species "X", which is no name, returns NULL. */
const char *trajectory_body_name(const struct trajectory_groups *groups, unsigned group);

#endif
