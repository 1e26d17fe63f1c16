/* The frames of a trajectory.xyz: positions of bodies, read when they are asked for. */
#ifndef ORRERY_REPORT_TRAJECTORY_H
#define ORRERY_REPORT_TRAJECTORY_H

#include <stddef.h>

#include "base/lines.h"
#include "base/status.h"

struct trajectory_frame {
    struct lines_mark mark; /* of its comment line */
    double time;            /* Time= of that line; NaN without */
};

struct trajectory {
    struct lines *lines;
    size_t bodies;            /* of every frame */
    size_t columns, position; /* on a body's line; the column of x */
    size_t mass, id;          /* columns of a body's mass and id; 0 without */
    size_t frame_count;
    struct trajectory_frame *frames;
};

/* Finds all frames. STATUS_NO_INPUT, STATUS_DATA (no extended XYZ, or frames of different counts;
 * a last frame that is not whole is left out), STATUS_MEMORY. */
enum status trajectory_open(const char *path, struct trajectory **trajectory, struct error *error);
void trajectory_close(struct trajectory *trajectory); /* accepts NULL */

/* Positions of frame `frame`: of every `stride`-th body, from the first; x, y, z hold
 * (bodies + stride - 1) / stride values each, and m, which may be NULL, as many masses, 1 where the
 * file has none. STATUS_DATA, STATUS_IO. */
enum status trajectory_read(struct trajectory *trajectory, size_t frame, size_t stride, double *x,
                            double *y, double *z, double *m, struct error *error);

/* Ids of the bodies of the first frame; their places, from 1, where the file has none. STATUS_DATA,
 * STATUS_IO. */
enum status trajectory_ids(struct trajectory *trajectory, double *ids, struct error *error);

#endif
