/* orrery report: draws figures and one self-contained HTML page from a run, or from several. */
#include <stdio.h>

#include "base/memory.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "report/report.h"

enum status command_report(int argc, char **argv, struct error *error)
{
    struct report_options options = { 0 };
    bool helped;
    const struct argument table[] = {
        { 'o', "output", "FOLDER", ARGUMENT_TEXT, &options.output,
          "write report.html and plots/ into FOLDER" },
        { 0, "plot", "NAME,...", ARGUMENT_TEXT, &options.plots,
          "draw these figures, or columns of diagnostics, and no others" },
        { 0, "no-player", NULL, ARGUMENT_FLAG, &options.no_player,
          "leave out the bodies in motion, which make the page larger" },
        { 0, "no-lock", NULL, ARGUMENT_NO_LOCK, NULL,
          "take no locks, for file systems without them" },
    };
    const struct arguments arguments = {
        "orrery report DIR... [-o FOLDER] [--plot NAME,...] [--no-player]",
        "Draws the figures of a run into DIR/plots and writes DIR/report.html, a page that needs\n"
        "nothing else. Several runs, or a folder of runs, are laid over one another.",
        table,
        COUNT_OF(table),
        1,
        ARGUMENT_LIST_SIZE
    };
    struct argument_list plain;
    struct report_summary summary;
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    options.directories = plain.items;
    options.count = plain.count;
    const enum status status = report_write(&options, &summary, error);
    if (summary.warning[0])
        fprintf(stderr, "warning: %s\n", summary.warning);
    if (status)
        return status;
    printf("%s: %zu figure%s of %zu run%s\n", summary.page, summary.figures,
           summary.figures == 1 ? "" : "s", summary.runs, summary.runs == 1 ? "" : "s");
    return STATUS_OK;
}
