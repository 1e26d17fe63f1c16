#include "output/directory-kind.h"

#include <stddef.h>

const struct directory_kind directory_run = { "run",        "run.json", "run.lock",
                                              "orrery run", ".tmp",     &directory_study };
const struct directory_kind directory_study = { "study",        "study.json",  "study.lock",
                                                "orrery study", ".orrery.tmp", &directory_run };
const struct directory_kind directory_report = { "report",        "report.json", "report.lock",
                                                 "orrery report", ".orrery.tmp", NULL };
const struct directory_kind directory_bench = { "benchmark",    "bench.json",  "bench.lock",
                                                "orrery bench", ".orrery.tmp", NULL };
const struct directory_kind directory_bench_gpu = { "benchmark",      "bench-gpu.json",
                                                    "bench-gpu.lock", "orrery bench --gpu",
                                                    ".orrery.tmp",    NULL };
