/* One member of a study: its config. */
#ifndef ORRERY_STUDY_MEMBER_H
#define ORRERY_STUDY_MEMBER_H

#include "base/status.h"
#include "config/configuration.h"
#include "study/study.h"

/* The config of a member that runs with so many threads. The caller frees it. */
enum status member_load(const struct study *study, const struct study_options *options, int threads,
                        size_t member, struct config **config, struct error *error);

#endif
