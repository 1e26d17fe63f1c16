/*
 * An integrator that a config spells out as a list of the words "kick 0.5", "drift 1" and "force".
 * The list must be a splitting: kicks and drifts in turn, each kick with the forces of the present
 * positions, and the coefficients of each kind adding up to one step. Such a step is symplectic.
 */
#ifndef ORRERY_INTEGRATOR_STAGE_LIST_H
#define ORRERY_INTEGRATOR_STAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "integrator/integrator.h"

/* Makes the integrator of a config's section `time` if the section spells out a list of stages, in
 * memory that the config keeps for it. Adds to *error what is wrong with the list. */
void stage_list_read(const struct section *time, struct error *error);

/* Returns the integrator of a config's section `time`: a row of the table in integrator.c, or the
 * integrator that stage_list_read() has made, which lives as long as the config. */
const struct integrator *stage_list_or_row(const struct section *time);

/* Makes *integrator from `count` words such as "kick 0.5"; returns false if the list is wrong. */
bool stage_list_make(const char *const *words, size_t count, struct integrator *integrator);

/* Makes *integrator from stages that another process has read and checked. Its order and other
 * traits are left unset. */
void stage_list_take(const struct stage *stages, size_t count, struct integrator *integrator);

/* Appends the stages to the text: "kick 0.5, drift 1, force, kick 0.5", and combinations of vectors
 * such as "r = x + 1 dt v". */
void stage_list_print(const struct integrator *integrator, struct text *text);

/* Appends the stages and traits of an integrator that a config spells out to the text; returns
 * false for any other integrator, or if memory is exhausted. */
bool stage_list_describe(const struct integrator *integrator, struct text *text);

#endif
