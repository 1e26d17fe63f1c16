#include "output/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/descriptor.h"
#include "base/memory.h"

const char checkpoint_name[] = "checkpoint.orr";
const char checkpoint_previous[] = "checkpoint.orr.prev";

static const char magic[8] = { 'O', 'R', 'R', 'E', 'R', 'Y', 'C', 'P' };
static const char end_name[] = "end";
enum {
    FORMAT_VERSION = 1,
    HEADER_SIZE = 16,
    SECTION_HEADER_SIZE = CHECKPOINT_NAME_SIZE + 16,
    PART_WORDS = 8192, /* numbers that are converted, written or read at a time */
    PART_BYTES = PART_WORDS * 8
};

/* Returns the number whose bytes in memory are those of `value`, the lowest first: converts from
 * the order of this machine to little-endian, and back. On a little-endian machine compilers leave
 * nothing of it. */
static uint64_t little_endian(uint64_t value)
{
    unsigned char bytes[sizeof value];
    for (size_t k = 0; k < sizeof value; k++)
        bytes[k] = (unsigned char)(value >> 8 * k);
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t load_u64(const void *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return little_endian(value);
}

static void store_u64(void *bytes, uint64_t value)
{
    value = little_endian(value);
    memcpy(bytes, &value, sizeof value);
}

/* --- writing ---------------------------------------------------------------------------------- */

struct checkpoint_writer {
    struct directory *directory;
    int fd;
    int failure;         /* errno of the first error, or 0 */
    XXH3_state_t *whole; /* hash of all bytes written so far */
};

static void emit(struct checkpoint_writer *writer, const void *bytes, size_t length)
{
    XXH3_64bits_update(writer->whole, bytes, length);
    if (writer->failure == 0)
        writer->failure = descriptor_write(writer->fd, bytes, length);
}

enum status checkpoint_begin(struct directory *directory, struct checkpoint_writer **result,
                             struct error *error)
{
    *result = NULL;
    struct checkpoint_writer *writer = calloc(1, sizeof *writer);
    XXH3_state_t *whole = writer ? XXH3_createState() : NULL;
    if (!whole) {
        free(writer);
        return error_memory(error);
    }
    *writer = (struct checkpoint_writer){ .directory = directory, .whole = whole };
    struct error cause = { 0 };
    writer->fd = directory_replace_begin(directory, checkpoint_name, &cause);
    if (writer->fd < 0) {
        XXH3_freeState(whole);
        free(writer);
        return error_set(error, cause.status == STATUS_MEMORY ? STATUS_MEMORY : STATUS_IO, "%s",
                         cause.text);
    }
    XXH3_64bits_reset(whole);
    unsigned char header[HEADER_SIZE];
    memcpy(header, magic, sizeof magic);
    store_u64(header + sizeof magic, FORMAT_VERSION);
    emit(writer, header, sizeof header);
    *result = writer;
    return STATUS_OK;
}

static void emit_header(struct checkpoint_writer *writer, const char *name, uint64_t length,
                        uint64_t hash)
{
    unsigned char header[SECTION_HEADER_SIZE] = { 0 };
    snprintf((char *)header, CHECKPOINT_NAME_SIZE, "%s", name);
    store_u64(header + CHECKPOINT_NAME_SIZE, length);
    store_u64(header + CHECKPOINT_NAME_SIZE + 8, hash);
    emit(writer, header, sizeof header);
}

void checkpoint_put_text(struct checkpoint_writer *writer, const char *name, const char *text)
{
    const size_t length = strlen(text);
    emit_header(writer, name, length, XXH3_64bits(text, length));
    emit(writer, text, length);
}

/* Adds rows of numbers of 64 bits (see checkpoint_put_words()), made little-endian, to `hash` or,
 * if that is NULL, writes them. */
static void feed_words(struct checkpoint_writer *writer, const void *words, size_t rows,
                       size_t count, size_t stride, XXH3_state_t *hash)
{
    uint64_t part[PART_WORDS];
    for (size_t r = 0; r < rows; r++) {
        const char *row = (const char *)words + r * stride * sizeof *part;
        for (size_t i = 0; i < count;) {
            const size_t n = count - i < PART_WORDS ? count - i : PART_WORDS;
            memcpy(part, row + i * sizeof *part, n * sizeof *part);
            for (size_t k = 0; k < n; k++)
                part[k] = little_endian(part[k]);
            if (hash)
                XXH3_64bits_update(hash, part, n * sizeof *part);
            else
                emit(writer, part, n * sizeof *part);
            i += n;
        }
    }
}

void checkpoint_put_words(struct checkpoint_writer *writer, const char *name, const void *words,
                          size_t rows, size_t count, size_t stride)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) {
        writer->failure = ENOMEM;
        return;
    }
    XXH3_64bits_reset(hash);
    feed_words(writer, words, rows, count, stride, hash);
    emit_header(writer, name, rows * count * sizeof(uint64_t), XXH3_64bits_digest(hash));
    XXH3_freeState(hash);
    feed_words(writer, words, rows, count, stride, NULL);
}

static void writer_destroy(struct checkpoint_writer *writer)
{
    XXH3_freeState(writer->whole);
    free(writer);
}

void checkpoint_abandon(struct checkpoint_writer *writer)
{
    directory_replace_abandon(writer->directory, checkpoint_name, writer->fd);
    writer_destroy(writer);
}

enum status checkpoint_commit(struct checkpoint_writer *writer, bool kept, struct error *error)
{
    const uint64_t whole = little_endian(XXH3_64bits_digest(writer->whole));
    emit_header(writer, end_name, sizeof whole, XXH3_64bits(&whole, sizeof whole));
    emit(writer, &whole, sizeof whole);
    const enum status status = directory_replace_commit(writer->directory, checkpoint_name,
                                                        kept ? checkpoint_previous : NULL,
                                                        writer->fd, writer->failure, error);
    writer_destroy(writer);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A section of the file: its name, where its payload is (in bytes), and the XXH3-64 hash of it. */
struct extent {
    char name[CHECKPOINT_NAME_SIZE];
    uint64_t offset, length, hash;
};

struct checkpoint {
    char label[256];            /* path of the file, for messages */
    int fd;                     /* the open file; -1 if it is read from memory */
    const unsigned char *bytes; /* the memory from which it is read; NULL if from a file */
    uint64_t length;
    struct extent *sections;
    size_t count, room; /* number of sections; allocated elements */
};

static enum status damaged(const struct checkpoint *checkpoint, struct error *error,
                           const char *what)
{
    return error_set(error, STATUS_DATA, "%s: %s", checkpoint->label, what);
}

/* Reads `length` bytes at byte `offset` of the checkpoint; STATUS_DATA if the file has become
 * shorter meanwhile. */
static enum status read_at(const struct checkpoint *checkpoint, uint64_t offset, void *buffer,
                           size_t length, struct error *error)
{
    if (checkpoint->bytes) {
        memcpy(buffer, checkpoint->bytes + offset, length);
        return STATUS_OK;
    }
    size_t got;
    const int code = descriptor_read_at(checkpoint->fd, offset, buffer, length, &got);
    if (code)
        return error_system(error, STATUS_IO, code, checkpoint->label);
    return got == length ? STATUS_OK : damaged(checkpoint, error, "shrank while it was read");
}

/* Reads a section in parts and compares its checksum. Copies its bytes to `words` as they are in
 * the file (unless NULL), and adds them to the hash `whole` (unless NULL). STATUS_DATA, STATUS_IO,
 * STATUS_MEMORY. */
static enum status read_section(const struct checkpoint *checkpoint, const struct extent *section,
                                char *words, XXH3_state_t *whole, struct error *error)
{
    char *part = malloc(PART_BYTES);
    XXH3_state_t *hash = XXH3_createState();
    enum status status = part && hash ? STATUS_OK : error_memory(error);
    if (hash)
        XXH3_64bits_reset(hash);
    for (uint64_t done = 0; done < section->length && !status;) {
        const uint64_t left = section->length - done;
        const size_t n = left < PART_BYTES ? (size_t)left : PART_BYTES;
        char *into = words ? words + done : part;
        status = read_at(checkpoint, section->offset + done, into, n, error);
        if (status)
            break;
        XXH3_64bits_update(hash, into, n);
        if (whole)
            XXH3_64bits_update(whole, into, n);
        done += n;
    }
    if (!status && XXH3_64bits_digest(hash) != section->hash)
        status = error_set(error, STATUS_DATA, "%s: section '%s' is damaged", checkpoint->label,
                           section->name);
    XXH3_freeState(hash);
    free(part);
    return status;
}

/* Tells whether the name of a section ends with NUL and has only zeros behind it: any changed bit
 * of a file shall be noticed. */
static bool good_name(const char *name)
{
    const size_t end = strnlen(name, CHECKPOINT_NAME_SIZE);
    for (size_t i = end; i < CHECKPOINT_NAME_SIZE; i++)
        if (name[i] != '\0')
            return false;
    return end < CHECKPOINT_NAME_SIZE;
}

/* Reads the header of the section that begins at byte `offset` into *section; adds the header to
 * the hash `whole`, unless it is that of the end marker. */
static enum status read_header(const struct checkpoint *checkpoint, uint64_t offset,
                               XXH3_state_t *whole, struct extent *section, struct error *error)
{
    unsigned char header[SECTION_HEADER_SIZE];
    if (checkpoint->length - offset < sizeof header)
        return damaged(checkpoint, error, "is cut short");
    if (read_at(checkpoint, offset, header, sizeof header, error))
        return error->status;
    memcpy(section->name, header, CHECKPOINT_NAME_SIZE);
    section->offset = offset + sizeof header;
    section->length = load_u64(header + CHECKPOINT_NAME_SIZE);
    section->hash = load_u64(header + CHECKPOINT_NAME_SIZE + 8);
    if (!good_name(section->name))
        return damaged(checkpoint, error, "is damaged");
    if (section->length > checkpoint->length - section->offset)
        return damaged(checkpoint, error, "is cut short");
    if (strcmp(section->name, end_name) != 0)
        XXH3_64bits_update(whole, header, sizeof header);
    return STATUS_OK;
}

static enum status add_section(struct checkpoint *checkpoint, const struct extent *section,
                               struct error *error)
{
    if (checkpoint->count == checkpoint->room) {
        const size_t room = 2 * checkpoint->room + 32;
        struct extent *grown = realloc(checkpoint->sections, memory_bytes(room, sizeof *grown));
        if (!grown)
            return error_memory(error);
        checkpoint->sections = grown;
        checkpoint->room = room;
    }
    checkpoint->sections[checkpoint->count++] = *section;
    return STATUS_OK;
}

/* Checks that the end marker `end` is the last section of the file, and that it has the checksum
 * `whole` of all bytes before it. */
static enum status check_end(const struct checkpoint *checkpoint, const struct extent *end,
                             const XXH3_state_t *whole, struct error *error)
{
    unsigned char digest[8] = { 0 };
    if (end->length == sizeof digest && end->offset + end->length == checkpoint->length &&
        read_section(checkpoint, end, (char *)digest, NULL, error) == STATUS_OK &&
        load_u64(digest) == XXH3_64bits_digest(whole))
        return STATUS_OK;
    return error->status ? error->status
                         : damaged(checkpoint, error, "its end does not fit its content");
}

/* Checks the checksum of every section and notes where the section is; then checks the end
 * marker. */
static enum status check_sections(struct checkpoint *checkpoint, XXH3_state_t *whole,
                                  struct error *error)
{
    struct extent section;
    for (uint64_t offset = HEADER_SIZE;; offset = section.offset + section.length) {
        if (read_header(checkpoint, offset, whole, &section, error))
            return error->status;
        if (strcmp(section.name, end_name) == 0)
            return check_end(checkpoint, &section, whole, error);
        if (read_section(checkpoint, &section, NULL, whole, error) ||
            add_section(checkpoint, &section, error))
            return error->status;
    }
}

static enum status verify(struct checkpoint *checkpoint, struct error *error)
{
    unsigned char header[HEADER_SIZE];
    if (checkpoint->length < sizeof header)
        return damaged(checkpoint, error, "is not a checkpoint");
    if (read_at(checkpoint, 0, header, sizeof header, error))
        return error->status;
    if (memcmp(header, magic, sizeof magic) != 0)
        return damaged(checkpoint, error, "is not a checkpoint");
    if (load_u64(header + sizeof magic) != FORMAT_VERSION)
        return damaged(checkpoint, error, "is a checkpoint of another format version");
    XXH3_state_t *whole = XXH3_createState();
    if (!whole)
        return error_memory(error);
    XXH3_64bits_reset(whole);
    XXH3_64bits_update(whole, header, sizeof header);
    const enum status status = check_sections(checkpoint, whole, error);
    XXH3_freeState(whole);
    return status;
}

/* Opens a checkpoint from the file `fd`, which it takes over, or, if `fd` is -1, from `bytes` in
 * memory; `length` is the number of bytes. */
static enum status adopt(const char *label, int fd, const void *bytes, uint64_t length,
                         struct checkpoint **result, struct error *error)
{
    *result = NULL;
    struct checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (!checkpoint) {
        if (fd >= 0)
            close(fd);
        return error_memory(error);
    }
    snprintf(checkpoint->label, sizeof checkpoint->label, "%s", label);
    checkpoint->fd = fd;
    checkpoint->bytes = bytes;
    checkpoint->length = length;
    const enum status status = verify(checkpoint, error);
    if (status)
        checkpoint_close(checkpoint);
    else
        *result = checkpoint;
    return status;
}

enum status checkpoint_parse(const char *label, const void *bytes, size_t length,
                             struct checkpoint **checkpoint, struct error *error)
{
    return adopt(label, -1, bytes, length, checkpoint, error);
}

enum status checkpoint_open(const struct directory *directory, const char *name,
                            struct checkpoint **checkpoint, struct error *error)
{
    *checkpoint = NULL;
    uint64_t length;
    char label[256];
    const int fd = directory_open_input(directory, name, &length, error);
    if (fd < 0)
        return error->status;
    snprintf(label, sizeof label, "%.200s/%s", directory_path(directory), name);
    return adopt(label, fd, NULL, length, checkpoint, error);
}

void checkpoint_close(struct checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    if (checkpoint->fd >= 0)
        close(checkpoint->fd);
    free(checkpoint->sections);
    free(checkpoint);
}

static const struct extent *find_section(const struct checkpoint *checkpoint, const char *name)
{
    for (size_t k = 0; k < checkpoint->count; k++)
        if (strcmp(checkpoint->sections[k].name, name) == 0)
            return &checkpoint->sections[k];
    return NULL;
}

bool checkpoint_has(const struct checkpoint *checkpoint, const char *name)
{
    return find_section(checkpoint, name) != NULL;
}

char *checkpoint_get_text(const struct checkpoint *checkpoint, const char *name,
                          struct error *error)
{
    const struct extent *section = find_section(checkpoint, name);
    if (!section) {
        error_set(error, STATUS_DATA, "%s: has no section '%s'", checkpoint->label, name);
        return NULL;
    }
    char *text = malloc((size_t)section->length + 1);
    if (!text) {
        error_memory(error);
        return NULL;
    }
    if (read_section(checkpoint, section, text, NULL, error)) {
        free(text);
        return NULL;
    }
    text[section->length] = '\0';
    return text;
}

/* Converts numbers of 64 bits in place from little-endian, as in the file, to the order of this
 * machine. */
static void convert(char *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = load_u64(words + i * sizeof word);
        memcpy(words + i * sizeof word, &word, sizeof word);
    }
}

enum status checkpoint_get_words(const struct checkpoint *checkpoint, const char *name, void *words,
                                 size_t rows, size_t count, size_t stride, struct error *error)
{
    const size_t row_bytes = count * sizeof(uint64_t);
    const struct extent *section = find_section(checkpoint, name);
    if (!section || section->length != rows * row_bytes)
        return error_set(error, STATUS_DATA, "%s: has no section '%s' of %zu numbers",
                         checkpoint->label, name, rows * count);
    for (size_t r = 0; r < rows; r++) {
        char *row = (char *)words + r * stride * sizeof(uint64_t);
        if (read_at(checkpoint, section->offset + r * row_bytes, row, row_bytes, error))
            return error->status;
        convert(row, count);
    }
    return STATUS_OK;
}
