/* The gnuplot commands of a figure: its axes, its key, its curves, and its height. */
#ifndef ORRERY_REPORT_SCRIPT_H
#define ORRERY_REPORT_SCRIPT_H

#include <jansson.h>

#include "report/figure.h"

/*
 * Appends the words as a string of gnuplot's, the only way in which words that are not the
 * program's own come into a script. Between the double quotes stand letters, digits, blanks and
 * signs without a meaning in a string; every other character of ASCII is written as \ooo, so that
 * no word ends the string or the line, runs a command (`...`) or names a macro (@...).
 */
void script_quote(struct text *script, const char *words);

/* Returns the values that fill the template of the commands (templates/figure.gp); NULL for want of
 * memory. */
json_t *script_view(const struct figure *figure);

/* Returns the curve of the figure that gnuplot has drawn with this number, from 0; NULL if that is
 * a further line of a label, which is drawn like a curve. */
const struct curve *script_curve(const struct figure *figure, size_t drawn);

/* --- colours ---------------------------------------------------------------------------------- */

/*
 * The colours of pages and pictures, in one place. Those of the curves are the palette of Okabe and
 * Ito (2008), which readers with any kind of colour blindness can tell apart, without its yellow,
 * which is lost on white; on dark pages they are lightened.
 */

enum { PALETTE_COLORS = 7 }; /* of curves; a further one takes them again, dashed */

/* Returns {"curves", "others"}: lists of {"name", "light", "dark", "linetype"} for the templates;
 * NULL for want of memory. */
json_t *palette_view(void);

#endif
