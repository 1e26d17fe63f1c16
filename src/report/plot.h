/*
 * Figures as gnuplot draws them. A figure leaves four files in the folder of plots: NAME.dat (the
 * numbers), NAME.gp (the commands: `gnuplot NAME.gp` draws it again), NAME.svg and NAME.png.
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

/* Draws all figures, several at a time, and leaves their files in the folder of work
 * (output/workplace.h). Of several that fail the first is told, and none is begun after it.
 * STATUS_DATA for a name that is no word, STATUS_CANT_CREATE, STATUS_IO, STATUS_UNAVAILABLE. */
enum status plot_draw(const struct figure *figures, size_t count, struct directory *work,
                      struct error *error);

/*
 * Appends the drawn figure, from the folder of work, for an HTML page: all that follows "<svg". Its
 * parts have classes in place of gnuplot's ids, so that the page colours them (templates/page.css).
 * The definitions of gnuplot's points belong to the first figure of a page. STATUS_NO_INPUT,
 * STATUS_IO.
 */
enum status plot_inline(const struct figure *figure, const struct directory *work, bool first,
                        struct text *svg, struct error *error);

/* A name of a file of a figure, also within the folder "plots". */
struct plot_file {
    char bytes[FIGURE_LABEL_SIZE + 16];
};
enum { PLOT_FILES = 4 };

/* Names the files of the figure of this name, with `folder` ("plots/" or "") before them. */
void plot_files(const char *folder, const char *figure, struct plot_file files[PLOT_FILES],
                const char *names[PLOT_FILES]);

/* Draws one figure into a directory that has claimed its files, all of them at once. */
enum status plot_into(const struct figure *figure, struct directory *directory,
                      struct error *error);

#endif
