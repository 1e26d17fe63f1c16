#include "formats/read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* --- units of a file -------------------------------------------------------------------------- */

enum { KIND_MASS, KIND_LENGTH, KIND_VELOCITY, KIND_TIME, KINDS };

static const struct {
    const char *name;
    struct dimension dimension;
} kinds[KINDS] = {
    [KIND_MASS] = { "mass", DIMENSION_MASS },
    [KIND_LENGTH] = { "length", DIMENSION_LENGTH },
    [KIND_VELOCITY] = { "velocity", DIMENSION_VELOCITY },
    [KIND_TIME] = { "time", DIMENSION_TIME },
};

static size_t kind_of(enum quantity quantity)
{
    return quantity == QUANTITY_MASS ? KIND_MASS
           : quantity < QUANTITY_VX  ? KIND_LENGTH
                                     : KIND_VELOCITY;
}

struct dimension read_units_dimension(enum quantity quantity)
{
    return kinds[kind_of(quantity)].dimension;
}

/* Reads `text` as a unit of this kind: mass, length, velocity or time. Returns false, with the
 * reason in `problem`, if it is no unit, or one of another kind. */
static bool parse_unit(const char *text, size_t kind, struct unit *unit,
                       char problem[READ_PROBLEM_SIZE])
{
    const struct dimension wanted = kinds[kind].dimension;
    if (!unit_parse(text, unit)) {
        snprintf(problem, READ_PROBLEM_SIZE,
                 "'%.40s' is no unit that is known here; units are made of %s, as in km/s or AU "
                 "d^-1",
                 text, unit_symbols());
        return false;
    }
    if (strcmp(text, "1") == 0) /* for some programs "1" means: no unit */
        *unit = (struct unit){ wanted, 0.0 };
    if (memcmp(&unit->dimension, &wanted, sizeof wanted) == 0)
        return true;
    snprintf(problem, READ_PROBLEM_SIZE, "'%.40s' is no unit of %s", text, kinds[kind].name);
    return false;
}

bool read_units_note(struct read_units *units, enum quantity quantity, const char *text,
                     char problem[READ_PROBLEM_SIZE])
{
    const size_t kind = kind_of(quantity);
    if (!parse_unit(text, kind, &units->of[quantity], problem))
        return false;
    snprintf(units->spelling[kind], READ_UNIT_SIZE, "%s", text);
    return true;
}

bool read_units_note_time(struct read_units *units, const char *text,
                          char problem[READ_PROBLEM_SIZE])
{
    if (!parse_unit(text, KIND_TIME, &units->time, problem))
        return false;
    const bool nbody = !(units->time.worth > 0.0);
    if (units->said && nbody == !(units->of[QUANTITY_MASS].worth > 0.0))
        return true;
    if (units->said)
        snprintf(problem, READ_PROBLEM_SIZE,
                 "'%.40s' is %s N-body unit, but those of mass, length and velocity are%s", text,
                 nbody ? "an" : "no", nbody ? " not" : "");
    else
        snprintf(problem, READ_PROBLEM_SIZE,
                 "'%.40s' is the only unit; name those of mass, length and velocity too, or none",
                 text);
    return false;
}

const char *read_units_words(const struct read_units *units, char words[READ_PROBLEM_SIZE])
{
    snprintf(words, READ_PROBLEM_SIZE, "%s, %s and %s", units->spelling[KIND_MASS],
             units->spelling[KIND_LENGTH], units->spelling[KIND_VELOCITY]);
    return words;
}

/* --- the units that are wished for ------------------------------------------------------------ */

static bool are_those_of(const struct read_units *said, const struct units *units)
{
    bool same = true;
    for (enum quantity q = 0; q < QUANTITY_REALS && same; q++)
        same = units_factor(units, said->of[q]) == 1.0;
    return same;
}

const struct units *read_units_system(const struct read_units *units)
{
    for (size_t i = 0; units->said && units_at(i); i++)
        if (are_those_of(units, units_at(i)))
            return units_at(i);
    return NULL;
}

/* Writes advice into `words`: set physics.units = "galactic", if that system has the units of the
 * file, or else to one of the systems with values in SI, which it lists. */
static void name_system(const struct read_units *said, char words[READ_PROBLEM_SIZE])
{
    const struct units *system = read_units_system(said);
    const char *separator = "";
    if (system) {
        snprintf(words, READ_PROBLEM_SIZE, "set physics.units = \"%s\"", system->name);
        return;
    }
    int used = snprintf(words, READ_PROBLEM_SIZE, "set physics.units to one of");
    for (size_t i = 0; units_at(i); i++)
        if (units_physical(units_at(i))) {
            used += snprintf(words + used, READ_PROBLEM_SIZE - (size_t)used, "%s %s", separator,
                             units_at(i)->name);
            separator = ",";
        }
}

const char *read_units_called(const struct read_wish *wish)
{
    return wish->called ? wish->called : "bodies.file_units =";
}

/* Explains in `problem` that numbers in N-body units cannot be converted into units with a value in
 * kg, m and s, or the reverse, and names a remedy. */
static void explain_worth(const struct read_units *said, const struct read_wish *wish,
                          char problem[READ_PROBLEM_SIZE])
{
    const struct units *to = wish->units;
    char words[READ_PROBLEM_SIZE], mend[READ_PROBLEM_SIZE];
    if (units_physical(to)) {
        snprintf(
            problem, READ_PROBLEM_SIZE,
            "its numbers are in N-body units, which cannot become those of \"%s\"; if they are "
            "in these, set %s \"as-is\"",
            to->name, read_units_called(wish));
        return;
    }
    name_system(said, mend);
    snprintf(
        problem, READ_PROBLEM_SIZE,
        "its numbers are in %.130s, which cannot become N-body units: %.160s, or %s \"as-is\" to "
        "take them as they stand",
        read_units_words(said, words), mend, read_units_called(wish));
}

static void explain_contradiction(const struct read_units *said, const struct read_wish *wish,
                                  char problem[READ_PROBLEM_SIZE])
{
    char words[READ_PROBLEM_SIZE];
    snprintf(problem, READ_PROBLEM_SIZE,
             "its numbers are in %.130s, which are not the units of %s \"%s\"; leave that away, or "
             "set it to \"as-is\" to take them as they stand",
             read_units_words(said, words), read_units_called(wish), wish->file_units->name);
}

/* Returns the units of a file in which all numbers are in the units of one system. */
static struct read_units units_of_system(const struct units *system)
{
    struct read_units units = { .said = true,
                                .time = units_unit(system, (struct dimension)DIMENSION_TIME) };
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        units.of[q] = units_unit(system, read_units_dimension(q));
    for (size_t kind = 0; kind < READ_UNIT_KINDS; kind++) {
        char label[UNITS_LABEL_SIZE];
        snprintf(units.spelling[kind], READ_UNIT_SIZE, "%.*s", READ_UNIT_SIZE - 1,
                 units_label(system, kinds[kind].dimension, label));
    }
    return units;
}

/* Computes the factors that convert the numbers and times of a file into the units that are wished
 * for. Returns false, with reason and remedy in `problem`, if the wish contradicts the file. */
static bool read_units_factors(const struct read_units *units, const struct read_wish *wish,
                               struct read_factors *factors, char problem[READ_PROBLEM_SIZE])
{
    factors->time = 1.0;
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        factors->of[q] = 1.0;
    if (wish->as_is || (!units->said && !wish->file_units))
        return true;
    if (units->said && wish->file_units && !are_those_of(units, wish->file_units)) {
        explain_contradiction(units, wish, problem);
        return false;
    }
    if (!wish->units)
        return true;
    const struct read_units from = units->said ? *units : units_of_system(wish->file_units);
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        factors->of[q] = units_factor(wish->units, from.of[q]);
    factors->time = units_factor(wish->units, from.time);
    if (!isnan(factors->of[QUANTITY_MASS]))
        return true;
    explain_worth(&from, wish, problem);
    return false;
}

/* --- readers ---------------------------------------------------------------------------------- */

#define READ_ROW(name) &read_##name,
static const struct read_format *const formats[] = { READ_FORMATS(READ_ROW) };
const char *const read_names[] = { READ_FORMATS(READ_NAME) NULL };

const struct read_format *read_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

/* The formats that are written and not read. A file has such a format if `mark` stands at one of
 * the offsets from `first` to `last`. */
static const struct {
    const char *name, *mark;
    size_t length, first, last;
} only_written[] = {
    { "npz", ".npy", 4, 30, 64 }, /* behind the head of the first file of a zip archive */
    { "lammps", "ITEM: ", 6, 0, 0 },
    { "dcd", "CORD", 4, 4, 4 },
    /* The name of the group at the root of an HDF5 file; text has no NUL. */
    { "vtkhdf", "\0VTKHDF", 8, 0, 2048 },
};

/* Returns the name of the only written format that a file has by its first bytes; NULL: none. */
static const char *find_only_written(const char *head, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(only_written); i++)
        for (size_t at = only_written[i].first; at <= only_written[i].last; at++)
            if (at + only_written[i].length <= length &&
                memcmp(head + at, only_written[i].mark, only_written[i].length) == 0)
                return only_written[i].name;
    return NULL;
}

static enum status refuse_written(const char *path, const char *name, struct error *error)
{
    struct text names = { 0 };
    text_names(&names, read_names);
    error_set(error, STATUS_DATA, "%s: is in the format %s, which is only written; read are %s",
              path, name, names.failed ? "others" : names.bytes);
    text_free(&names);
    return error->status;
}

enum status read_recognise(const char *path, const struct read_format **format, struct error *error)
{
    char head[4096];
    size_t length;
    if (lines_head(path, head, sizeof head, &length, error) != STATUS_OK)
        return error->status;
    const char *const written = find_only_written(head, length);
    if (written)
        return refuse_written(path, written, error);
    const char *text = strncmp(head, "\xef\xbb\xbf", 3) == 0 ? head + 3 : head;
    size_t i = 0;
    while (!formats[i]->recognise(path, text, length))
        i++;
    *format = formats[i];
    return STATUS_OK;
}

void read_about_clear(struct read_about *about)
{
    *about = (struct read_about){ .time = NAN, .step = -1 };
}

void read_about_leave_out(struct read_about *about, const char *name)
{
    const size_t length = strlen(name);
    char *list = about->left_out;
    if (length == 0)
        return;
    for (const char *p = list; (p = strstr(p, name)); p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ',' || p[length] == '\0'))
            return;
    const size_t used = strlen(list);
    snprintf(list + used, READ_LEFT_OUT_SIZE - used, "%s%s", used ? ", " : "", name);
}

enum status read_resolve_units(const struct read_request *request, size_t line,
                               struct read_about *about, struct read_factors *factors,
                               struct error *error)
{
    char problem[READ_PROBLEM_SIZE], number[24] = "";
    if (read_units_factors(&about->units, &request->wish, factors, problem)) {
        about->time *= factors->time;
        about->box_length *= factors->of[QUANTITY_X];
        for (int axis = 0; axis < 3; axis++)
            about->box_corner[axis] *= factors->of[QUANTITY_X];
        return STATUS_OK;
    }
    if (line)
        snprintf(number, sizeof number, ":%zu", line);
    return error_set(error, STATUS_CONFIG, "%s%s: %s", request->path, number, problem);
}

enum status read_check_frame(const struct read_request *request, const char *what,
                             struct error *error)
{
    if (request->frame <= 0)
        return STATUS_OK;
    return error_set(error, STATUS_DATA,
                     "%s: there is no frame %" PRId64 ": %s holds one, number 0", request->path,
                     request->frame, what);
}

enum status read_check_systems(const struct read_request *request, size_t systems,
                               const struct bodies *bodies, struct error *error)
{
    if (systems == 1 || systems == bodies->systems)
        return STATUS_OK;
    return error_set(error, STATUS_DATA,
                     "%s: the file holds %zu systems, the run %zu: ensemble.systems must be %zu",
                     request->path, systems, bodies->systems, systems);
}

void read_repeat(struct bodies *bodies)
{
    for (size_t s = 1; s < bodies->systems; s++)
        bodies_copy_system(bodies, s, bodies, 0);
}
