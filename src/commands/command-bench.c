/* orrery bench: measures how fast this machine computes, how near to its limits, and how
 * exactly. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "bench/bench.h"
#include "bench/results.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "estimate/experiment.h"
#include "machine/cores.h"
#include "run/schema.h"

enum { WORDS_SIZE = 512 };

static const double default_seconds = 100;

/* A list from the command line, "1024,4096": its text, cut at the commas, and pointers to its
 * words. */
struct words {
    char text[WORDS_SIZE];
    size_t count;
    const char *items[BENCH_MOST];
};

/* The options of the command line. Lists are texts with commas, NULL if they were not given. */
struct wanted {
    const char *sizes, *threads, *backends, *kernels, *precisions, *isas; /* "1,2,4" */
    const char *accuracies, *boundary, *folder;
    double seconds, softening;
    bool equal;
};

/* --- lists -------------------------------------------------------------------------------------*/

/* Cuts the list of an option into its words. Returns the error, if there was one before or the list
 * is wrong; there are no words if the option was not given (`list` is NULL). */
static enum status cut(const char *option, const char *list, struct words *words,
                       struct error *error)
{
    *words = (struct words){ .count = 0 };
    if (!list || error->status)
        return error->status;
    if (strlen(list) >= sizeof words->text)
        return error_set(error, STATUS_USAGE, "orrery bench: --%s: too long", option);
    strcpy(words->text, list);
    for (char *rest = words->text, *word; (word = strtok_r(rest, ",", &rest));) {
        if (words->count == BENCH_MOST)
            return error_set(error, STATUS_USAGE, "orrery bench: --%s: more than %d values", option,
                             BENCH_MOST);
        words->items[words->count++] = word;
    }
    return words->count ? STATUS_OK
                        : error_set(error, STATUS_USAGE, "orrery bench: --%s: no values", option);
}

/* Finds every word of the list among `names` and sets `axis`, which ends with NULL, to the strings
 * in `names`; a word that is not among them is an error. */
static enum status read_names(const char *option, const char *list, const char *const *names,
                              const char **axis, struct error *error)
{
    struct words words;
    if (cut(option, list, &words, error))
        return error->status;
    for (size_t k = 0; k < words.count; k++) {
        size_t n = 0;
        while (names[n] && strcmp(names[n], words.items[k]) != 0)
            n++;
        if (!names[n]) {
            struct text known = { 0 };
            text_names(&known, names);
            error_set(error, STATUS_USAGE, "orrery bench: --%s: %s is none of %s", option,
                      words.items[k], known.bytes ? known.bytes : "those known");
            text_free(&known);
            return error->status;
        }
        axis[k] = names[n];
        axis[k + 1] = NULL;
    }
    return STATUS_OK;
}

static enum status read_counts(const char *option, const char *list, long long most, size_t *axis,
                               struct error *error)
{
    struct words words;
    if (cut(option, list, &words, error))
        return error->status;
    for (size_t k = 0; k < words.count; k++) {
        int64_t value;
        if (!text_parse_integer(words.items[k], &value) || value < 1 || value > most)
            return error_set(error, STATUS_USAGE, "orrery bench: --%s: %s is not within 1 ... %lld",
                             option, words.items[k], most);
        axis[k] = (size_t)value;
        axis[k + 1] = 0;
    }
    return STATUS_OK;
}

static enum status read_accuracies(const char *option, const char *list, double *axis,
                                   struct error *error)
{
    static const double least = 1e-8, most = 1e-2; /* bounds of compute.accuracy in a config */
    struct words words;
    if (cut(option, list, &words, error))
        return error->status;
    for (size_t k = 0; k < words.count; k++) {
        if (!text_parse_real(words.items[k], &axis[k]) || !(axis[k] >= least && axis[k] <= most))
            return error_set(error, STATUS_USAGE, "orrery bench: --%s: %s is not within %g ... %g",
                             option, words.items[k], least, most);
        axis[k + 1] = 0;
    }
    return STATUS_OK;
}

/* --- plans -------------------------------------------------------------------------------------*/

/* The plans of a benchmark without options. Each measures every combination of its values. The
 * numbers of threads are set at run time, and instruction sets that this machine lacks are left
 * out. */
static const struct bench_plan default_plans[] = {
    { .title = "kernels at 16384 bodies",
      .sizes = { 16384 },
      .backends = { "openmp" },
      .kernels = { "plain", "symmetric" },
      .precisions = { "single", "mixed", "double" },
#define NAMED(family, set, registers, name, ...) name,
      .isas = { FORCE_ISAS(NAMED) } },
#undef NAMED
    { .title = "small systems",
      .sizes = { 2, 3, 5, 8, 16, 32 },
      .backends = { "openmp" },
      .kernels = { "auto" },
      .precisions = { "double" },
      .isas = { "auto" } },
    { .title = "from few bodies to many on all cores",
      .sizes = { 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 65536 },
      .backends = { "openmp" },
      .kernels = { "auto" },
      .precisions = { "single", "mixed", "double" },
      .isas = { "auto" } },
    { .title = "the serial reference",
      .sizes = { 2, 8, 32, 128, 512, 2048, 4096 },
      .backends = { "serial" },
      .kernels = { "auto" },
      .precisions = { "double" },
      .isas = { "auto" },
      .threads = { 1 } },
    { .title = "fast multipoles beside direct sums",
      .sizes = { 65536 },
      .backends = { "openmp" },
      .kernels = { "auto" },
      .precisions = { "double" },
      .isas = { "auto" },
      .accuracies = { 1e-3, 1e-5 } },
};

/* Leaves out the instruction sets that this machine lacks and those whose kernels were made for
 * another CPU. */
static void fit_isas(struct bench_plan *plan)
{
    size_t kept = 0;
    for (size_t k = 0; plan->isas[k]; k++)
        if (force_isa_suits(plan->isas[k]))
            plan->isas[kept++] = plan->isas[k];
    plan->isas[kept] = NULL;
}

static void spread_threads(struct bench_plan *plan, int cores)
{
    size_t count = 0;
    for (int threads = 1; threads < cores && count < BENCH_MOST - 1; threads *= 2)
        plan->threads[count++] = threads;
    plan->threads[count] = cores;
}

static size_t plan_default(struct bench_plan *plans)
{
    const int cores = cores_available();
    memcpy(plans, default_plans, sizeof default_plans);
    spread_threads(&plans[0], cores);
    plans[1].threads[0] = 1;
    plans[2].threads[0] = plans[4].threads[0] = cores;
    fit_isas(&plans[0]);
    return COUNT_OF(default_plans);
}

/* Makes one plan from the lists of the options; where no list was given, the plan has one usual
 * value. `count` is the number of bodies, if that is known; otherwise 0. */
static enum status plan_wanted(const struct wanted *wanted, size_t count, struct bench_plan *plan,
                               struct error *error)
{
    size_t threads[BENCH_MOST + 1] = { (size_t)cores_available() };
    *plan = (struct bench_plan){
        .title = "measured",
        .sizes = { count ? count : 16384 },
        .backends = { "openmp" },
        .kernels = { "auto" },
        .precisions = { "double" },
        .isas = { "auto" },
    };
    const char *backends[16] = { NULL };
    for (size_t k = 0; backend_at(k) && k + 1 < COUNT_OF(backends); k++)
        backends[k] = backend_at(k)->variant.name;
    read_counts("sizes", wanted->sizes, 100000000, plan->sizes, error);
    read_counts("threads", wanted->threads, 65536, threads, error);
    read_names("backends", wanted->backends, backends, plan->backends, error);
    read_names("kernels", wanted->kernels, schema_kernel_names, plan->kernels, error);
    read_names("precisions", wanted->precisions, precision_names, plan->precisions, error);
    read_names("isas", wanted->isas, force_isa_names, plan->isas, error);
    read_accuracies("accuracies", wanted->accuracies, plan->accuracies, error);
    for (size_t k = 0; threads[k]; k++)
        plan->threads[k] = (int)threads[k];
    return error->status;
}

/* --- the command -------------------------------------------------------------------------------*/

static enum status measure_all(const struct bench_plan *plans, size_t count,
                               const struct bench_subject *subject, const char *setting,
                               const struct wanted *wanted, struct error *error)
{
    struct console console = { .terminal = isatty(STDERR_FILENO) && isatty(STDOUT_FILENO) };
    struct directory *folder = NULL;
    if ((wanted->folder && results_open_folder(wanted->folder, &folder, error)) ||
        results_create(setting, &console.results, error)) {
        directory_close(folder);
        return error->status;
    }
    const struct bench_sink sink = console_sink(&console);
    char model[CORES_MODEL_SIZE];
    printf("%s, %d cores; %s\n", cores_model(model), cores_available(), setting);
    if (!wanted->backends || strcmp(wanted->backends, "cuda") != 0) {
        printf("\n1e9 operations per second, all cores\n");
        arithmetic_rates(sink.rate, sink.context, cores_available(), wanted->seconds / 100);
    }
    enum status status = bench_run(plans, count, subject, wanted->seconds, &sink, error);
    if (!status)
        console_print_legend(&console, subject->integrator);
    if (!status && folder)
        status = results_write(console.results, folder, error);
    results_destroy(console.results);
    directory_close(folder);
    return status;
}

static enum status measure_cube(const struct wanted *wanted, struct error *error)
{
    const bool periodic = wanted->boundary && strcmp(wanted->boundary, "periodic") == 0;
    if (wanted->boundary && !periodic && strcmp(wanted->boundary, "open") != 0)
        return error_set(error, STATUS_USAGE, "orrery bench: --boundary is open or periodic");
    if (!(wanted->softening >= 0))
        return error_set(error, STATUS_USAGE, "orrery bench: --softening must be at least 0");
    const struct bench_subject subject = {
        .physics = { .gravitational_constant = 1,
                     .softening = wanted->softening,
                     .boundary = periodic ? BOUNDARY_PERIODIC : BOUNDARY_OPEN,
                     .box_length = periodic ? 2 : 0 },
        .integrator = integrator_find("velocity-verlet"),
        .devices = 1,
        .equal = wanted->equal,
    };
    char setting[128];
    snprintf(setting, sizeof setting, "%s cube of side 2, %s masses, softening %g",
             periodic ? "a periodic" : "a", wanted->equal ? "equal" : "unequal", wanted->softening);
    struct bench_plan plans[COUNT_OF(default_plans)];
    size_t count = 1;
    const bool chosen = wanted->sizes || wanted->threads || wanted->backends || wanted->kernels ||
                        wanted->precisions || wanted->isas || wanted->accuracies;
    if (!chosen)
        count = plan_default(plans);
    else if (plan_wanted(wanted, 0, plans, error))
        return error->status;
    return measure_all(plans, count, &subject, setting, wanted, error);
}

/* Sets those values of the plan for which the options give no list to the values of the experiment,
 * except the backend, which stays "openmp". */
static void plan_as_experiment(const struct wanted *wanted, const struct config *config,
                               struct bench_plan *plan)
{
    const struct section *compute = config_section(config, "compute");
    const int64_t threads = section_integer(compute, "threads");
    if (!wanted->kernels)
        plan->kernels[0] = section_string(compute, "kernel");
    if (!wanted->precisions)
        plan->precisions[0] = section_string(compute, "precision");
    if (!wanted->isas)
        plan->isas[0] = section_string(compute, "isa");
    if (!wanted->threads && threads > 0)
        plan->threads[0] = (int)threads;
    const struct force_options force = force_options_of(compute);
    if (!wanted->accuracies && force_method_of(&force) == &force_fmm) {
        plan->accuracies[0] = force.accuracy;
        plan->multipoles_only = true;
    }
}

static enum status measure_experiment(const char *path, const struct argument_list *overrides,
                                      const struct wanted *wanted, struct error *error)
{
    const struct prepare_options options = { .path = path, .overrides = *overrides };
    struct prepared prepared;
    struct experiment experiment = { 0 };
    struct bench_plan plan;
    if (!prepare_config(&options, &prepared, error) &&
        !experiment_create(prepared.config, NULL, &experiment, error) &&
        integrator_chooses_steps(experiment.simulation.integrator))
        error_set(error, STATUS_CONFIG,
                  "%s: time.integrator = \"%s\" chooses its own steps; orrery bench times "
                  "steps of one length: -P time.integrator=velocity-verlet",
                  path, experiment.simulation.integrator->variant.name);
    if (!error->status && !plan_wanted(wanted, experiment.simulation.bodies->count, &plan, error)) {
        plan_as_experiment(wanted, prepared.config, &plan);
        const struct bench_subject subject = { .physics = experiment.simulation.physics,
                                               .integrator = experiment.simulation.integrator,
                                               .bodies = experiment.simulation.bodies,
                                               .devices = experiment.simulation.options.devices,
                                               .stream = experiment.simulation.options.stream };
        measure_all(&plan, 1, &subject, experiment.name, wanted, error);
    }
    experiment_destroy(&experiment);
    prepare_done(&prepared);
    return error->status;
}

static bool is_for_gpu(int argc, char **argv)
{
    for (int k = 1; k < argc; k++)
        if (strcmp(argv[k], "--gpu") == 0)
            return true;
    return false;
}

enum status command_bench(int argc, char **argv, struct error *error)
{
    struct wanted wanted = { .seconds = default_seconds, .softening = 0.05 };
    struct argument_list overrides = { 0 }, plain;
    bool gpu = false, helped;
    const struct argument table[] = {
        { 0, "sizes", "N,...", ARGUMENT_TEXT, &wanted.sizes, "numbers of bodies" },
        { 0, "threads", "T,...", ARGUMENT_TEXT, &wanted.threads, "numbers of threads" },
        { 0, "backends", "NAME,...", ARGUMENT_TEXT, &wanted.backends, "serial, openmp, cuda" },
        { 0, "kernels", "NAME,...", ARGUMENT_TEXT, &wanted.kernels, "auto, plain, symmetric, ..." },
        { 0, "precisions", "NAME,...", ARGUMENT_TEXT, &wanted.precisions, "double, mixed, single" },
        { 0, "isas", "NAME,...", ARGUMENT_TEXT, &wanted.isas, "auto, avx512, avx2, baseline, ..." },
        { 0, "accuracies", "A,...", ARGUMENT_TEXT, &wanted.accuracies,
          "of fast multipoles, measured beside direct sums" },
        { 0, "equal-masses", NULL, ARGUMENT_FLAG, &wanted.equal, "give all bodies the same mass" },
        { 0, "softening", "LENGTH", ARGUMENT_REAL, &wanted.softening, "softening length (0.05)" },
        { 0, "boundary", "open|periodic", ARGUMENT_TEXT, &wanted.boundary, "boundary of the cube" },
        { 0, "seconds", "S", ARGUMENT_REAL, &wanted.seconds, "about how long it may take (100)" },
        { 'P', NULL, "key.path=value", ARGUMENT_LIST, &overrides, "set a key of FILE.cfg" },
        { 'o', "output", "FOLDER", ARGUMENT_TEXT, &wanted.folder,
          "write bench.csv, bench.json and figures" },
        { 0, "no-lock", NULL, ARGUMENT_NO_LOCK, NULL,
          "take no locks, for file systems without them" },
        { 0, "gpu", NULL, ARGUMENT_FLAG, &gpu, "measure a GPU: see bench --gpu --help" },
    };
    const struct arguments arguments = {
        "orrery bench [FILE.cfg] [options]",
        "Measures the CPU: every kernel, precision and instruction set beside the limit of its\n"
        "arithmetic, and the openmp backend from two bodies to many. With lists, every\n"
        "combination of their values; with FILE.cfg, the steps of that experiment.",
        table,
        COUNT_OF(table),
        0,
        1
    };
    if (is_for_gpu(argc, argv))
        return command_bench_gpu(argc, argv, error);
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    if (!(wanted.seconds > 0))
        return error_set(error, STATUS_USAGE, "orrery bench: --seconds must be above 0");
    if (plain.count && wanted.sizes)
        return error_set(error, STATUS_USAGE,
                         "orrery bench: --sizes does not go with FILE.cfg, whose bodies are given");
    return plain.count ? measure_experiment(plain.items[0], &overrides, &wanted, error)
                       : measure_cube(&wanted, error);
}
