/* HTML: one self-contained page, readable on paper, on a phone, in light and in dark. Its words and
 * its style are those of the templates. */
#ifndef ORRERY_REPORT_PAGE_H
#define ORRERY_REPORT_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/differences.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/result.h"

/* Write the start of a page up to its body's first element, and its end. Nothing may run in
 * it but the script of its figures and that of its player, or NULL. */
void page_begin(struct text *html, const char *title, const struct text *player);
void page_end(struct text *html);

/* The drawn figures, which lie in the folder of work, with captions and links to their files;
 * nothing where there are none. STATUS_NO_INPUT, STATUS_IO. */
enum status page_figures(struct text *html, const struct figures *figures,
                         const struct directory *work, struct error *error);

/* Write the page of one run: name, verdict, criteria, numbers; and, below the figures, what ran,
 * with which configuration, and which files it left. */
void page_run_head(struct text *html, const struct result *result);
void page_run_foot(struct text *html, const struct result *result, bool beside);

/* Says why a page has no figures over time, and what would give them; `pictures`: it shows the
 * bodies. */
void page_nothing_measured(struct text *html, const struct result *result, bool pictures);

/* The rows of a CSV file as a table; nothing where there is no such file. STATUS_DATA, STATUS_IO.
 */
enum status page_csv(struct text *html, const char *heading, const char *path, struct error *error);

/* --- several runs: compare.c ------------------------------------------------------------------ */

/* Several runs beside each other: what differs between them, and what comes of it. */

/* Errors against the key that was varied (the step, if that was), with the fitted slope, and
 * against what they cost; and the figures that the runs share, laid over one another. */
enum status compare_figures(const struct differences *runs, enum draw_extent extent,
                            struct figures *figures, struct error *error);

/* Name, verdicts, and a table with a row for each run, behind it the warning, which may be "". */
void compare_head(struct text *html, const struct differences *runs, bool members,
                  const char *warning);

/* The relative address of a file beside the page, of names with slashes between them: "%3A" for a
 * colon, so that no name is taken for an address elsewhere or for a script. NULL for want of
 * memory. */
json_t *page_address(const char *name);

#endif
