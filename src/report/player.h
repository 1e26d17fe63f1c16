/* The player of a page shows the bodies in three dimensions, frame by frame. A script in the page
 * (templates/player.js) draws them from positions that are in the page too. */
#ifndef ORRERY_REPORT_PLAYER_H
#define ORRERY_REPORT_PLAYER_H

#include "base/status.h"
#include "base/text.h"
#include "report/result.h"
#include "report/trajectory.h"

/* Appends the script of the player as it stands in the page. */
void player_script(struct text *script);

/* Appends the player of a run's trajectory to a page. STATUS_DATA, STATUS_IO, STATUS_MEMORY. */
enum status player_add(const struct result *result, struct trajectory *trajectory,
                       struct text *html, struct error *error);

#endif
