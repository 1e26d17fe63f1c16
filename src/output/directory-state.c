#include "output/directory-state.h"

const struct directory_kind directory_run = {
    .noun = "run",
    .manifest = "run.json",
    .lock = "run.lock",
    .format = "orrery run",
    .temporary = ".tmp",
    .rival = &directory_study,
};
const struct directory_kind directory_study = {
    .noun = "study",
    .manifest = "study.json",
    .lock = "study.lock",
    .files_lock = "study.csv.lock",
    .format = "orrery study",
    .temporary = ".orrery.tmp",
    .rival = &directory_run,
};
const struct directory_kind directory_report = {
    .noun = "report",
    .manifest = "report.json",
    .lock = "report.lock",
    .files_lock = "report.html.lock",
    .format = "orrery report",
    .temporary = ".orrery.tmp",
};
const struct directory_kind directory_bench = {
    .noun = "benchmark",
    .manifest = "bench.json",
    .lock = "bench.lock",
    .format = "orrery bench",
    .temporary = ".orrery.tmp",
};
const struct directory_kind directory_bench_gpu = {
    .noun = "benchmark",
    .manifest = "bench-gpu.json",
    .lock = "bench-gpu.lock",
    .format = "orrery bench --gpu",
    .temporary = ".orrery.tmp",
};
