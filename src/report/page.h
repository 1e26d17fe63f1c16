/* HTML pages: each is a single file, readable on paper, on a phone, in light and in dark. Words and
 * style are in the templates (report/template.h). */
#ifndef ORRERY_REPORT_PAGE_H
#define ORRERY_REPORT_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/differences.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/result.h"

/* Write the start of a page, up to the first element of its body, and its end. A browser runs two
 * scripts of the page and no other: that of its figures and `player`, the script of its player,
 * which may be NULL. */
void page_begin(struct text *html, const char *title, const struct text *player);
void page_end(struct text *html);

/* Writes figures, which plot_draw() has left in the folder `work`, with captions and links to their
 * files; nothing if there are none. STATUS_NO_INPUT, STATUS_IO. */
enum status page_figures(struct text *html, const struct figures *figures,
                         const struct directory *work, struct error *error);

/* Writes the title of a page: the name of the run and that of its directory, "plummer-sphere:
 * run-7", or the name alone if the directory is called like it or NAME.run, or begins with a
 * dot. */
enum { PAGE_TITLE_SIZE = 512 };
void page_title(const struct result *result, char title[PAGE_TITLE_SIZE]);

/* Write the page of one run: above the figures its name, verdict, findings and main numbers; below
 * them what ran, with which configuration, and which files it left, with links if the page lies in
 * the directory of the run (`beside`). */
void page_run_head(struct text *html, const struct result *result);
void page_run_foot(struct text *html, const struct result *result, bool beside);

/* Says why a page has no figures over time, and which lines of a config would give them.
 * `pictures`: the page shows the bodies themselves. */
void page_nothing_measured(struct text *html, const struct result *result, bool pictures);

/* Writes the rows of a CSV file as a table; nothing if there is no such file. STATUS_DATA,
 * STATUS_IO. */
enum status page_csv(struct text *html, const char *heading, const char *path, struct error *error);

/* Returns the relative address of a file beside the page, whose name may have slashes. Other signs
 * are escaped ("%3A" for a colon), so that no name is taken for an address elsewhere or for a
 * script. NULL for want of memory. */
json_t *page_address(const char *name);

/* --- several runs: compare.c ------------------------------------------------------------------ */

/* The page of several runs: the differences between them, and between their results. */

/* Adds the figures of the runs' errors against the key of the config that was varied, with the
 * slope of a fitted line, and against their cost; and the figures that several runs have, with a
 * curve for each run. */
enum status compare_figures(const struct differences *runs, enum draw_extent extent,
                            struct figures *figures, struct error *error);

/* Writes name, verdicts, a table with a row for each run, and the warning, which may be "". Rows of
 * `members`, runs in the folder of the page, link to the runs' own pages. */
void compare_head(struct text *html, const struct differences *runs, bool members,
                  const char *warning);

/* --- the table of findings: findings-table.c -------------------------------------------------- */

/* The table of findings on the page of a run: what its config expects, and what the program checks
 * by itself. */

/* Returns the groups of the table that have rows, [{"heading", "rows"}], with the words of each
 * cell. In a run that has not ended, a quantity is at best "held so far". A new array; NULL for
 * want of memory. */
json_t *findings_table_view(const struct result *result);

/* Tells whether the energy has failed while other quantities held: that they held then says
 * little. */
bool findings_table_lost_energy(const struct result *result);

/* --- the player: player.c --------------------------------------------------------------------- */

/* The player shows the bodies in three dimensions, frame by frame. A script in the page
 * (templates/player.js) draws them from positions that are in the page too. */

/* Appends the script of the player (templates/player.js). */
void player_script(struct text *script);

/* Appends the player of a run's trajectory to a page. STATUS_DATA, STATUS_IO, STATUS_MEMORY. */
enum status player_add(const struct result *result, struct trajectory *trajectory,
                       struct text *html, struct error *error);

#endif
