#include "integrator/integrator.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrator/block-steps.h"
#include "integrator/gauss-radau.h"
#include "integrator/hermite.h"

/* clang-format off */
#define FORCE              { VERB_FORCE, 0 }
#define KICK(coefficient)  { VERB_KICK, (coefficient) }
#define DRIFT(coefficient) { VERB_DRIFT, (coefficient) }
#define COMBINE(to, from, coefficient, power, rate) \
    { VERB_COMBINE, (coefficient), VECTOR_##to, VECTOR_##from, VECTOR_##rate, (power) }
#define COPY(to, from) COMBINE(to, from, 0, 0, from)

/*
 * Coefficients by which Yoshida (1990) composes leapfrogs S(w dt) so that the error terms of lower
 * order cancel: fourth order with w1, w0, w1, where 2 w1 + w0 = 1 and 2 w1^3 + w0^3 = 0 (also
 * Forest & Ruth 1990); sixth order with seven leapfrogs, his solution A. Digits from Hairer, Lubich
 * & Wanner (2006), V.3.2.
 */
#define Y4_W1   1.3512071919596576340476878089715 /* 1 / (2 - 2^(1/3)) */
#define Y4_W0 (-1.7024143839193152680953756179429)
#define Y6_W3   0.78451361047755726382
#define Y6_W2   0.23557321335935813368
#define Y6_W1 (-1.17767998417887100695)
#define Y6_W0   1.31518632068391121889

/* Coefficients of Omelyan, Mryglod & Folk (2002): one force more than in Forest & Ruth leaves free
 * parameters, with which the leading error term is as small as possible. */
#define PEFRL_XI       0.1786178958448091
#define PEFRL_LAMBDA (-0.2123418310626054)
#define PEFRL_CHI    (-0.06626458266981849)

static const struct parameter list_parameters[] = {
    { KEY(VALUES, stages),
      .help = "The stages of a step: \"kick NUMBER\", \"drift NUMBER\" and \"force\", in turn. A "
              "kick needs a force after each drift. Numbers may be fractions: \"kick -1/24\"." },
};

static const struct integrator table[] = {
    {
        .variant = { .name = "euler",
                     .help = "Explicit Euler: positions and velocities both advance with the old "
                             "state, so that the energy grows; for comparison only." },
        .order = 1,
        .passage_steps = 110000,
        .source = "Euler 1768, Institutiones calculi integralis I",
        .stage_count = 3,
        .stages = { FORCE, DRIFT(1), KICK(1) },
    },
    {
        .variant = { .name = "semi-implicit-euler",
                     .help = "Kick, then drift with the new velocity; the energy error stays "
                             "bounded." },
        .order = 1,
        .passage_steps = 11000,
        .symplectic = true,
        .source = "Hairer, Lubich & Wanner 2003, Acta Numerica 12, 399",
        .stage_count = 3,
        .stages = { FORCE, KICK(1), DRIFT(1) },
    },
    {
        .variant = { .name = "velocity-verlet",
                     .help = "Leapfrog in the form kick, drift, kick; the standard choice." },
        .order = 2,
        .passage_steps = 200,
        .symplectic = true,
        .reversible = true,
        .source = "Verlet 1967, Phys. Rev. 159, 98; Swope et al. 1982, J. Chem. Phys. 76, 637",
        .stage_count = 4,
        .stages = { KICK(0.5), DRIFT(1), FORCE, KICK(0.5) },
    },
    {
        .variant = { .name = "leapfrog-dkd", .help = "Leapfrog in the form drift, kick, drift." },
        .order = 2,
        .passage_steps = 90,
        .symplectic = true,
        .reversible = true,
        .source = "Hockney & Eastwood 1988, Computer Simulation Using Particles",
        .stage_count = 4,
        .stages = { DRIFT(0.5), FORCE, KICK(1), DRIFT(0.5) },
    },
    {
        .variant = { .name = "yoshida4",
                     .help = "Forest-Ruth: three leapfrogs composed to fourth order; 3 forces per "
                             "step." },
        .order = 4,
        .passage_steps = 24,
        .symplectic = true,
        .reversible = true,
        .source = "Forest & Ruth 1990, Physica D 43, 105; Yoshida 1990, Phys. Lett. A 150, 262",
        .stage_count = 10,
        .stages = {
            DRIFT(0.5 * Y4_W1), FORCE, KICK(Y4_W1),
            DRIFT(0.5 * (Y4_W1 + Y4_W0)), FORCE, KICK(Y4_W0),
            DRIFT(0.5 * (Y4_W0 + Y4_W1)), FORCE, KICK(Y4_W1),
            DRIFT(0.5 * Y4_W1),
        },
    },
    {
        .variant = { .name = "pefrl",
                     .help = "Optimised Forest-Ruth: fourth order with a much smaller error; 4 "
                             "forces per step." },
        .order = 4,
        .passage_steps = 17,
        .symplectic = true,
        .reversible = true,
        .source = "Omelyan, Mryglod & Folk 2002, Comput. Phys. Commun. 146, 188",
        .stage_count = 13,
        .stages = {
            DRIFT(PEFRL_XI), FORCE, KICK(0.5 - PEFRL_LAMBDA),
            DRIFT(PEFRL_CHI), FORCE, KICK(PEFRL_LAMBDA),
            DRIFT(1 - 2 * (PEFRL_CHI + PEFRL_XI)), FORCE, KICK(PEFRL_LAMBDA),
            DRIFT(PEFRL_CHI), FORCE, KICK(0.5 - PEFRL_LAMBDA),
            DRIFT(PEFRL_XI),
        },
    },
    {
        .variant = { .name = "yoshida6",
                     .help = "Seven leapfrogs composed to sixth order; 7 forces per step." },
        .order = 6,
        .passage_steps = 10,
        .symplectic = true,
        .reversible = true,
        .source = "Yoshida 1990, Phys. Lett. A 150, 262 (solution A)",
        .stage_count = 22,
        .stages = {
            DRIFT(0.5 * Y6_W3), FORCE, KICK(Y6_W3),
            DRIFT(0.5 * (Y6_W3 + Y6_W2)), FORCE, KICK(Y6_W2),
            DRIFT(0.5 * (Y6_W2 + Y6_W1)), FORCE, KICK(Y6_W1),
            DRIFT(0.5 * (Y6_W1 + Y6_W0)), FORCE, KICK(Y6_W0),
            DRIFT(0.5 * (Y6_W0 + Y6_W1)), FORCE, KICK(Y6_W1),
            DRIFT(0.5 * (Y6_W1 + Y6_W2)), FORCE, KICK(Y6_W2),
            DRIFT(0.5 * (Y6_W2 + Y6_W3)), FORCE, KICK(Y6_W3),
            DRIFT(0.5 * Y6_W3),
        },
    },
    /*
 * The classical Runge-Kutta method for y = (x, v) with k_i = (v_i, a_i); the velocities v_i are
 * eliminated from the positions:
 *     x2 = x + dt/2 v,   x3 = x2 + dt^2/4 a1,   x4 = x + dt v + dt^2/2 a2,
 *     x' = x4 + dt^2/6 (a1 - 2 a2 + a3),   v' = v + dt/6 (a1 + 2 a2 + 2 a3 + a4).
 * While a3 is evaluated at x3, three independent vectors have to be kept: the part of v' that is
 * summed so far, R = x4 and S = a1 - 2 a2. So two registers are needed.
 */
    {
        .variant = { .name = "rk4",
                     .help = "Classical Runge-Kutta, for teaching: a small error in each step, but "
                             "the energy drifts; 4 forces per step." },
        .order = 4,
        .passage_steps = 23,
        .source = "Kutta 1901, Z. Math. Phys. 46, 435; Hairer, Norsett & Wanner 1993, II.1",
        .stage_count = 17,
        .stages = {
            FORCE, COMBINE(R, X, 1, 1, V), COPY(S, A), DRIFT(0.5), KICK(1.0 / 6),
            FORCE, COMBINE(X, X, 0.25, 2, S), COMBINE(R, R, 0.5, 2, A), COMBINE(S, S, -2, 0, A),
            KICK(1.0 / 3),
            FORCE, COPY(X, R), COMBINE(S, S, 1, 0, A), KICK(1.0 / 3),
            FORCE, COMBINE(X, X, 1.0 / 6, 2, S), KICK(1.0 / 6),
        },
    },
    {
        .variant = { .name = "gauss-radau",
                     .help = "Chooses its own steps, to the accuracy asked for: quadrature of 15th "
                             "order for few bodies, close encounters and reference solutions.",
                     .parameters = gauss_radau_parameters,
                     .parameter_count = GAUSS_RADAU_PARAMETERS },
        .order = 15,
        .source = "Everhart 1985, IAU Coll. 83, 185; Rein & Spiegel 2015, MNRAS 446, 1424; Pham, "
                  "Rein & Spiegel 2024, OJAp 7, 1",
        .adaptive = &gauss_radau_class,
        .key_degree = 7,
        .work = { 1000, 300, 1.5 },
    },
    {
        .variant = { .name = "hermite4",
                     .help = "Hermite's method of fourth order with block steps: every body takes "
                             "the step that its own motion asks for; for clusters.",
                     .parameters = hermite_parameters,
                     .parameter_count = HERMITE_PARAMETERS },
        .order = 4,
        .source = "Makino & Aarseth 1992, PASJ 44, 141; Aarseth 2003, Gravitational N-Body "
                  "Simulations",
        .block_steps = true,
        .adaptive = &hermite_class,
        .key_degree = 2,
        .work = { 850, 0, 2 },
    },
    {
        .variant = { .name = "block-leapfrog",
                     .help = "The leapfrog with block steps by acceleration and softening: for "
                             "galaxies and clusters of many softened bodies.",
                     .parameters = block_leapfrog_parameters,
                     .parameter_count = BLOCK_LEAPFROG_PARAMETERS },
        .order = 2,
        .source = "Quinn, Katz, Stadel & Lake 1997, astro-ph/9710043; Springel 2005, MNRAS 364, "
                  "1105",
        .block_steps = true,
        .by_softening = true,
        .adaptive = &block_leapfrog_class,
        .key_degree = 1,
        .work = { 250, 0, 1 },
    },
    {
        .variant = { .name = INTEGRATOR_LIST,
                     .help = "A list of kicks, drifts and forces of your own, time.stages; "
                             "symplectic.",
                     .parameters = list_parameters,
                     .parameter_count = COUNT_OF(list_parameters) },
        .symplectic = true,
        .source = "McLachlan & Quispel 2002, Acta Numerica 11, 341",
    },
};
/* clang-format on */

const struct integrator *integrator_at(size_t index)
{
    return index < COUNT_OF(table) ? &table[index] : NULL;
}

const struct integrator *integrator_find(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(table); k++)
        if (strcmp(table[k].variant.name, name) == 0)
            return &table[k];
    return NULL;
}

const struct variant *integrator_variant(size_t index)
{
    return index < COUNT_OF(table) ? &table[index].variant : NULL;
}

bool integrator_has_stages(const struct integrator *integrator)
{
    return integrator && integrator->stage_count > 0;
}

bool integrator_chooses_steps(const struct integrator *integrator)
{
    return integrator && integrator->adaptive;
}

bool integrator_keeps_momentum(const struct integrator *integrator)
{
    return !integrator || !integrator->block_steps;
}

bool integrator_has_registers(const struct integrator *integrator)
{
    bool used = integrator == NULL;
    for (size_t k = 0; !used && k < integrator->stage_count; k++)
        used = integrator->stages[k].verb == VERB_COMBINE;
    return used;
}

bool integrator_takes_rotation(const struct integrator *integrator)
{
    return !integrator || !integrator_has_registers(integrator);
}

/* Finds the vector `to` that a kick, drift or combination writes, and the vector `from` to which it
 * adds. */
static void ends_of(const struct stage *stage, enum vector *to, enum vector *from)
{
    *to = *from = stage->verb == VERB_KICK ? VECTOR_V : VECTOR_X;
    if (stage->verb == VERB_COMBINE) {
        *to = stage->to;
        *from = stage->from;
    }
}

void integrator_values(const struct integrator *integrator, const struct section *time,
                       double values[INTEGRATOR_VALUES])
{
    const struct variant *const variant = &integrator->variant;
    assert(variant->parameter_count <= INTEGRATOR_VALUES);
    for (size_t k = 0; k < variant->parameter_count; k++) {
        const char *const key = variant->parameters[k].key;
        values[k] = section_has(time, key) ? section_real(time, key) : NAN;
    }
}

/* Goes through the stages backwards: follows `vector` to the vector that it was made from, and
 * counts the additions on this way. */
size_t integrator_roundings(const struct integrator *integrator, enum vector vector)
{
    size_t roundings = 0;
    for (size_t k = integrator->stage_count; k-- > 0;) {
        const struct stage *const stage = &integrator->stages[k];
        enum vector to, from;
        ends_of(stage, &to, &from);
        if (stage->verb == VERB_FORCE || to != vector)
            continue;
        vector = from;
        roundings += stage->coefficient != 0;
    }
    return roundings;
}

size_t integrator_forces_per_step(const struct integrator *integrator)
{
    size_t forces = 0;
    for (size_t k = 0; k < integrator->stage_count; k++)
        forces += integrator->stages[k].verb == VERB_FORCE;
    return forces;
}

const struct parameter *integrator_key(const struct integrator *integrator)
{
    const struct variant *const variant = &integrator->variant;
    size_t k = 0;
    while (k + 1 < variant->parameter_count && strcmp(variant->parameters[k].key, "step") == 0)
        k++;
    return &variant->parameters[k];
}

/* The computing time of one force evaluation of a list of stages, in units of the time of one pair:
 * for the evaluation itself, for each body, for each pair. Measured with 2 to 2000 bodies in double
 * precision, one thread, AVX-512. */
static const struct integrator_work each_force = { 60, 20, 1 };

double integrator_time(const struct integrator *integrator, const struct work_done *done)
{
    const struct integrator_work *const work =
        integrator->adaptive ? &integrator->work : &each_force;
    const double times =
        integrator->adaptive ? 1.0 : (double)integrator_forces_per_step(integrator);
    return times * done->steps * (work->step + work->body * done->bodies) +
           work->pair * done->interactions;
}

double integrator_advised_steps(const struct integrator *integrator)
{
    if (integrator->adaptive)
        return 0.0;
    return fmin(INTEGRATOR_STEPS_PER_PERIOD,
                fmax(INTEGRATOR_LEAST_STEPS_PER_PERIOD, integrator->passage_steps));
}

double integrator_steps_for(const struct integrator *integrator, double error)
{
    return integrator->passage_steps *
           pow(INTEGRATOR_PASSAGE_ERROR / error, 1.0 / integrator->order);
}
