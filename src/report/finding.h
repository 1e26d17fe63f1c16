/*
 * What a figure shows, in words that follow from its numbers: sentences that are put behind the
 * caption that says what is drawn. A run that went wrong must read so.
 */
#ifndef ORRERY_REPORT_FINDING_H
#define ORRERY_REPORT_FINDING_H

#include <stddef.h>

#include "report/result.h"
#include "report/series.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A finding writes whole sentences into `text`, or "" where the columns say nothing. Of an
 * ensemble, the worst system counts. */

/* How far the energy moved, and what that means for this integrator. */
void finding_energy_error(const struct series *series, const struct result *result, char *text,
                          size_t size);
/* By how much K + U changed. */
void finding_energies(const struct series *series, const struct result *result, char *text,
                      size_t size);
/* Whether the system is bound, without which its means do not settle. */
void finding_virial(const struct series *series, const struct result *result, char *text,
                    size_t size);
/* Where a line means that orbits are no longer those of the system. */
void finding_divergence(const struct series *series, const struct result *result, char *text,
                        size_t size);
/* What an error of the orbit looks like with this integrator. */
void finding_orbit_error(const struct series *series, const struct result *result, char *text,
                         size_t size);

/* What a conserved vector did that has changed by `change` at the most: of its first size where
 * that is `relative`. An `angular` one is not conserved by a periodic box. */
void finding_vector(const struct result *result, double change, bool relative, bool angular,
                    char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
