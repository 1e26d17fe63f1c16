/*
 * Checkpoints: an input is such a file. It is read as it is; then with its checksums and its end
 * put right, so that what lies behind them is reached as well: the container, and everything that a
 * run takes from it.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "fuzz.h"
#include "output/checkpoint.h"
#include "run/phases.h"
#include "run/run.h"
#include "run/schema.h"

const char fuzz_corpus[] = "checkpoint";

enum { HEADER = 16, NAME = CHECKPOINT_NAME_SIZE, SECTION = NAME + 16, END = SECTION + 8 };

/* Something of everything that a checkpoint keeps. */
static const char config_text[] =
    "name = \"fuzz\";\n"
    "bodies = { initial = \"plummer\"; count = 3; seed = 42; };\n"
    "physics = { softening = 0.1; };\n"
    "time = { step = 0.01; end = 1.0; };\n"
    "compute = { backend = \"serial\"; };\n"
    "diagnostics = ( { type = \"conservation\"; every = 10; },\n"
    "                { type = \"lagrangian-radii\"; every = 50; } );\n"
    "outputs = ( { type = \"xyz\"; every = 20; } );\n"
    "checkpoint = { every_steps = 40; };\n"
    "expect = ( { quantity = \"energy_error\"; at_most = 1e-2; } );\n"
    "stop_when = ( { quantity = \"energy_error\"; at_least = 0.5; } );\n"
    "ensemble = { systems = 2; };\n";

static struct config *config;
static struct run *run;

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    struct error error = { 0 };
    const char *path = fuzz_path(0, "checkpoint.cfg");
    fuzz_write(path, config_text, strlen(config_text));
    fuzz_demand(schema_load(path, NULL, 0, &config, &error) == STATUS_OK, error.text);
    const struct run_options options = { .directory = "nowhere" };
    fuzz_demand(run_prepare(config, &options, false, &run, &error) == STATUS_OK, error.text);
    return 0;
}

/* Everything that restart.c takes from a checkpoint; each part, even if one before it failed. */
static void load(struct checkpoint *checkpoint)
{
    struct error errors[6] = { 0 };
    struct restart_difference difference;
    struct stream_mark mark;
    uint64_t step;
    const uint64_t steps = run->schedule.last;
    run->continuation.checkpoint = checkpoint;
    const enum status compared = restart_compare(run, &errors[0]);
    fuzz_demand(compared == errors[0].status, "the status is that of the error");
    if (restart_load_bodies(run, &errors[1]) == STATUS_OK) {
        restart_load_observers(run, &errors[2]);
        open_outputs(run, NULL, &errors[3]);
        if (restart_differences(run, checkpoint, &difference, &errors[4]) == STATUS_OK)
            fuzz_demand(difference.values == 0, "what was loaded is what is there");
    }
    restart_mark(run, "series", 0, &mark, &errors[5]);
    restart_step(checkpoint, &step, &errors[5]);
    restart_same_build(run, checkpoint);
    run->continuation.checkpoint = NULL;
    run->schedule.last = steps;
    run->files.early_log.length = 0;
}

static enum status parse(const void *bytes, size_t length)
{
    struct error error = { 0 };
    struct checkpoint *checkpoint;
    const enum status status = checkpoint_parse("input", bytes, length, &checkpoint, &error);
    fuzz_demand(status == error.status && (status == STATUS_OK) == (checkpoint != NULL),
                "a checkpoint or an error");
    if (checkpoint)
        load(checkpoint);
    checkpoint_close(checkpoint);
    return status;
}

static void store(uint8_t *bytes, uint64_t value)
{
    for (int k = 0; k < 8; k++)
        bytes[k] = (uint8_t)(value >> 8 * k);
}

static uint64_t take(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int k = 0; k < 8; k++)
        value |= (uint64_t)bytes[k] << 8 * k;
    return value;
}

/* Puts name, length and checksum of the section at `bytes` right; its length with its header. */
static size_t repair_section(uint8_t *bytes, size_t room)
{
    const size_t name = strnlen((const char *)bytes, NAME - 1), most = room - SECTION;
    memset(bytes + name, 0, NAME - name);
    const uint64_t wanted = take(bytes + NAME);
    const size_t length = wanted < most ? (size_t)wanted : most;
    store(bytes + NAME, length);
    store(bytes + NAME + 8, XXH3_64bits(bytes + SECTION, length));
    return SECTION + length;
}

/* The input as a file whose checksums all hold, with room for END bytes behind `length`; how long
 * it is then. */
static size_t repair(uint8_t *bytes, size_t length)
{
    size_t at = HEADER;
    memcpy(bytes, "ORRERYCP", 8);
    store(bytes + 8, 1);
    while (length - at >= SECTION && memcmp(bytes + at, "end", 4) != 0)
        at += repair_section(bytes + at, length - at);
    uint8_t *end = bytes + at;
    memset(end, 0, END);
    end[0] = 'e', end[1] = 'n', end[2] = 'd';
    store(end + NAME, 8);
    store(end + SECTION, XXH3_64bits(bytes, at));
    store(end + NAME + 8, XXH3_64bits(end + SECTION, 8));
    return at + END;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    parse(bytes, length);
    if (length < HEADER)
        return 0;
    uint8_t *repaired = malloc(length + END);
    fuzz_demand(repaired != NULL, "memory");
    memcpy(repaired, bytes, length);
    const enum status status = parse(repaired, repair(repaired, length));
    fuzz_demand(status == STATUS_OK, "checksums that hold are accepted");
    free(repaired);
    return 0;
}
