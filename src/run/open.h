/* Opening the files of a run, new or continued. */
#ifndef ORRERY_RUN_OPEN_H
#define ORRERY_RUN_OPEN_H

#include "run/parts.h"

/* With `directory` NULL only checks the parameters of the outputs. */
enum status open_outputs(struct run *run, struct directory *directory, struct error *error);

/* All files, with a first run.json and checkpoint. */
enum status open_files(struct run *run, struct error *error);

#endif
