/* The gnuplot commands of a figure: its axes, its key, its curves, and its height. */
#ifndef ORRERY_REPORT_SCRIPT_H
#define ORRERY_REPORT_SCRIPT_H

#include <jansson.h>

#include "report/figure.h"

/*
 * Appends the words as a quoted string of gnuplot, the only way in which words that the program has
 * not written itself, such as names of a run, come into its commands. Between the double quotes
 * letters, digits, blanks, signs without a meaning in a string and bytes beyond ASCII stay as they
 * are; a control character becomes a blank, any other character \ooo (octal). No word can thus end
 * the string or the line, run a command (`...`) or name a macro (@...).
 */
void script_quote(struct text *script, const char *words);

/* Returns the values that fill the template of the commands (templates/figure.gp); NULL for want of
 * memory. */
json_t *script_view(const struct figure *figure);

/* Returns the curve to which element number `drawn` (from 0) of gnuplot's picture belongs. Each
 * further line of a curve's label is an element of its own: NULL for such a line. */
const struct curve *script_curve(const struct figure *figure, size_t drawn);

/* --- colours ---------------------------------------------------------------------------------- */

/*
 * The colours of pages and figures. Curves have the palette of Okabe and Ito (2008), whose colours
 * readers with any kind of colour blindness can tell apart, without its yellow, which cannot be
 * seen on white; on dark pages these colours are lighter.
 */

enum { PALETTE_COLORS = 7 }; /* of curves; further curves take them again, as dashed lines */

/* Returns {"curves", "others"}, the colours of curves and those of all else, for the templates:
 * lists of {"name", "light", "dark", "linetype"}, with the colour on light and on dark pages and
 * gnuplot's number of a curve's colour, from 1. NULL for want of memory. */
json_t *palette_view(void);

#endif
