/* The units of a snapshot in HDF5, which says in cgs what they are worth. */
#ifndef ORRERY_FORMATS_HDF5_UNITS_H
#define ORRERY_FORMATS_HDF5_UNITS_H

#include "formats/hdf5-snapshot.h"

/* Fills in about.units from what the file says, and gives the factors of its numbers for what is
 * wished. STATUS_DATA, STATUS_CONFIG. */
enum status hdf5_units_resolve(const struct read_request *request, struct hdf5_snapshot *snapshot,
                               struct read_factors *factors, struct error *error);

#endif
