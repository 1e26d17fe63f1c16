/* The instruction sets that methods have kernels for, and which of them this machine runs. */
#ifndef ORRERY_FORCE_ISA_H
#define ORRERY_FORCE_ISA_H

#include <stdbool.h>

#include "base/status.h"

extern const char *const force_isa_names[]; /* "auto", then the best first; NULL-terminated */
extern const char *const force_isa_help[];  /* a sentence for each */

/* Tells whether this build has kernels of that name for this CPU and its operating system. "auto"
 * always. */
bool force_isa_runs(const char *name);
/* And are they made for such a CPU? "avx512-zen" runs wherever "avx512" does. */
bool force_isa_suits(const char *name);

/* Tells whether kernels of the set `name` are those for `isa`, as a force names its own, where
 * bodies are few. What comes after a dash there is a matter of many. */
bool force_isa_is(const char *isa, const char *name);

/* Finds the set that compute.isa = `asked` stands for: with "auto" what the environment variable
 * ORRERY_ISA says, or the best one. STATUS_UNAVAILABLE: this build or this machine has it not. */
enum status force_isa_find(const char *asked, const char **name, struct error *error);

#endif
