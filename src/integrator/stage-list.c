#include "integrator/stage-list.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/requirement.h"
#include "integrator/stage-traits.h"

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
    integrator->reversible = stage_list_is_symmetric(integrator);
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
