/* HTML: one self-contained page, readable on paper, on a phone, in light and in dark. */
#ifndef ORRERY_REPORT_PAGE_H
#define ORRERY_REPORT_PAGE_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "report/figures.h"
#include "report/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Text that is no markup. */
void page_escape(struct text *html, const char *words);

/* The start of a page up to its body's first element, and its end. */
void page_begin(struct text *html, const char *title);
void page_end(struct text *html);

/* The drawn figures of `folder`, with captions and links to their files, which stand in `link`. */
enum status page_figures(struct text *html, const struct figures *figures, const char *folder,
                         const char *link, struct error *error);

/* What one run tells: name, verdict, criteria, numbers; and, below the figures, what ran, with
 * which configuration, and which files it left. */
void page_run_head(struct text *html, const struct result *result);
void page_run_foot(struct text *html, const struct result *result);

/* The rows of a CSV file as a table; nothing where there is no such file. */
void page_csv(struct text *html, const char *heading, const char *path);

/* "held", "failed" ...: a coloured word. */
void page_verdict(struct text *html, const char *verdict);

#ifdef __cplusplus
}
#endif

#endif
