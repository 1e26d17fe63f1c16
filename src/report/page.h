/* HTML pages of runs: each is a single file, readable on paper, on a phone, in light and in dark.
 * Words and style are in the templates (report/template.h). */
#ifndef ORRERY_REPORT_PAGE_H
#define ORRERY_REPORT_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/differences.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/result.h"

/* Write the start of a page, up to the first element of its body, and its end. A browser will run
 * only two scripts in the page: that of its figures and, if `player`, that of the player below. */
void page_begin(struct text *html, const char *title, bool player);
void page_end(struct text *html);

/* Writes figures, whose pictures plot_draw() has left in the folder `work`, with captions and links
 * to their files. STATUS_NO_INPUT, STATUS_IO. */
enum status page_figures(struct text *html, const struct figures *figures,
                         const struct directory *work, struct error *error);

/* Writes the title of a page: the names of the run and of its directory, "plummer-sphere: run-7";
 * only that of the run if the directory is called NAME or NAME.run, or begins with a dot. */
enum { PAGE_TITLE_SIZE = 512 };
void page_title(const struct result *result, char title[PAGE_TITLE_SIZE]);

/* Write the page of one run: above its figures name, verdict, findings and main numbers; below them
 * what ran, its config, and the files that it left, with links if the page lies in the directory of
 * the run (`beside`). */
void page_run_head(struct text *html, const struct result *result);
void page_run_foot(struct text *html, const struct result *result, bool beside);

/* Says why a page has no figures over time, and which lines of a config would give them.
 * `pictures`: the page has figures of the bodies themselves. */
void page_nothing_measured(struct text *html, const struct result *result, bool pictures);

/* Writes the rows of a CSV file as an HTML table; nothing if there is no such file. STATUS_DATA,
 * STATUS_IO. */
enum status page_csv(struct text *html, const char *heading, const char *path, struct error *error);

/* Returns the relative URL of the file `name`, which may have slashes. All but letters, digits and
 * "_.-~/" is escaped ("%3A" for a colon), so that no name is taken for an address elsewhere or for
 * a script. NULL for want of memory. */
json_t *page_address(const char *name);

/* --- several runs: compare.c ------------------------------------------------------------------ */

/* Adds figures for the page of several runs: their errors against the config key that was varied,
 * with the slope of a fitted line, and against their cost; and figures with a curve for each
 * run. */
enum status compare_figures(const struct differences *runs, enum draw_extent extent,
                            struct figures *figures, struct error *error);

/* Writes the head of a page of several runs: name, verdicts, a table with a row for each run, and
 * the warning, which may be "". If the runs are `members`, in the folder of the page, each row
 * links to the run's own page. */
void compare_head(struct text *html, const struct differences *runs, bool members,
                  const char *warning);

/* --- the table of findings: findings-table.c -------------------------------------------------- */

/* The table of findings on the page of a run: the quantities that were judged, because its config
 * expects something of them or because the program always checks them. */

/* Returns the groups of rows in the table, [{"heading", "rows"}, ...], with the words of each cell,
 * a new array. In a run that has not ended, a quantity is at best "held so far". NULL for want of
 * memory. */
json_t *findings_table_view(const struct result *result);

/* Tells whether the energy failed while other quantities held: that these held then says little. */
bool findings_table_lost_energy(const struct result *result);

/* --- the player: player.c --------------------------------------------------------------------- */

/* The player shows the bodies in three dimensions, frame by frame: a script in the page draws them
 * from positions that are in the page too. */

/* Appends the player of a run's trajectory, with its data, to a page. STATUS_DATA, STATUS_IO,
 * STATUS_MEMORY. */
enum status player_add(const struct result *result, struct trajectory *trajectory,
                       struct text *html, struct error *error);

#endif
