#include "integrator/integrator.h"

#include <string.h>

#include "base/memory.h"

/* clang-format off */
#define FORCE              { VERB_FORCE, 0 }
#define KICK(coefficient)  { VERB_KICK, (coefficient) }
#define DRIFT(coefficient) { VERB_DRIFT, (coefficient) }

/*
 * Yoshida (1990) composes leapfrogs S(w dt) so that the error terms of lower order cancel:
 * fourth order with w1, w0, w1, where 2 w1 + w0 = 1 and 2 w1^3 + w0^3 = 0 (also Forest & Ruth
 * 1990), sixth order with seven of them, his solution A; digits from Hairer, Lubich & Wanner
 * (2006), V.3.2.
 */
#define Y4_W1   1.3512071919596576340476878089715 /* 1 / (2 - 2^(1/3)) */
#define Y4_W0 (-1.7024143839193152680953756179429)
#define Y6_W3   0.78451361047755726382
#define Y6_W2   0.23557321335935813368
#define Y6_W1 (-1.17767998417887100695)
#define Y6_W0   1.31518632068391121889

/* Omelyan, Mryglod & Folk (2002): one force more than Forest & Ruth lets the leading error term
 * be made as small as it can be. */
#define PEFRL_XI       0.1786178958448091
#define PEFRL_LAMBDA (-0.2123418310626054)
#define PEFRL_CHI    (-0.06626458266981849)

static const struct integrator table[] = {
    {
        .variant = { .name = "euler",
                     .help = "Explicit Euler: positions and velocities both advance with the old "
                             "state, so that the energy grows; for comparison only." },
        .order = 1,
        .source = "Euler 1768, Institutiones calculi integralis I",
        .stage_count = 3,
        .stages = { FORCE, DRIFT(1), KICK(1) },
    },
    {
        .variant = { .name = "semi-implicit-euler",
                     .help = "Kick, then drift with the new velocity; the energy error stays "
                             "bounded." },
        .order = 1,
        .symplectic = true,
        .source = "Hairer, Lubich & Wanner 2003, Acta Numerica 12, 399",
        .stage_count = 3,
        .stages = { FORCE, KICK(1), DRIFT(1) },
    },
    {
        .variant = { .name = "velocity-verlet",
                     .help = "Leapfrog in the form kick, drift, kick; the standard choice." },
        .order = 2,
        .symplectic = true,
        .reversible = true,
        .source = "Verlet 1967, Phys. Rev. 159, 98; Swope et al. 1982, J. Chem. Phys. 76, 637",
        .stage_count = 4,
        .stages = { KICK(0.5), DRIFT(1), FORCE, KICK(0.5) },
    },
    {
        .variant = { .name = "leapfrog-dkd", .help = "Leapfrog in the form drift, kick, drift." },
        .order = 2,
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

bool integrator_needs_initial_force(const struct integrator *integrator)
{
    for (size_t k = 0; k < integrator->stage_count; k++) {
        if (integrator->stages[k].verb == VERB_FORCE)
            return false;
        if (integrator->stages[k].verb == VERB_KICK)
            return true;
    }
    return false;
}

size_t integrator_forces_per_step(const struct integrator *integrator)
{
    size_t forces = 0;
    for (size_t k = 0; k < integrator->stage_count; k++)
        forces += integrator->stages[k].verb == VERB_FORCE;
    return forces;
}
