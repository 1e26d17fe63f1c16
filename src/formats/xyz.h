/* A frame of extended XYZ, as OVITO's reader wants it (docs/manual/outputs.md): the number of
 * bodies, a line with cell, columns, time and step, and a line per body, all systems in one
 * frame. */
#ifndef ORRERY_FORMATS_XYZ_H
#define ORRERY_FORMATS_XYZ_H

#include <stdbool.h>
#include <stddef.h>

#include "diagnostics/diagnostic.h"
#include "model/cell.h"
#include "output/stream.h"

struct xyz_column;

enum { XYZ_COLUMNS = 16, XYZ_PROBLEM_SIZE = 160 };

/* The columns and bodies to be written, and the digits; from `dump` on, the state of the frame that
 * is being written. */
struct xyz_frame {
    int digits; /* significant digits of reals; with 17 they read back exactly */
    /* Every thin-th body of each system is written, beginning with its first; 0: all bodies. */
    size_t thin;
    const struct xyz_column *columns[XYZ_COLUMNS];
    size_t column_count;
    unsigned needs; /* enum need, or-ed: what the columns need of a moment */
    /* Positions in a periodic box are written as they are, and its lowest corner is `corner`. Else
     * they are wrapped into the box about (0, 0, 0). */
    bool as_read;
    double corner[3];
    bool dump; /* it is a frame of LAMMPS, not of extended XYZ */
    struct cell cell;
    struct stream *stream;
};

/* Takes the names of columns in `words`, with blanks or commas between them. Returns false, with
 * the reason in `problem`, if they are wrong. */
bool xyz_frame_choose(struct xyz_frame *frame, const char *words, char problem[XYZ_PROBLEM_SIZE]);

/* Writes one frame. In an ensemble every frame has the column `cluster`, the system of a body,
 * whether it was chosen or not. A time that is not finite and a step MOMENT_NO_STEP are left
 * out. */
void xyz_frame_write(struct xyz_frame *frame, struct stream *stream, const struct moment *now);

/* Writes one frame of LAMMPS's dump custom, with the bodies and columns of xyz_frame_write(), which
 * LAMMPS names id, type, x, vx, mass, ... The step of the moment must be known. The type is the
 * number of the species. */
void xyz_frame_write_dump(struct xyz_frame *frame, struct stream *stream, const struct moment *now);

#endif
