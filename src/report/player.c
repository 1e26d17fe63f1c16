/*
 * The data of the player, which shows the bodies of a run in motion. A coordinate x, relative to
 * the middle of its frame, is stored as the 16-bit number nearest to 32767 asinh(x / scale) /
 * asinh(limit / scale), where `limit` is the largest |x| in the data and the scale is a tenth of
 * the median radius of the frames (struct camera). Rounding changes x by at most 2e-4 of
 * sqrt(x² + scale²) if no body is farther from the middle than 20,000 of these radii; so a few
 * bodies far away do not take the digits of the others. Frames are stored as differences from the
 * frame before, low bytes and high bytes apart, compressed by zlib, as base64.
 */
#include "report/page.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/document.h"
#include "base/memory.h"
#include "model/units.h"
#include "report/template.h"

/* The most positions (bodies times frames), bodies and frames in the data, so that a page has at
 * most 15 MB. Of a larger trajectory frames are left out first, down to FEWEST_FRAMES, then
 * bodies. */
enum { MOST_VALUES = 1500000, MOST_BODIES = 100000, MOST_FRAMES = 4000, FEWEST_FRAMES = 120 };
enum { FEW_BODIES = 10 };

/* The largest numbers that stand for a coordinate, and for the logarithm of a speed. */
enum { STEPS = 32767, SPEEDS = 255 };

/* The middle and the radius of what the player shows of a frame. */
struct camera {
    double middle[3];
    double radius; /* holds half the mass (for few bodies: all); half the side of a periodic cell */
};

struct player {
    struct trajectory *trajectory;
    size_t stride, bodies; /* every stride-th body is shown, `bodies` in all */
    size_t frames;         /* number of frames that are shown */
    struct camera *cameras;
    double *x, *y, *z, *speed; /* [frames][bodies]; positions relative to the frame's camera */
    double *m, *ids;           /* [bodies]: masses, ids */
    double *distance;          /* [bodies]: scratch */
    size_t *order;             /* [bodies]: scratch */
    unsigned *group;
    struct trajectory_groups groups;
    double scale, limit;     /* of the formula at the head of this file */
    double span;             /* asinh(limit / scale) */
    double slowest, fastest; /* extreme speeds above 0; fastest is 0 if no body has one */
    struct text bytes;       /* all data, not yet compressed */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void choose(struct player *player)
{
    const struct trajectory *trajectory = player->trajectory;
    const size_t bodies = smaller(trajectory->bodies, MOST_BODIES), fit = MOST_VALUES / bodies;
    player->frames = smaller(trajectory->frame_count,
                             smaller(fit > FEWEST_FRAMES ? fit : FEWEST_FRAMES, MOST_FRAMES));
    const size_t most = smaller(MOST_BODIES, MOST_VALUES / player->frames);
    player->stride = (trajectory->bodies + most - 1) / most;
    player->bodies = (trajectory->bodies + player->stride - 1) / player->stride;
}

static size_t frame_of(const struct player *player, size_t k)
{
    return player->frames > 1 ? k * (player->trajectory->frame_count - 1) / (player->frames - 1)
                              : 0;
}

/* --- where to look ---------------------------------------------------------------------------- */

static double median(const struct player *player, const double *values)
{
    memcpy(player->distance, values, player->bodies * sizeof *values);
    gsl_sort(player->distance, 1, player->bodies);
    return gsl_stats_median_from_sorted_data(player->distance, 1, player->bodies);
}

static double mean_by_mass(const struct player *player, const double *values)
{
    double mass = 0.0, sum = 0.0;
    for (size_t i = 0; i < player->bodies; i++) {
        mass += player->m[i];
        sum += player->m[i] * values[i];
    }
    return mass > 0.0 ? sum / mass : median(player, values);
}

/* Returns the radius about the middle of the camera that holds the part `part` of the mass, or half
 * the bodies if they have no mass. */
static double radius_of(const struct player *player, const double *const position[3],
                        const struct camera *camera, double part)
{
    double mass = 0.0, inside = 0.0;
    for (size_t i = 0; i < player->bodies; i++) {
        player->distance[i] =
            hypot(hypot(position[0][i] - camera->middle[0], position[1][i] - camera->middle[1]),
                  position[2][i] - camera->middle[2]);
        mass += player->m[i];
    }
    gsl_sort_index(player->order, player->distance, 1, player->bodies);
    for (size_t i = 0; i < player->bodies; i++) {
        inside += player->m[player->order[i]];
        if (inside >= part * mass && (mass > 0.0 || 2 * i >= player->bodies))
            return player->distance[player->order[i]];
    }
    return player->distance[player->order[player->bodies - 1]];
}

/* Sets the camera of frame k: its middle is the middle of the periodic cell, else the centre of
 * mass of few bodies, or the median of the positions of many. */
static void aim(const struct player *player, size_t k)
{
    const struct trajectory *trajectory = player->trajectory;
    const size_t first = k * player->bodies;
    const double *const position[3] = { player->x + first, player->y + first, player->z + first };
    const bool few = player->bodies <= FEW_BODIES;
    struct camera *camera = &player->cameras[k];
    for (size_t axis = 0; axis < 3; axis++)
        camera->middle[axis] = trajectory->cell_side > 0.0
                                   ? trajectory->cell_origin + 0.5 * trajectory->cell_side
                               : few ? mean_by_mass(player, position[axis])
                                     : median(player, position[axis]);
    camera->radius = trajectory->cell_side > 0.0
                         ? 0.5 * trajectory->cell_side
                         : radius_of(player, position, camera, few ? 1.0 : 0.5);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Makes the positions in frame k relative to the middle of its camera, and extends `limit`,
 * `slowest` and `fastest` to include its bodies. */
static void centre(struct player *player, size_t k)
{
    double *const position[3] = { player->x, player->y, player->z };
    for (size_t i = k * player->bodies; i < (k + 1) * player->bodies; i++) {
        for (size_t axis = 0; axis < 3; axis++) {
            position[axis][i] -= player->cameras[k].middle[axis];
            player->limit = fmax(player->limit, fabs(position[axis][i]));
        }
        if (player->speed[i] > 0.0) {
            player->slowest = fmin(player->slowest, player->speed[i]);
            player->fastest = fmax(player->fastest, player->speed[i]);
        }
    }
}

static enum status read_frames(struct player *player, struct error *error)
{
    trajectory_identify(player->trajectory, player->stride, player->ids, player->group,
                        &player->groups, error);
    player->slowest = INFINITY;
    for (size_t k = 0; k < player->frames && !error->status; k++) {
        const size_t first = k * player->bodies;
        const struct trajectory_values values = { player->x + first, player->y + first,
                                                  player->z + first, player->m,
                                                  player->speed + first };
        if (!trajectory_read(player->trajectory, frame_of(player, k), player->stride, &values,
                             error)) {
            aim(player, k);
            centre(player, k);
        }
    }
    return error->status;
}

/* Sets `scale` to a tenth of the median radius of the cameras, or 1 if that is 0 or beyond 1e150,
 * and `limit` and `span` to match it. */
static enum status find_scale(struct player *player, struct error *error)
{
    double *const radii = memory_array(player->frames, sizeof *radii, error);
    if (!radii)
        return error->status;
    for (size_t k = 0; k < player->frames; k++)
        radii[k] = player->cameras[k].radius;
    gsl_sort(radii, 1, player->frames);
    player->scale = 0.1 * gsl_stats_median_from_sorted_data(radii, 1, player->frames);
    memory_free(radii);
    if (!(player->scale > 0.0 && player->scale < 1e150))
        player->scale = 1.0;
    player->limit = fmin(fmax(player->limit, player->scale), 1e150);
    player->span = asinh(player->limit / player->scale);
    return STATUS_OK;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Appends numbers, lowest byte first: player.js reads them in the byte order of its machine, and
 * all machines on which browsers run have this one. */
static void put(struct player *player, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        char bytes[sizeof *values];
        memcpy(bytes, &values[k], sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = ((const char *)&values[k])[sizeof bytes - 1 - i];
#endif
        text_append(&player->bytes, bytes, sizeof bytes);
    }
}

static uint16_t coded(const struct player *player, double x)
{
    const double part = asinh(x / player->scale) / player->span;
    return (uint16_t)(int)lround(STEPS * fmax(-1.0, fmin(1.0, part)));
}

/* Appends one coordinate of all bodies in frame k, as differences of the stored numbers (coded())
 * from those of frame k - 1: the low bytes of all bodies, then the high bytes. */
static void put_coordinate(struct player *player, const double *values, size_t k)
{
    const double *const now = values + k * player->bodies;
    const double *const before = k > 0 ? now - player->bodies : NULL;
    for (int shift = 0; shift <= 8; shift += 8)
        for (size_t i = 0; i < player->bodies; i++) {
            const uint16_t change =
                (uint16_t)(coded(player, now[i]) - (before ? coded(player, before[i]) : 0));
            const char byte = (char)(change >> shift);
            text_append(&player->bytes, &byte, 1);
        }
}

/* Appends the speeds of frame k as numbers from 0 (slowest in all frames) to SPEEDS (fastest),
 * linear in the logarithm of the speed. */
static void put_speeds(struct player *player, size_t k)
{
    const double span = log(player->fastest / player->slowest);
    for (size_t i = k * player->bodies; i < (k + 1) * player->bodies; i++) {
        const double part = player->speed[i] > 0.0 && span > 0.0
                                ? log(player->speed[i] / player->slowest) / span
                                : 0.0;
        const char byte = (char)(unsigned char)lround(SPEEDS * part);
        text_append(&player->bytes, &byte, 1);
    }
}

static void put_all(struct player *player)
{
    for (size_t k = 0; k < player->frames; k++)
        put(player, &player->trajectory->frames[frame_of(player, k)].time, 1);
    for (size_t k = 0; k < player->frames; k++)
        put(player, player->cameras[k].middle, 3);
    for (size_t k = 0; k < player->frames; k++)
        put(player, &player->cameras[k].radius, 1);
    put(player, player->ids, player->bodies);
    put(player, player->m, player->bodies);
    for (size_t i = 0; i < player->bodies; i++) {
        const char group = (char)player->group[i];
        text_append(&player->bytes, &group, 1);
    }
    for (size_t k = 0; k < player->frames; k++) {
        put_coordinate(player, player->x, k);
        put_coordinate(player, player->y, k);
        put_coordinate(player, player->z, k);
        if (player->fastest > 0.0)
            put_speeds(player, k);
    }
}

/* --- on the page ------------------------------------------------------------------------------ */

static json_t *number_view(double value)
{
    char number[TEXT_REAL_SIZE];
    return json_string(text_real(number, value));
}

static json_t *list_view(json_t *list)
{
    char *words = list ? json_dumps(list, JSON_COMPACT) : NULL;
    json_t *view = words ? json_string_nocheck(words) : NULL;
    free(words);
    json_decref(list);
    return view;
}

/* Sets the names of the groups ("groups"), which of them name a single body ("named"), and the word
 * for a group ("kind"). */
static void set_groups(const struct player *player, json_t **view)
{
    const struct trajectory_groups *const groups = &player->groups;
    json_t *names = json_array(), *named = json_array();
    size_t bodies = 0;
    for (unsigned k = 0; k < groups->count; k++) {
        const bool names_one = trajectory_body_name(groups, k) != NULL;
        document_append(&names, json_string_nocheck(groups->names[k]));
        document_append(&named, json_boolean(names_one));
        bodies += names_one;
    }
    document_set(view, "groups", list_view(names));
    document_set(view, "named", list_view(named));
    document_set(view, "kind",
                 json_string(bodies > 0 && bodies == groups->count ? "name" : groups->kind));
}

static enum status fill(const struct player *player, const struct result *result,
                        const unsigned char *packed, size_t length, struct text *html,
                        struct error *error)
{
    const struct trajectory *trajectory = player->trajectory;
    const struct units *units = result_units(result);
    char time_unit[UNITS_LABEL_SIZE] = "", length_unit[UNITS_LABEL_SIZE] = "";
    struct text data = { 0 };
    if (units && units_physical(units)) {
        units_label(units, (struct dimension)DIMENSION_TIME, time_unit);
        units_label(units, (struct dimension)DIMENSION_LENGTH, length_unit);
    }
    text_base64(&data, packed, length);
    const bool thinned =
        player->bodies < trajectory->bodies || player->frames < trajectory->frame_count;
    json_t *view =
        DOCUMENT({ "bodies", json_integer((json_int_t)player->bodies) },
                 { "frames", json_integer((json_int_t)player->frames) },
                 { "all_bodies", json_integer((json_int_t)trajectory->bodies) },
                 { "all_frames", json_integer((json_int_t)trajectory->frame_count) },
                 { "thinned", json_boolean(thinned) }, { "time_unit", json_string(time_unit) },
                 { "length_unit", json_string(length_unit) },
                 { "few", json_boolean(player->bodies <= FEW_BODIES) },
                 { "scale", number_view(player->scale) }, { "limit", number_view(player->limit) },
                 { "slowest", number_view(player->fastest > 0.0 ? player->slowest : 0.0) },
                 { "fastest", number_view(player->fastest) },
                 { "cell", number_view(trajectory->cell_side) }, { "data", template_value(&data) });
    set_groups(player, &view);
    template_fill(html, "player.html", view, NULL);
    return html->failed ? error_memory(error) : STATUS_OK;
}

static enum status pack(struct player *player, const struct result *result, struct text *html,
                        struct error *error)
{
    put_all(player);
    uLongf length = compressBound(player->bytes.length);
    unsigned char *const packed = player->bytes.failed ? NULL : malloc(length);
    if (!packed || compress2(packed, &length, (const unsigned char *)player->bytes.bytes,
                             player->bytes.length, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(packed);
        return error_memory(error);
    }
    const enum status status = fill(player, result, packed, length, html, error);
    free(packed);
    return status;
}

enum status player_add(const struct result *result, struct trajectory *trajectory,
                       struct text *html, struct error *error)
{
    struct player player = { .trajectory = trajectory };
    choose(&player);
    const size_t all = player.bodies * player.frames;
    player.cameras = memory_array(player.frames, sizeof *player.cameras, error);
    player.order = memory_array(player.bodies, sizeof *player.order, error);
    player.group = memory_array(player.bodies, sizeof *player.group, error);
    player.m = memory_array(player.bodies, 3 * sizeof *player.m, error);
    player.x = memory_array(all, 4 * sizeof *player.x, error);
    if (!error->status) {
        player.ids = player.m + player.bodies;
        player.distance = player.ids + player.bodies;
        player.y = player.x + all;
        player.z = player.y + all;
        player.speed = player.z + all;
        if (!read_frames(&player, error) && !find_scale(&player, error))
            pack(&player, result, html, error);
    }
    text_free(&player.bytes);
    memory_free(player.cameras);
    memory_free(player.order);
    memory_free(player.group);
    memory_free(player.m);
    memory_free(player.x);
    return error->status;
}
