/*
 * A trial is one measurement of `orrery bench --gpu`: a kernel works on random bodies, and the
 * device's events around groups of launches take the time.
 */
#ifndef ORRERY_GPU_TRIAL_H
#define ORRERY_GPU_TRIAL_H

#include "bench-parts.h"
#include "gpu/host/part.h"
#include "gpu/host/tuning.h"

/* The state that trials share, and the values that a trial leaves for the next one. */
struct gpu_bench_state {
    const struct gpu_bench_options *options;
    const struct gpu_bench_sink *sink;
    struct gpu_device device;
    struct gpu_tuning_table tuning;
    double deadline, tuning_deadline; /* end of all trials and of tuning, by clock_seconds() */
    double trial_seconds;
    double operations[GPU_OPERATIONS]; /* measured rates: operations per second */
    struct bodies *bodies; /* bodies of the last trial, which the next one uses if they suit it */
    bool equal;
};

struct gpu_trial {
    enum gpu_bench_part part;
    const char *label;
    struct gpu_kernel kernel;
    enum precision precision;
    bool equal;                          /* all masses are 1 */
    double instructions;                 /* instructions of an ordered pair; 0: not counted */
    const struct gpu_tuning_row *tuning; /* launch, fitted to the bodies; NULL: the device's */
    size_t systems, count;
    bool steps;                 /* whole steps are timed, not only forces */
    enum gpu_steps launches;    /* of these */
    int resident_bodies;        /* bodies of a thread, if systems stay in blocks; 0: the model's */
    enum gpu_energies energies; /* if it is not AUTO, potentials are timed in place of forces */
    double to_beat;             /* GPU_BENCH_TUNING: the best rate so far, pairs per second */
};

/* The physics of the bodies of all trials. */
extern const struct physics gpu_trial_physics;

/* Makes a trial of a kernel: its label is the kernel's name, its instructions are those of the
 * catalog, and its launch is the one of bench->tuning for the nearest number of bodies. */
struct gpu_trial gpu_trial_of(const struct gpu_bench_state *bench, enum gpu_kernel_id kernel,
                              enum precision precision, size_t systems, size_t count);
/* Tells whether gpu_resident() takes the steps of a trial. */
bool gpu_trial_stays(const struct gpu_bench_state *bench, const struct gpu_trial *trial);
/* Times a trial and sends its row, or sends the row as skipped if there is no time left. */
enum status gpu_trial_run(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                          struct gpu_bench_row *row, struct error *error);

/* Makes a part with the bodies of a trial and calls `use` for it, which fills the row. */
enum status gpu_trial_on_part(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                              enum status (*use)(struct gpu_bench_state *, const struct gpu_trial *,
                                                 struct gpu_part *, struct gpu_bench_row *,
                                                 struct error *),
                              struct gpu_bench_row *row, struct error *error);
enum status gpu_trial_send(const struct gpu_bench_state *bench, const struct gpu_bench_row *row,
                           struct error *error);

/* The work that is timed: queue() queues it `times` times. Sums use `part`; steps use `program`,
 * too; and rates of operations use the members after that. */
struct gpu_task {
    enum status (*queue)(const struct gpu_task *task, size_t times, struct error *error);
    struct gpu_part *part;
    const struct stage_program *program;
    enum gpu_operation operation;
    unsigned blocks, operations;
    cudaStream_t stream;
};

/* Measures the seconds that the task takes once: the least and the median of some groups. */
enum status gpu_task_time(const struct gpu_bench_state *bench, const struct gpu_task *task,
                          double *least, double *median, struct error *error);

#endif
