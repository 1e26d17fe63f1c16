/*
 * Figures as gnuplot draws them. A figure has four files: NAME.dat (its numbers), NAME.gp (the
 * commands: `gnuplot NAME.gp` draws it again), NAME.svg and NAME.png.
 */
#ifndef ORRERY_REPORT_PLOT_H
#define ORRERY_REPORT_PLOT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/figure.h"

/* Checks that gnuplot can be run. STATUS_UNAVAILABLE. */
enum status plot_probe(struct error *error);

/* Draws all figures, several at a time, and leaves their files in `work`, a temporary folder
 * (output/workplace.h). If some cannot be drawn, the error is that of the first of them, and no
 * more figures are begun. STATUS_DATA for a figure whose name cannot be that of a file,
 * STATUS_CANT_CREATE, STATUS_IO, STATUS_UNAVAILABLE. */
enum status plot_draw(const struct figure *figures, size_t count, struct directory *work,
                      struct error *error);

/*
 * Appends the SVG picture of a figure, which plot_draw() has left in `work`, to an HTML page: what
 * follows "<svg" in the file. In it gnuplot's ids are replaced by classes, by which the style sheet
 * of the page (templates/page.css) colours the parts. Only the `first` figure of a page keeps the
 * definitions of gnuplot's point symbols, which serve all figures. STATUS_NO_INPUT, STATUS_IO.
 */
enum status plot_inline(const struct figure *figure, const struct directory *work, bool first,
                        struct text *svg, struct error *error);

/* The name of one file of a figure, "NAME.svg" or "plots/NAME.svg". */
struct plot_file {
    char bytes[FIGURE_LABEL_SIZE + 16];
};
enum { PLOT_FILES = 4 };

/* Writes the names of the four files of the figure called `figure` into `files`, with `folder`
 * ("plots/" or "") in front, and makes names[i] point to them. */
void plot_files(const char *folder, const char *figure, struct plot_file files[PLOT_FILES],
                const char *names[PLOT_FILES]);

/* Draws one figure, and moves its files into a directory when all are complete. Before, the caller
 * has had directory_check() check their names. */
enum status plot_into(const struct figure *figure, struct directory *directory,
                      struct error *error);

/* --- the gnuplot commands of a figure: script.c ----------------------------------------------- */

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
