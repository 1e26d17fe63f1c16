/* The arrays of moments as an .npz file of numpy: a ZIP archive of one .npy file for each array.
 * NEP 1 of numpy describes .npy, APPNOTE 6.3.9 of PKWARE the archive. Nothing is compressed, and
 * all sizes are those of ZIP64, so that arrays of any size have the same form. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "formats/snapshot.h"

/* --- gathering moments ------------------------------------------------------------------------ */

static void put(struct text *text, const void *value)
{
    text_append(text, value, 8); /* a double or an int64_t */
}

static void put_bodies(struct snapshot_arrays *arrays, const struct bodies *b, size_t first)
{
    for (size_t i = first; i < first + b->count; i++) {
        const double *const axes[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
        for (size_t k = 0; k < COUNT_OF(axes); k++)
            put(&arrays->array[k < 3 ? ARRAY_POSITION : ARRAY_VELOCITY], &axes[k][i]);
        put(&arrays->array[ARRAY_MASS], &b->m[i]);
        put(&arrays->array[ARRAY_ID], &b->id[i]);
    }
}

/* numpy's type for a word, such as the name of a species: 32 characters of four bytes. */
static const char word_type[] = "U32";
_Static_assert(SPECIES_NAME_SIZE == 32, "word_type has the number of characters");

static void put_word(struct text *text, const char *word)
{
    uint32_t characters[SPECIES_NAME_SIZE] = { 0 };
    for (size_t k = 0; *word && k < SPECIES_NAME_SIZE; k++) {
        const size_t length = text_character(word);
        const unsigned char first = (unsigned char)*word;
        characters[k] = length == 1 ? first : first & (0xffU >> (length + 1));
        for (size_t i = 1; i < length; i++)
            characters[k] = characters[k] << 6 | ((unsigned char)word[i] & 0x3fU);
        word += length > 0 ? length : 1;
    }
    text_append(text, (const char *)characters, sizeof characters);
}

/* Appends what is the same in all moments: species, and the systems of an ensemble. */
static void put_first(struct snapshot_arrays *arrays, const struct moment *now, bool species)
{
    const struct bodies *const b = now->bodies;
    arrays->units = now->physics->units;
    arrays->bodies = b->systems * b->count;
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = 0; i < b->count; i++) {
            const int64_t system = (int64_t)s + 1;
            if (species)
                put_word(&arrays->array[ARRAY_SPECIES], bodies_species_name(b, s * b->stride + i));
            if (b->systems > 1)
                put(&arrays->array[ARRAY_SYSTEM], &system);
        }
}

enum status snapshot_arrays_add(struct snapshot_arrays *arrays, const struct moment *now,
                                bool species, struct error *error)
{
    const int64_t step = now->step == MOMENT_NO_STEP ? -1 : (int64_t)now->step;
    const double box = now->physics->boundary == BOUNDARY_PERIODIC ? now->physics->box_length : 0.0;
    if (arrays->frames++ == 0)
        put_first(arrays, now, species);
    put(&arrays->array[ARRAY_TIME], &now->time);
    put(&arrays->array[ARRAY_STEP], &step);
    put(&arrays->array[ARRAY_BOX], &box);
    for (size_t s = 0; s < now->bodies->systems; s++)
        put_bodies(arrays, now->bodies, s * now->bodies->stride);
    for (size_t k = 0; k < SNAPSHOT_ARRAYS; k++)
        if (arrays->array[k].failed)
            return error_memory(error);
    return STATUS_OK;
}

void snapshot_arrays_free(struct snapshot_arrays *arrays)
{
    for (size_t k = 0; k < SNAPSHOT_ARRAYS; k++)
        text_free(&arrays->array[k]);
}

/* --- the archive ------------------------------------------------------------------------------ */

/* The archive while it is written: the number of bytes and of members so far, and `list`, its
 * central directory, which comes at the end. */
struct archive {
    struct stream *stream;
    uint64_t length, members;
    struct text list;
};

/* A number as all numbers in a ZIP archive are stored: its lowest `bytes` bytes, at most
 * 8, the lowest first. */
struct number {
    uint64_t value;
    size_t bytes;
};

/* Appends numbers up to the first one of no bytes. */
static void put_numbers(struct text *text, const struct number *numbers)
{
    for (; numbers->bytes > 0; numbers++)
        for (size_t k = 0; k < numbers->bytes; k++) {
            const char byte = (char)(numbers->value >> 8 * k & 0xff);
            text_append(text, &byte, 1);
        }
}
/* clang-format off */
#define NUMBERS(...) (const struct number[]){ __VA_ARGS__, { 0, 0 } }
/* clang-format on */

/* Values of ZIP's fields: version 4.5 of the format, not compressed, the date 1 January 1980, and
 * the id of the extra field that has sizes in 64 bits. */
enum { VERSION = 45, STORED = 0, DAY_ONE = 0x21, IN_64_BITS = 1 };
/* Values of fields of 16 and of 32 bits that say: the number is in a field of 64 bits. */
static const uint64_t elsewhere_16 = 0xffff, elsewhere_32 = 0xffffffff;

/* Appends the fields that a member's header and its entry in the central directory have in common;
 * `name` and `extra` are the lengths of the name and of the extra field. */
static void describe(struct text *text, uint32_t crc, size_t name, size_t extra)
{
    put_numbers(text, NUMBERS({ VERSION, 2 }, { 0, 2 }, { STORED, 2 }, { 0, 2 }, { DAY_ONE, 2 },
                              { crc, 4 }, { elsewhere_32, 4 }, { elsewhere_32, 4 }, { name, 2 },
                              { extra, 2 }));
}

static void archive_write(struct archive *archive, const void *bytes, size_t length)
{
    stream_write(archive->stream, bytes, length);
    archive->length += length;
}

static void archive_send(struct archive *archive, struct text *text)
{
    if (text->failed)
        stream_fail(archive->stream, ENOMEM);
    else
        archive_write(archive, text->bytes, text->length);
    text_free(text);
}

static void enter_in_list(struct archive *archive, const char *name, uint32_t crc, uint64_t size)
{
    struct text *const list = &archive->list;
    put_numbers(list, NUMBERS({ 0x02014b50, 4 }, { VERSION, 2 }));
    describe(list, crc, strlen(name), 28);
    /* no comment, disk 0, no attributes */
    put_numbers(list, NUMBERS({ 0, 2 }, { 0, 2 }, { 0, 2 + 4 }, { elsewhere_32, 4 }));
    text_append(list, name, strlen(name));
    put_numbers(list, NUMBERS({ IN_64_BITS, 2 }, { 24, 2 }, { size, 8 }, { size, 8 },
                              { archive->length, 8 }));
}

static void archive_add(struct archive *archive, const char *name, const struct text *head,
                        const void *bytes, size_t length)
{
    const uint32_t of_head = (uint32_t)crc32_z(0, (const Bytef *)head->bytes, head->length);
    const uint32_t crc = (uint32_t)crc32_z(of_head, bytes, length);
    const uint64_t size = head->length + length;
    struct text header = { 0 };
    enter_in_list(archive, name, crc, size);
    archive->members++;
    put_numbers(&header, NUMBERS({ 0x04034b50, 4 }));
    describe(&header, crc, strlen(name), 20);
    text_append(&header, name, strlen(name));
    put_numbers(&header, NUMBERS({ IN_64_BITS, 2 }, { 16, 2 }, { size, 8 }, { size, 8 }));
    archive_send(archive, &header);
    archive_write(archive, head->bytes, head->length);
    archive_write(archive, bytes, length);
}

static void archive_end(struct archive *archive)
{
    struct text end = { 0 };
    const uint64_t list = archive->length, size = archive->list.length;
    archive_send(archive, &archive->list);
    /* This disk and the first have the number 0. */
    put_numbers(&end, NUMBERS({ 0x06064b50, 4 }, { 44, 8 }, { VERSION, 2 }, { VERSION, 2 },
                              { 0, 4 + 4 }, { archive->members, 8 }, { archive->members, 8 },
                              { size, 8 }, { list, 8 }));
    put_numbers(&end, NUMBERS({ 0x07064b50, 4 }, { 0, 4 }, { list + size, 8 }, { 1, 4 }));
    put_numbers(&end,
                NUMBERS({ 0x06054b50, 4 }, { 0, 2 + 2 }, { elsewhere_16, 2 }, { elsewhere_16, 2 },
                        { elsewhere_32, 4 }, { elsewhere_32, 4 }, { 0, 2 }));
    archive_send(archive, &end);
}

/* --- arrays of numpy -------------------------------------------------------------------------- */

/* Adds the array `name` to the archive. `type` is numpy's word for the type of its elements, such
 * as "f8", without the order of bytes, which is that of this machine; `shape` is its shape as a
 * tuple of Python without the brackets. */
static void add_array(struct archive *archive, const char *name, const char *type,
                      const char *shape, const struct text *content)
{
    enum { MAGIC = 10, ALIGNMENT = 64 };
    const uint16_t one = 1;
    const char order = *(const char *)&one == 1 ? '<' : '>';
    struct text head = { 0 };
    char file[40], words[160];
    snprintf(file, sizeof file, "%s.npy", name);
    const int length =
        snprintf(words, sizeof words, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                 order, type, shape);
    const size_t padded = ((size_t)length + 1 + MAGIC + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    text_append(&head, "\x93NUMPY\x01\x00", 8);
    put_numbers(&head, NUMBERS({ padded - MAGIC, 2 }));
    text_print(&head, "%-*s\n", (int)(padded - MAGIC - 1), words);
    if (head.failed)
        stream_fail(archive->stream, ENOMEM);
    else
        archive_add(archive, file, &head, content->length ? content->bytes : "", content->length);
    text_free(&head);
}

/* Adds the units of mass, length, velocity and time, each as an array that is one word. */
static void add_units(struct archive *archive, const struct units *units)
{
    char label[UNITS_LABEL_SIZE];
    for (size_t k = 0; k < UNITS_WORDS; k++) {
        struct text word = { 0 };
        put_word(&word, units_label(units, units_words[k].dimension, label));
        add_array(archive, units_words[k].word, word_type, "", &word);
        text_free(&word);
    }
}

enum status snapshot_arrays_write_npz(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error)
{
    struct archive archive = { .stream = stream };
    char frames[40], all[80], vectors[88], bodies[40];
    snprintf(frames, sizeof frames, "%zu,", arrays->frames);
    snprintf(bodies, sizeof bodies, "%zu,", arrays->bodies);
    snprintf(all, sizeof all, "%zu, %zu", arrays->frames, arrays->bodies);
    snprintf(vectors, sizeof vectors, "%s, 3", all);
    const struct {
        const char *name, *type, *shape;
    } table[SNAPSHOT_ARRAYS] = {
        [ARRAY_TIME] = { "time", "f8", frames },
        [ARRAY_STEP] = { "step", "i8", frames },
        [ARRAY_BOX] = { "box_length", "f8", frames },
        [ARRAY_ID] = { "id", "i8", all },
        [ARRAY_MASS] = { "mass", "f8", all },
        [ARRAY_POSITION] = { "position", "f8", vectors },
        [ARRAY_VELOCITY] = { "velocity", "f8", vectors },
        [ARRAY_SYSTEM] = { "system", "i8", bodies },
        [ARRAY_SPECIES] = { "species", word_type, bodies },
    };
    for (size_t k = 0; k < SNAPSHOT_ARRAYS; k++)
        if (k < ARRAY_SYSTEM || arrays->array[k].length > 0)
            add_array(&archive, table[k].name, table[k].type, table[k].shape, &arrays->array[k]);
    add_units(&archive, arrays->units);
    archive_end(&archive);
    return stream_flush(stream, false, error);
}
