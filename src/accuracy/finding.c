#include "accuracy/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"

struct finding finding_row(const char *name, double value, double bound, bool beyond, double since)
{
    return (struct finding){ .name = name,
                             .value = value,
                             .bound = bound,
                             .times = value / bound,
                             .since = beyond ? since : NAN,
                             .bodies = { NAN, NAN },
                             .severity = beyond ? FINDING_FAILURE : FINDING_HELD };
}

void findings_add(struct findings *findings, const struct finding *row, const char *sentence)
{
    struct finding *const rows =
        realloc(findings->rows, memory_bytes(findings->count + 1, sizeof *rows));
    char *const copy = rows ? strdup(sentence) : NULL;
    if (rows)
        findings->rows = rows;
    if (!copy) {
        findings->failed = true;
        return;
    }
    findings->rows[findings->count] = *row;
    findings->rows[findings->count++].sentence = copy;
}

void findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->rows[i].sentence);
    free(findings->rows);
    *findings = (struct findings){ 0 };
}

const struct finding *findings_worst(const struct findings *findings, enum finding_subject subject)
{
    const struct finding *worst = NULL;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *row = &findings->rows[i];
        if (row->subject == subject && row->severity == FINDING_FAILURE &&
            (!worst || row->times > worst->times))
            worst = row;
    }
    return worst;
}

bool finding_is_worse(const struct finding *a, const struct finding *b)
{
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->times != b->times ? a->times > b->times : a->value > b->value;
}

const char *finding_whose(const struct finding *finding, char buffer[FINDING_WHOSE_SIZE])
{
    const struct bodies *const named = finding->named;
    const double *const ids = finding->bodies;
    char pair[BODIES_PAIR_SIZE], name[BODIES_NAME_SIZE], about[BODIES_NAME_SIZE];
    char test[FINDING_TEST_BODY_SIZE];
    buffer[0] = '\0';
    if (finding->subject == FINDING_OF_PAIR && !isnan(ids[0]))
        snprintf(buffer, FINDING_WHOSE_SIZE, " of %s",
                 bodies_pair(named, (int64_t)ids[0], (int64_t)ids[1], pair));
    else if (!isnan(ids[1]))
        snprintf(buffer, FINDING_WHOSE_SIZE, " of %s about %s",
                 bodies_name(named, (int64_t)ids[0], name),
                 bodies_name(named, (int64_t)ids[1], about));
    else if (!isnan(ids[0]))
        snprintf(buffer, FINDING_WHOSE_SIZE, " of %s", finding_test_body(named, ids[0], test));
    return buffer;
}

const char *finding_test_body(const struct bodies *bodies, double id,
                              char buffer[FINDING_TEST_BODY_SIZE])
{
    char name[BODIES_NAME_SIZE];
    bodies_name(bodies, (int64_t)id, name);
    snprintf(buffer, FINDING_TEST_BODY_SIZE, "%s%s", strchr(name, ' ') ? "test " : "", name);
    return buffer;
}

static json_t *system_json(size_t system)
{
    return system > 0 ? json_integer((json_int_t)system) : json_null();
}

static json_t *finding_json(const struct finding *f)
{
    static const char *const severities[] = { "open", "held", "warning", "failure" };
    char whose[FINDING_WHOSE_SIZE];
    finding_whose(f, whose);
    return DOCUMENT({ "judge", json_string(f->subject >= FINDING_OF_ENERGY ? "expect" : "watch") },
                    { "name", json_string(f->name) },
                    { "whose", json_string(whose[0] ? whose + strlen(" of ") : "") },
                    { "value", document_number(f->value) },
                    { "unit", json_string(f->unit && f->unit[0] ? f->unit + 1 : "") },
                    { "bound", document_number(f->bound) },
                    { "bound_is", json_string(f->from_below ? "least" : "most") },
                    { "since", document_number(f->since) }, { "system", system_json(f->system) },
                    { "since_system", system_json(f->since_system) },
                    { "systems_beyond", json_integer((json_int_t)f->systems) },
                    { "severity", json_string(severities[f->severity]) },
                    { "why_undefined", json_string(f->why_undefined ? f->why_undefined : "") },
                    { "sentence", json_string(f->sentence) });
}

json_t *findings_json(const struct findings *findings)
{
    json_t *list = findings->failed ? NULL : json_array();
    for (size_t i = 0; i < findings->count; i++)
        document_append(&list, finding_json(&findings->rows[i]));
    return list;
}
