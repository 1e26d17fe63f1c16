/*
 * A guard around the program: its calls that begin programs and change files go through here (ld's
 * --wrap), and are counted where they should not be. No program is ever begun; the part of gnuplot
 * is played by a check of its script, which leaves pictures that have nothing in them.
 */
#ifndef ORRERY_VALIDATION_FUZZ_GUARD_H
#define ORRERY_VALIDATION_FUZZ_GUARD_H

struct guard_counts {
    int scripts;  /* that were read */
    int commands; /* that were run, or stood in a script */
    int outside;  /* calls that would change a file that is none of a report's */
    int others;   /* programs other than gnuplot */
};

/* From here on it counts. `folder`, a real path, holds the directory "in", in which a report may
 * write its own files; nothing else may change. */
struct guard_counts *guard_begin(const char *folder);

/* Whether the program is at work, and whether it may remove files of a run as well. */
enum guard_state { GUARD_OFF, GUARD_REPORT, GUARD_FORCE };
void guard_set(enum guard_state now);

#endif
