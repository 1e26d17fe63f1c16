/* The content of a GADGET-style HDF5 snapshot: what GADGET-4, SWIFT, yt and pynbody read. */
#ifndef ORRERY_FORMATS_GADGET_HDF5_H
#define ORRERY_FORMATS_GADGET_HDF5_H

#include <stddef.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"

/*
 * The bodies of this moment (NEED_STATE) as the bytes of a file, which the caller frees; the same
 * bytes for the same moment. In a periodic box positions are those in [0, L), as in GADGET; BoxSize
 * is 0 in open space. Of an ensemble, the data set System says which one a body belongs to, from 1.
 * STATUS_UNAVAILABLE, STATUS_MEMORY.
 */
enum status gadget_hdf5_image(const struct moment *now, void **bytes, size_t *length,
                              struct error *error);

#endif
