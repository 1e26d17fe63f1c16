/* HTML: one self-contained page, readable on paper, on a phone, in light and in dark. Its words and
 * its style are those of the templates. */
#ifndef ORRERY_REPORT_PAGE_H
#define ORRERY_REPORT_PAGE_H

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/figure.h"
#include "report/result.h"

/* The start of a page up to its body's first element, and its end. */
void page_begin(struct text *html, const char *title);
void page_end(struct text *html);

/* The drawn figures, which lie in the folder of work, with captions and links to their files;
 * nothing where there are none. STATUS_NO_INPUT, STATUS_IO. */
enum status page_figures(struct text *html, const struct figures *figures,
                         const struct directory *work, struct error *error);

/* Write the page of one run: name, verdict, criteria, numbers; and, below the figures, what ran,
 * with which configuration, and which files it left. */
void page_run_head(struct text *html, const struct result *result);
void page_run_foot(struct text *html, const struct result *result, bool beside);

/* The rows of a CSV file as a table; nothing where there is no such file. STATUS_DATA, STATUS_IO.
 */
enum status page_csv(struct text *html, const char *heading, const char *path, struct error *error);

#endif
