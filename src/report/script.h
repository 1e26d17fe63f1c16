/* The gnuplot commands of a figure: axes, legend, curves and height. */
#ifndef ORRERY_REPORT_SCRIPT_H
#define ORRERY_REPORT_SCRIPT_H

#include <jansson.h>

#include "report/figure.h"

/*
 * Appends the words as a quoted string of gnuplot. Only through this function do words that the
 * program has not written itself, such as names of a run, get into gnuplot's commands. Between the
 * double quotes letters, digits, blanks, signs without a meaning in a string and bytes beyond ASCII
 * stay as they are; a control character becomes a blank, any other character \ooo (octal). So no
 * word can end the string or the line, run a command (`...`) or name a macro (@...).
 */
void script_quote(struct text *script, const char *words);

/* Returns the values that fill the template of the commands (templates/figure.gp); NULL for want of
 * memory. */
json_t *script_view(const struct figure *figure);

/* Returns the curve to which element number `drawn` (from 0) of gnuplot's picture belongs. Each
 * further line of a curve's label in the legend is an element too: for these, NULL. */
const struct curve *script_curve(const struct figure *figure, size_t drawn);

/* --- colours ---------------------------------------------------------------------------------- */

/*
 * The colours of pages and figures. Curves have the palette of Okabe and Ito (2008), whose colours
 * readers with any kind of colour blindness can tell apart, without its yellow, which cannot be
 * seen on white; on dark pages these colours are lighter.
 */

/* The number of colours of curves; a further curve has the colour of an earlier one, dashed */
enum { PALETTE_COLORS = 7 };

/* Returns {"curves", "others"}, the colours of curves and of all else, for the templates: lists of
 * {"name", "light", "dark", "linetype"}, with the colour on light and on dark pages and the number
 * of a curve's colour in gnuplot, from 1. NULL for want of memory. */
json_t *palette_view(void);

#endif
