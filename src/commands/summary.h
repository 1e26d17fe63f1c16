/* What `orrery run` says at its end. */
#ifndef ORRERY_COMMANDS_SUMMARY_H
#define ORRERY_COMMANDS_SUMMARY_H

#include "base/status.h"
#include "run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To standard output, within 80 columns: what was computed on what, how well, and the verdict. */
void summary_print(const struct run *run, enum status status);

#ifdef __cplusplus
}
#endif

#endif
