#include "integrator/stage-list.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/parameter-reference.h"

/* --- series ----------------------------------------------------------------------------------- */

/*
 * A series in the step h: the coefficients of h^0 to h^STAGE_ORDER_MOST. A step of kicks and drifts
 * turns x and v into series of h, and so does the exact motion; the first coefficient in which they
 * differ is that of h^(order + 1).
 */
/* The highest order that is looked for; lists of INTEGRATOR_MAX_STAGES stages reach 6 at most. */
enum { STAGE_ORDER_MOST = 8 };
enum { TERMS = STAGE_ORDER_MOST + 1, AXES = 3 };

struct series {
    double c[TERMS];
};

/* Position and velocity of the body that moves, as series in h. */
struct orbit_series {
    struct series x[AXES], v[AXES];
};

static void add_product(struct series *sum, const struct series *a, const struct series *b)
{
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; i + k < TERMS; k++)
            sum->c[i + k] += a->c[i] * b->c[k];
}

/* Returns a^power, by the recurrence that follows from a p' = power a' p (Euler; Knuth, The Art of
 * Computer Programming 2, 4.7). */
static struct series power_of(const struct series *a, double power)
{
    struct series p = { { pow(a->c[0], power) } };
    for (int n = 1; n < TERMS; n++) {
        for (int k = 1; k <= n; k++)
            p.c[n] += (power * k - (n - k)) * a->c[k] * p.c[n - k];
        p.c[n] /= n * a->c[0];
    }
    return p;
}

/* Computes the acceleration in the softened field of three masses, without any symmetry that could
 * hide an error. Masses and lengths are near 1, so that the coefficients of the series neither grow
 * nor shrink fast. */
static void accelerate(const struct series x[AXES], struct series a[AXES])
{
    static const double eps2 = 0.7;
    static const struct {
        double m, x[AXES];
    } centres[] = { { 1.0, { 0.31, -0.83, 0.47 } },
                    { 0.8, { -1.13, 0.59, 0.22 } },
                    { 0.6, { 0.26, 0.94, -1.07 } } };
    for (int axis = 0; axis < AXES; axis++)
        a[axis] = (struct series){ { 0 } };
    for (size_t j = 0; j < sizeof centres / sizeof *centres; j++) {
        struct series r[AXES], r2 = { { eps2 } };
        for (int axis = 0; axis < AXES; axis++) {
            r[axis] = x[axis];
            r[axis].c[0] -= centres[j].x[axis];
            add_product(&r2, &r[axis], &r[axis]);
        }
        struct series inverse = power_of(&r2, -1.5);
        for (int n = 0; n < TERMS; n++)
            inverse.c[n] *= -centres[j].m;
        for (int axis = 0; axis < AXES; axis++)
            add_product(&a[axis], &inverse, &r[axis]);
    }
}

static const struct orbit_series start = { .x = { { { 0.17 } }, { { -0.11 } }, { { 0.29 } } },
                                           .v = { { { 0.53 } }, { { 0.41 } }, { { -0.37 } } } };

/* Adds coefficient h rate to each series of `to`. */
static void move(struct series to[AXES], double coefficient, const struct series rate[AXES])
{
    for (int axis = 0; axis < AXES; axis++)
        for (int n = 1; n < TERMS; n++)
            to[axis].c[n] += coefficient * rate[axis].c[n - 1];
}

static struct orbit_series step_of(const struct integrator *integrator)
{
    struct orbit_series s = start;
    struct series a[AXES];
    for (size_t k = 0; k < integrator->stage_count; k++) {
        const struct stage *const stage = &integrator->stages[k];
        if (stage->verb == VERB_DRIFT) {
            move(s.x, stage->coefficient, s.v);
        } else if (stage->verb == VERB_KICK) {
            accelerate(s.x, a);
            move(s.v, stage->coefficient, a);
        }
    }
    return s;
}

/* Returns the series of the exact motion x' = v, v' = a(x): each pass of the loop gives one
 * coefficient more. */
static struct orbit_series motion(void)
{
    struct orbit_series s = start;
    struct series a[AXES];
    for (int n = 1; n < TERMS; n++) {
        accelerate(s.x, a);
        for (int axis = 0; axis < AXES; axis++) {
            s.x[axis].c[n] = s.v[axis].c[n - 1] / n;
            s.v[axis].c[n] = a[axis].c[n - 1] / n;
        }
    }
    return s;
}

/*
 * Returns the order of the list: the power of dt up to which the series of one step equals that of
 * the motion, for a body in the softened field of three others; at most STAGE_ORDER_MOST.
 * Coefficients may differ by 1e-9, so that ten digits in a config are enough.
 */
static int stage_order(const struct integrator *integrator)
{
    static const double met = 1e-9;
    const struct orbit_series got = step_of(integrator), expected = motion();
    int order = 0;
    for (; order < STAGE_ORDER_MOST; order++) {
        double error = 0.0;
        for (int axis = 0; axis < AXES; axis++) {
            error = fmax(error, fabs(got.x[axis].c[order + 1] - expected.x[axis].c[order + 1]));
            error = fmax(error, fabs(got.v[axis].c[order + 1] - expected.v[axis].c[order + 1]));
        }
        if (!(error < met))
            break;
    }
    return order;
}

/* --- a passage -------------------------------------------------------------------------------- */

static const double eccentricity = 0.9;

static double energy_of(const double x[2], const double v[2])
{
    return 0.5 * (v[0] * v[0] + v[1] * v[1]) - 1.0 / hypot(x[0], x[1]);
}

/* Returns the largest energy error from pericentre to apocentre, relative to the potential energy
 * at the pericentre, of an orbit with semi-major axis 1. `steps` is the number of steps per period
 * at the pericentre. */
static double passage_error(const struct integrator *integrator, double steps)
{
    const double e = eccentricity, dt = 2.0 * M_PI * pow(1.0 - e, 1.5) / steps;
    double x[2] = { 1.0 - e, 0.0 }, v[2] = { 0.0, sqrt((1.0 + e) / (1.0 - e)) }, worst = 0.0;
    const double E0 = energy_of(x, v);
    for (double t = 0.0; t < M_PI; t += dt) {
        for (size_t k = 0; k < integrator->stage_count; k++) {
            const struct stage *const stage = &integrator->stages[k];
            const double r2 = x[0] * x[0] + x[1] * x[1], h = stage->coefficient * dt;
            for (int axis = 0; axis < 2; axis++)
                if (stage->verb == VERB_DRIFT)
                    x[axis] += h * v[axis];
                else if (stage->verb == VERB_KICK)
                    v[axis] -= h * x[axis] / (r2 * sqrt(r2));
        }
        const double error = fabs(energy_of(x, v) - E0) * (1.0 - e);
        if (!(error < 1.0)) /* the body has escaped, or its energy is not finite */
            return INFINITY;
        worst = fmax(worst, error);
    }
    return worst;
}

/* Returns passage_steps of struct integrator, for an eccentricity of 0.9; at most 1e5. Tries
 * numbers of steps until the error is near the wanted one: from the error with one number, the
 * order of the integrator, which must be known, predicts the next number. */
static double stage_passage_steps(const struct integrator *integrator)
{
    static const double most = 1e5, first = 60.0, near = 1.2;
    enum { TRIES = 12 };
    double steps = first;
    for (int k = 0; k < TRIES && steps < most; k++) {
        const double times = passage_error(integrator, steps) / INTEGRATOR_PASSAGE_ERROR;
        if (times < near && times * near > 1.0)
            break;
        const double change = isfinite(times) ? pow(times, 1.0 / integrator->order) : 4.0;
        steps = ceil(steps * fmax(change, 0.25));
    }
    return fmin(steps, most);
}

/* --- symmetry --------------------------------------------------------------------------------- */

/* Tells whether the kicks and drifts are the same in reverse order, so that steps are reversible in
 * time. */
static bool is_symmetric(const struct integrator *integrator)
{
    static const double rounding = 4 * DBL_EPSILON;
    const struct stage *const stages = integrator->stages;
    size_t first = 0, end = integrator->stage_count;
    while (first < end) {
        if (stages[first].verb == VERB_FORCE) {
            first++;
        } else if (stages[end - 1].verb == VERB_FORCE) {
            end--;
        } else {
            const struct stage *const a = &stages[first++], *const b = &stages[--end];
            if (a->verb != b->verb || !(fabs(a->coefficient - b->coefficient) <= rounding))
                return false;
        }
    }
    return true;
}

/* --- lists of a config ------------------------------------------------------------------------ */

static const struct {
    const char *word;
    bool numbered;
} verbs[] = { [VERB_FORCE] = { "force", false },
              [VERB_KICK] = { "kick", true },
              [VERB_DRIFT] = { "drift", true } };

struct complaint {
    char text[512];
};

/* The words of a list that is being read, the integrator made from them, and the complaint to
 * write. */
struct reading {
    const char *const *words;
    size_t count;
    struct integrator *integrator;
    struct complaint *complaint;
};

/* Prints the beginning of a sentence about stage `index` into the buffer, such as 'stage 2, "kick
 * 0.5",'. */
enum { STAGE_TEXT_SIZE = 96, WORD_SIZE = 160 };
static const char *stage_text(const struct reading *r, size_t index, char buffer[STAGE_TEXT_SIZE])
{
    snprintf(buffer, STAGE_TEXT_SIZE, "stage %zu, \"%.60s\",", index + 1, r->words[index]);
    return buffer;
}

/* Reads stage `index` from its text, a word and a number; returns false, with a complaint, if the
 * text is wrong. */
static bool read_stage(struct reading *r, size_t index)
{
    struct stage *const stage = &r->integrator->stages[index];
    const char *const word = r->words[index] + strspn(r->words[index], " ");
    char place[STAGE_TEXT_SIZE];
    for (size_t k = 0; k < COUNT_OF(verbs); k++) {
        const size_t letters = strlen(verbs[k].word);
        const char *const number = word + letters;
        if (strncmp(word, verbs[k].word, letters) != 0 || isalpha((unsigned char)*number))
            continue;
        stage->verb = (enum verb)k;
        if (verbs[k].numbered ? requirement_work_out(number, &stage->coefficient)
                              : number[strspn(number, " ")] == '\0')
            return true;
        snprintf(r->complaint->text, sizeof r->complaint->text,
                 verbs[k].numbered ? "%s must have one number after its word, such as 0.5 or -1/24"
                                   : "%s takes no number: write \"force\"",
                 stage_text(r, index, place));
        return false;
    }
    snprintf(r->complaint->text, sizeof r->complaint->text,
             "%s is none of \"kick NUMBER\", \"drift NUMBER\" and \"force\"",
             stage_text(r, index, place));
    return false;
}

static bool is_move(const struct stage *stage)
{
    return stage->verb != VERB_FORCE;
}

/* Returns the index of the stage that is executed before stage `index`; before the first stage of a
 * step this is the last stage, that of the previous step. */
static size_t before(const struct reading *r, size_t index)
{
    return (index > 0 ? index : r->count) - 1;
}

/* Checks a stage against the stage before it. Two kicks or two drifts may follow each other only
 * where a step ends and the next begins, since the run may end there. */
static bool check_place(const struct reading *r, size_t index)
{
    const struct stage *const stages = r->integrator->stages;
    const size_t last = before(r, index);
    const enum verb verb = stages[index].verb, previous = stages[last].verb;
    char *const text = r->complaint->text, place[STAGE_TEXT_SIZE];
    const size_t size = sizeof r->complaint->text;
    if (is_move(&stages[index]) && stages[index].coefficient == 0.0)
        snprintf(text, size, "%s does nothing; leave it out", stage_text(r, index, place));
    else if (verb == VERB_KICK && previous == VERB_DRIFT)
        snprintf(
            text, size,
            "%s comes after \"%.60s\"%s without a \"force\" between them, and would kick with the "
            "forces of earlier positions; put \"force\" before it",
            stage_text(r, index, place), r->words[last], index > 0 ? "" : " of the step before");
    else if (verb == VERB_DRIFT && previous == VERB_FORCE)
        snprintf(text, size,
                 "%s comes after a \"force\" that no kick has used; put the kick between them, or "
                 "leave the \"force\" out",
                 stage_text(r, index, place));
    else if (verb == VERB_FORCE && previous != VERB_DRIFT && (index > 0 || previous == VERB_FORCE))
        snprintf(text, size,
                 "%s finds the positions of the last forces, which no drift has changed; leave it "
                 "out",
                 stage_text(r, index, place));
    else if (verb == VERB_FORCE && previous != VERB_DRIFT)
        snprintf(text, size,
                 "%s finds the forces done at the end of the step before, after which no drift "
                 "comes; leave it out",
                 stage_text(r, index, place));
    else if (index > 0 && verb == previous)
        snprintf(text, size, "%s comes after another %s; write one with the sum of both",
                 stage_text(r, index, place), verbs[verb].word);
    return text[0] == '\0';
}

static bool check_sum(const struct reading *r, enum verb verb)
{
    double sum = 0.0, sizes = 0.0;
    for (size_t k = 0; k < r->count; k++)
        if (r->integrator->stages[k].verb == verb) {
            sum += r->integrator->stages[k].coefficient;
            sizes += fabs(r->integrator->stages[k].coefficient);
        }
    /* Decimal numbers of 16 digits add up to 1 with an error of this size. */
    if (fabs(sum - 1.0) <= 1e-14 * (double)r->count * fmax(1.0, sizes))
        return true;
    char text[TEXT_REAL_SIZE];
    snprintf(r->complaint->text, sizeof r->complaint->text,
             "the %ss add up to %s; they must add up to 1, the whole step (a fraction such as 1/3 "
             "has all its digits)",
             verbs[verb].word, text_real(text, sum));
    return false;
}

/* Makes *integrator from the words, with its traits; returns false, with a complaint, if the words
 * are wrong. */
static bool read_words(const char *const *words, size_t count, struct integrator *integrator,
                       struct complaint *complaint)
{
    struct reading r = { words, count, integrator, complaint };
    *integrator = *integrator_find(INTEGRATOR_LIST);
    complaint->text[0] = '\0';
    if (count == 0 || count > INTEGRATOR_MAX_STAGES) {
        snprintf(complaint->text, sizeof complaint->text,
                 "has %zu stages; there may be 3 to %d, as in [\"kick 0.5\", \"drift 1\", "
                 "\"force\", \"kick 0.5\"]",
                 count, (int)INTEGRATOR_MAX_STAGES);
        return false;
    }
    for (size_t k = 0; k < count; k++)
        if (!read_stage(&r, k))
            return false;
    integrator->stage_count = count;
    for (size_t k = 0; k < count; k++)
        if (!check_place(&r, k))
            return false;
    if (!check_sum(&r, VERB_KICK) || !check_sum(&r, VERB_DRIFT))
        return false;
    integrator->reversible = is_symmetric(integrator);
    integrator->order = stage_order(integrator);
    integrator->passage_steps = stage_passage_steps(integrator);
    return true;
}

static bool is_list(const struct section *time)
{
    return section_variant(time) && strcmp(section_variant(time)->name, INTEGRATOR_LIST) == 0;
}

/* Copies a value to `word`, without the quotation marks of a string. A value that is too long is
 * cut and ends with dots, so that its beginning is not taken for a number. */
static void copy_word(const char *value, char word[WORD_SIZE])
{
    const size_t marks = value[0] == '"', length = strlen(value) - 2 * marks;
    const bool fits = length < WORD_SIZE;
    snprintf(word, WORD_SIZE, "%.*s%s", fits ? (int)length : WORD_SIZE - 4, value + marks,
             fits ? "" : "...");
}

void stage_list_read(const struct section *time, struct error *error)
{
    char words[INTEGRATOR_MAX_STAGES][WORD_SIZE];
    const char *pointers[INTEGRATOR_MAX_STAGES];
    struct complaint complaint;
    size_t count;
    if (!is_list(time))
        return;
    const char *const *const values = section_values(time, "stages", &count);
    for (size_t k = 0; k < count && k < INTEGRATOR_MAX_STAGES; k++) {
        copy_word(values[k], words[k]);
        pointers[k] = words[k];
    }
    if (!read_words(pointers, count, section_kept(time), &complaint))
        section_error(time, "stages", error, "%s", complaint.text);
}

const struct integrator *stage_list_or_row(const struct section *time)
{
    return is_list(time) ? section_kept(time) : integrator_find(section_variant(time)->name);
}

bool stage_list_make(const char *const *words, size_t count, struct integrator *integrator)
{
    struct complaint complaint;
    return read_words(words, count, integrator, &complaint);
}

void stage_list_take(const struct stage *stages, size_t count, struct integrator *integrator)
{
    *integrator = *integrator_find(INTEGRATOR_LIST);
    integrator->stage_count = count;
    memcpy(integrator->stages, stages, count * sizeof *stages);
}

/* Appends a stage of VERB_COMBINE, such as "r = x + 1 dt v", "x += 0.25 dt^2 s" or "x = r". */
static void print_combination(const struct stage *stage, struct text *text)
{
    static const char *const vectors[VECTORS] = { "x", "v", "a", "r", "s" };
    static const char *const powers[] = { "", " dt", " dt^2" };
    if (stage->to == stage->from)
        text_print(text, "%s += ", vectors[stage->to]);
    else
        text_print(text, "%s = %s%s", vectors[stage->to], vectors[stage->from],
                   stage->coefficient != 0 ? " + " : "");
    if (stage->coefficient != 0)
        text_print(text, "%.6g%s %s", stage->coefficient, powers[stage->power],
                   vectors[stage->rate]);
}

void stage_list_print(const struct integrator *integrator, struct text *text)
{
    for (size_t k = 0; k < integrator->stage_count; k++) {
        const struct stage *const stage = &integrator->stages[k];
        text_print(text, "%s", k ? ", " : "");
        if (stage->verb == VERB_COMBINE)
            print_combination(stage, text);
        else if (stage->verb == VERB_FORCE)
            text_print(text, "%s", verbs[stage->verb].word);
        else
            text_print(text, "%s %.6g", verbs[stage->verb].word, stage->coefficient);
    }
}

bool stage_list_describe(const struct integrator *integrator, struct text *text)
{
    const size_t forces = integrator_forces_per_step(integrator);
    if (integrator_find(integrator->variant.name) == integrator)
        return false;
    stage_list_print(integrator, text);
    text_print(text, ": order %d, symplectic%s; %zu force%s per step", integrator->order,
               integrator->reversible ? ", reversible in time" : "", forces, forces > 1 ? "s" : "");
    return !text->failed;
}
