/*
 * The colours of pages and pictures, in one place. Those of the curves are the palette of Okabe and
 * Ito (2008), which readers with any kind of colour blindness can tell apart, without its yellow,
 * which is lost on white; on dark pages they are lightened.
 */
#ifndef ORRERY_REPORT_PALETTE_H
#define ORRERY_REPORT_PALETTE_H

#include <jansson.h>

enum { PALETTE_COLORS = 7 }; /* of curves; a further one takes them again, dashed */

/* {"curves", "others"}: lists of {"name", "light", "dark", "linetype"} for the templates; NULL for
 * want of memory. */
json_t *palette_view(void);

#endif
