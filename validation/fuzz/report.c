/*
 * A run directory of a stranger, from its files to the report. The first byte of an input chooses
 * the command. The rest are lines: each takes the place of one string of a good run, a name of a
 * diagnostic, say, or a unit (see `holes`), "" leaves it; or else, with RAW, "=== NAME" begins a
 * file of the directory, "==> NAME TARGET" is a link and "==/ NAME" a folder. Whatever comes, no
 * program is begun but gnuplot, whose part is played here by a check of its script, and nothing is
 * written but the files of a report.
 */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/name.h"
#include "base/text.h"
#include "commands/commands.h"
#include "fuzz.h"
#include "guard.h"
#include "output/directory.h"
#include "report/template.h"

const char fuzz_corpus[] = "report";

/* The first byte. */
enum { COMMAND = 3, SEVERAL = 1 << 2, NO_PLAYER = 1 << 3, PLOT = 1 << 4, RAW = 1 << 7 };
enum { REPORT, WATCH, FORCE, REPORT_TOO };

static struct guard_counts *counts;
static int directories;
static char scratch[512]; /* where all directories are; "" before */

static void tell(void)
{
    printf("# %d directories, %d scripts; commands run: %d, files touched outside: %d, processes "
           "other than gnuplot: %d\n",
           directories, counts->scripts, counts->commands, counts->outside, counts->others);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    return 0;
}

/* --- a directory ---------- */

static void put_file(const char *folder, const char *name, const char *bytes, size_t length)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s/%s", scratch, folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
    if (fd >= 0) {
        fuzz_demand(write(fd, bytes, length) == (ssize_t)length, "a file can be written");
        close(fd);
    }
}

static void put_text(const char *folder, const char *name, struct text *text)
{
    fuzz_demand(!text->failed, "memory");
    put_file(folder, name, text->bytes ? text->bytes : "", text->length);
    text_free(text);
}

/* The strings that an input may replace. */
enum hole {
    TYPE,
    NAME,
    COLUMN,
    UNIT,
    LAST_TABLE,
    LAST_COLUMN,
    FILE_NAME,
    LISTED,
    KEY,
    VALUE,
    RUN,
    UNITS,
    VERDICT,
    MESSAGE,
    OWNER,
    REPORTED,
    TABLE_FILE,
    FRAME,
    HOLES
};
static const char *const defaults[HOLES] = {
    [TYPE] = "conservation",
    [NAME] = "conservation",
    [COLUMN] = "kinetic",
    [UNIT] = "M L^2 T^-2",
    [LAST_TABLE] = "conservation",
    [LAST_COLUMN] = "energy_error",
    [FILE_NAME] = "trajectory.xyz",
    [LISTED] = "run.log",
    [KEY] = "step",
    [VALUE] = "velocity-verlet",
    [RUN] = "good",
    [UNITS] = "nbody",
    [VERDICT] = "none",
    [MESSAGE] = "",
    [OWNER] = "process 1 on a machine",
    [REPORTED] = "plots/mine.svg",
    [TABLE_FILE] = "conservation",
    [FRAME] = "species:S:1:pos:R:3",
};

/* In the directory, or in its plots. */
static bool is_below(const char *name)
{
    if (strncmp(name, "plots/", 6) == 0)
        name += 6;
    return name[0] && strlen(name) < 200 && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static void put_run(const char *folder, const char *const holes[HOLES])
{
    struct text csv = { 0 }, xyz = { 0 }, lock = { 0 }, file = { 0 };
    json_t *run = json_pack(
        "{s:{s:s}, s:s, s:s*, s:s, s:s*, s:i, s:i, s:i, s:i, s:i, s:f, s:{}, s:[s*, s], s:[s*],"
        "s:{s:s*, s:{s:s*}, s:{s:s*}, s:{}, s:[{s:s*, s:s*}], s:[{s:s, s:s*}]}}",
        "program", "name", "orrery", "format", "orrery run", "name", holes[RUN], "state", "ended",
        "verdict", holes[VERDICT], "exit_status", 0, "systems", 1, "bodies", 2, "step", 4, "steps",
        4, "time", 0.4, "diagnostics", "files", holes[LISTED], "run.cfg", "errors", holes[MESSAGE],
        "config", "name", holes[RUN], "bodies", "initial", holes[VALUE], "physics", "units",
        holes[UNITS], "time", "diagnostics", "type", holes[TYPE], "name", holes[NAME], "outputs",
        "type", "xyz", "file", holes[FILE_NAME]);
    fuzz_demand(run != NULL, "a document can be made");
    json_t *rows = json_pack("{s:f, s:f}", "virial_ratio", 1.0, "energy", -0.25);
    json_object_set_new_nocheck(rows, holes[LAST_COLUMN], json_real(1e-6));
    json_object_set_new_nocheck(json_object_get(run, "diagnostics"), holes[LAST_TABLE], rows);
    json_object_set_new_nocheck(json_object_get(json_object_get(run, "config"), "time"), holes[KEY],
                                json_real(strcmp(folder, "in") ? 0.1 : 0.2));
    char *text = json_dumps(run, JSON_ENCODE_ANY);
    put_file(folder, "run.json", text ? text : "", text ? strlen(text) : 0);
    free(text);
    json_decref(run);
    text_print(&csv, "step [1],time [T],%s [%s],energy_error [1],virial_ratio [1]\n", holes[COLUMN],
               holes[UNIT]);
    for (int i = 0; i < 5; i++)
        text_print(&csv, "%d,%g,0.25,%g,1\n", i, 0.1 * i, 1e-6 * i);
    text_print(&file, "%s.csv", holes[TABLE_FILE]);
    put_text(folder, file.bytes, &csv);
    text_free(&file);
    for (int i = 0; i < 3; i++)
        text_print(&xyz, "2\nProperties=%s Time=%d\nX 1 0 0\nX %d 1 0\n", holes[FRAME], i, i);
    if (is_below(holes[LISTED])) /* which may be the trajectory, too */
        put_file(folder, holes[LISTED], "listed\n", 7);
    put_text(folder, is_below(holes[FILE_NAME]) ? holes[FILE_NAME] : "trajectory.xyz", &xyz);
    text_print(&lock, "%s\nstep 1 of 4 from 0 in 1 s at 1 /s\n", holes[OWNER]);
    put_text(folder, "run.lock", &lock);
    put_file(folder, "run.cfg", "name = \"good\";\n", 15);
}

/* A report of a stranger, which lists a file of the user. */
static void put_report(const char *const holes[HOLES])
{
    json_t *report = json_pack("{s:{s:s}, s:s, s:[s*, s], s:{s:[s]}}", "program", "name", "orrery",
                               "format", "orrery report", "files", holes[REPORTED], "report.json",
                               "sha256", "plots/mine.svg",
                               "0000000000000000000000000000000000000000000000000000000000000000");
    char *text = report ? json_dumps(report, 0) : NULL;
    if (text)
        put_file("in", "report.json", text, strlen(text));
    free(text);
    json_decref(report);
}

/* The lines of an input into the holes; JSON takes no line that is not UTF-8. */
static void fill_holes(const uint8_t *bytes, size_t length)
{
    char *holes[HOLES];
    size_t at = 0;
    for (size_t i = 0; i < HOLES; i++) {
        size_t end = at;
        while (end < length && bytes[end] != '\n' && bytes[end] != '\0')
            end++;
        const bool given = end > at;
        holes[i] = given ? strndup((const char *)bytes + at, end - at) : strdup(defaults[i]);
        fuzz_demand(holes[i] != NULL, "memory");
        for (char *c = holes[i]; *c; c++) /* "\x01" stands for a line end, which ends a line here */
            *c = *c == '\x01' ? '\n' : *c;
        json_t *valid = json_string(holes[i]);
        if (!valid)
            for (char *c = holes[i]; *c; c++)
                *c = (char)(*c & 0x7f ? *c & 0x7f : '?');
        json_decref(valid);
        at = end < length ? end + 1 : end;
    }
    put_run("in", (const char *const *)holes);
    if (strcmp(holes[REPORTED], defaults[REPORTED]) != 0)
        put_report((const char *const *)holes);
    for (size_t i = 0; i < HOLES; i++)
        free(holes[i]);
}

/* Sections of files, links and folders. */
static void put_sections(const uint8_t *bytes, size_t length)
{
    enum { MOST = 24 };
    char *all = strndup((const char *)bytes, length), *section = all;
    fuzz_demand(all != NULL, "memory");
    for (int i = 0; i < MOST && section && strncmp(section, "==", 2) == 0; i++) {
        char *next = strstr(section + 2, "\n==");
        if (next)
            *next++ = '\0';
        const char kind = section[2];
        char *name = section + strcspn(section, " \n"), path[1200];
        name += *name == ' ';
        char *content = name + strcspn(name, kind == '>' ? " " : "\n");
        if (*content)
            *content++ = '\0';
        if (is_below(name)) {
            snprintf(path, sizeof path, "%s/in/%s", scratch, name);
            if (kind == '/')
                mkdir(path, 0777);
            else if (kind == '>' && symlink(content, path) != 0)
                continue;
            else if (kind == '=')
                put_file("in", name, content, strlen(content));
        }
        section = next;
    }
    free(all);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static void remove_tree(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    fuzz_demand(mkdir(path, 0777) == 0, "a folder can be made");
}

static void end(void)
{
    tell();
    remove_tree("");
}

/* The directories beside the one that an input makes. */
static void begin(void)
{
    const char *path = fuzz_path(0, "all");
    fuzz_demand(mkdir(path, 0777) == 0, "a folder can be made");
    char *real = realpath(path, NULL);
    fuzz_demand(real != NULL, "it has a path");
    snprintf(scratch, sizeof scratch, "%s", real);
    free(real);
    make_folder("good");
    put_run("good", defaults);
    make_folder("outside");
    put_file("outside", "mine", "mine\n", 5);
    counts = guard_begin(scratch);
    atexit(end);
}

/* --- the commands ----------------------------------------------------------------------------- */

/* The command, with what it prints going to a file. */
static enum status command(unsigned options, const char *in, const char *good, const char *shown,
                           struct error *error)
{
    char *arguments[8];
    int count = 0;
    const char *const fixed[] = { (options & COMMAND) == WATCH ? "watch" : "report", in, good, "-o",
                                  in };
    const bool several = (options & COMMAND) != WATCH && options & SEVERAL;
    for (int i = 0; i < (several ? 5 : 2); i++)
        arguments[count++] = (char *)fixed[i];
    if ((options & COMMAND) != WATCH && options & NO_PLAYER)
        arguments[count++] = (char *)"--no-player";
    else if ((options & COMMAND) != WATCH && options & PLOT)
        arguments[count++] = (char *)"--plot=energies,kinetic,orbits";
    arguments[count] = NULL;
    fflush(stdout);
    const int before = dup(STDOUT_FILENO), to = open(shown, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    fuzz_demand(before >= 0 && to >= 0 && dup2(to, STDOUT_FILENO) >= 0, "output goes to a file");
    close(to);
    guard_set(GUARD_REPORT);
    const enum status status = (options & COMMAND) == WATCH
                                   ? command_watch(count, arguments, error)
                                   : command_report(count, arguments, error);
    fflush(stdout);
    guard_set(GUARD_OFF);
    fuzz_demand(dup2(before, STDOUT_FILENO) >= 0, "output goes where it went");
    close(before);
    return status;
}

/* Does the work of run --force before it writes anything. */
static enum status force(const char *in, struct error *error)
{
    struct directory *directory;
    guard_set(GUARD_FORCE);
    if (directory_open(in, DIRECTORY_FORCE, &directory, error) == STATUS_OK) {
        directory_claim(directory, NULL, 0, error);
        directory_close(directory);
    }
    guard_set(GUARD_OFF);
    return error->status;
}

/* A file as a string; the caller frees it. NULL where it is none. */
static char *content(const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    fuzz_demand(fstat(fd, &about) == 0, "the file has a size");
    char *bytes = S_ISREG(about.st_mode) ? calloc((size_t)about.st_size + 1, 1) : NULL;
    if (bytes)
        fuzz_demand(read(fd, bytes, (size_t)about.st_size) == about.st_size, "it can be read");
    close(fd);
    return bytes;
}

/* A terminal obeys nothing of it. */
static void check_words(const char *words)
{
    char *copy = words ? strdup(words) : NULL;
    if (copy)
        name_neutralise(copy);
    fuzz_demand(!copy || strcmp(copy, words) == 0, "a terminal obeys nothing that is shown");
    free(copy);
}

/* Every script of a page is that of the figures or of the player, or the player's numbers. */
static void check_scripts(const char *page)
{
    static const char data[] = "<script type=\"text/plain\">",
                      letters[] =
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=";
    static const char end[] = "</script>";
    struct text own[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        text_print(&own[k], "<script>");
        template_fill(&own[k], k == 0 ? "figures.js" : "player.js", json_object(), NULL);
        fuzz_demand(!own[k].failed, "memory");
    }
    for (const char *at = page; at && (at = strstr(at, "<script"));) {
        size_t length = 0;
        if (strncmp(at, data, strlen(data)) == 0)
            length = strlen(data) + strspn(at + strlen(data), letters);
        for (int k = 0; k < 2; k++)
            if (strncmp(at, own[k].bytes, own[k].length) == 0)
                length = own[k].length;
        at += length;
        fuzz_demand(length > 0 && strncmp(at, end, strlen(end)) == 0,
                    "a page has no scripts but those of the figures and of the player");
    }
    for (int k = 0; k < 2; k++)
        text_free(&own[k]);
}

/* It has no script of others, and links to nothing but files beside it. */
static void check_page(const char *page)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~%/,";
    check_scripts(page);
    for (const char *at = page ? strstr(page, "<a href=\"") : NULL; at;
         at = strstr(at, "<a href=\"")) {
        at += strlen("<a href=\"");
        fuzz_demand(at[strspn(at, plain)] == '"' && *at != '/', "a link is that of a file");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char in[600], good[600], shown[600], page[640];
    struct error error = { 0 };
    if (length < 1)
        return -1;
    if (!scratch[0])
        begin();
    snprintf(in, sizeof in, "%s/in", scratch);
    snprintf(good, sizeof good, "%s/good", scratch);
    snprintf(shown, sizeof shown, "%s/shown", scratch);
    snprintf(page, sizeof page, "%s/report.html", in);
    remove_tree("in");
    make_folder("in");
    make_folder("in/plots");
    put_file("in", "plots/mine.svg", "mine\n", 5);
    if (bytes[0] & RAW)
        put_sections(bytes + 1, length - 1);
    else
        fill_holes(bytes + 1, length - 1);
    directories++;
    const enum status status = (bytes[0] & COMMAND) == FORCE
                                   ? force(in, &error)
                                   : command(bytes[0], in, good, shown, &error);
    char *words = (bytes[0] & COMMAND) == FORCE ? NULL : content(shown), *html = content(page);
    fuzz_demand(status != STATUS_IO || bytes[0] & RAW, "no file that was asked for fails");
    fuzz_demand(counts->commands == 0, "no command is run");
    fuzz_demand(counts->outside == 0, "no file is touched but the report's");
    fuzz_demand(counts->others == 0, "no program is begun but gnuplot");
    check_words(words);
    check_words(error.text);
    if ((bytes[0] & COMMAND) != WATCH && status == STATUS_OK)
        check_page(html);
    free(words);
    free(html);
    return 0;
}
