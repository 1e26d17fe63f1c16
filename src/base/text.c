#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool text_reserve(struct text *text, size_t length)
{
    if (text->failed)
        return false;
    if (length < text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity <= length)
        capacity *= 2;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, text->length + length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_vprint(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && text_reserve(text, text->length + (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_print(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_vprint(text, format, arguments);
    va_end(arguments);
}

static const char *skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Returns the number of UTF-8 characters in `length` bytes; each is taken to be one column wide. */
static size_t columns(const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    return count;
}

void text_wrap(struct text *text, const char *prefix, size_t width, const char *words)
{
    const char *line = text->length ? text->bytes + text->length : NULL;
    while (line && line > text->bytes && line[-1] != '\n')
        line--;
    size_t column = line ? columns(line, (size_t)(text->bytes + text->length - line)) : 0;
    bool first = true;
    while (*(words = skip_blanks(words))) {
        const size_t length = strcspn(words, " \t\n");
        const size_t wide = columns(words, length);
        if (!first && column + 1 + wide > width) {
            text_print(text, "\n%s", prefix);
            column = columns(prefix, strlen(prefix));
            first = true;
        }
        text_print(text, "%s%.*s", first ? "" : " ", (int)length, words);
        column += wide + !first;
        first = false;
        words += length;
    }
}

void text_names(struct text *text, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        text_print(text, "%s%s", i ? ", " : "", names[i]);
}

void text_quoted(struct text *text, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        text_print(text, "%s\"%s\"", i == 0 ? "" : names[i + 1] ? ", " : " and ", names[i]);
}

/* Tells whether a spreadsheet would take the text for a formula: it begins like one and is no
 * number. */
static bool is_formula(const char *words)
{
    double value;
    return words[0] && strchr("=+@-\t\r", words[0]) && !text_parse_real(words, &value);
}

void text_cell(struct text *text, const char *words)
{
    const size_t length = strlen(words);
    const bool blank_end = length > 0 && (words[0] == ' ' || words[length - 1] == ' ');
    const char *const mark = is_formula(words) ? "'" : "";
    if (!blank_end && !strpbrk(words, ",\"\n\r")) {
        text_print(text, "%s%s", mark, words);
        return;
    }
    text_print(text, "\"%s", mark);
    for (const char *p = words; *p; p++)
        text_append(text, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    text_append(text, "\"", 1);
}

/* Returns the end of the field at `p`: the next separator outside double quotes, or the end of the
 * line. */
static char *field_end(char *p, char separator)
{
    bool quoted = false;
    for (; *p; p++) {
        quoted ^= *p == '"';
        if (!quoted && (separator == ' ' ? isspace((unsigned char)*p) : *p == separator))
            break;
    }
    return p;
}

/* Cuts off the blanks before `end` and a pair of quotes around the field that begins at `start`;
 * returns the beginning of what is left. */
static char *trim(char *start, char *end)
{
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    if (end - start >= 2 && start[0] == '"' && end[-1] == '"') {
        start++;
        end--;
    }
    *end = '\0';
    return start;
}

size_t text_split(char *line, char separator, char **fields, size_t size)
{
    size_t count = 0;
    char *p = (char *)skip_blanks(line);
    for (bool more = *p != '\0'; more;) {
        char *end = field_end(p, separator);
        const bool last = *end == '\0';
        char *next = last ? end : (char *)skip_blanks(end + 1);
        char *field = trim(p, end);
        if (count < size)
            fields[count] = field;
        count++;
        p = next;
        /* A field, perhaps empty, follows every comma; blanks may end the line. */
        more = !last && (separator != ' ' || *p != '\0');
    }
    return count;
}

char *text_cut_unit(char *name)
{
    char *open = name + strcspn(name, "[("), *end = open, *unit = NULL;
    if (*open) {
        unit = open + 1;
        char *close = strrchr(unit, *open == '[' ? ']' : ')');
        if (close)
            *close = '\0';
    }
    while (end > name && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return unit;
}

bool text_find_value(const char *line, const char *key, char *value, size_t size)
{
    bool quoted = false, start = true; /* p is inside quotes; a key may begin at p */
    for (const char *p = line; *p; p++) {
        if (start && strncasecmp(p, key, strlen(key)) == 0) {
            p += strlen(key);
            const char *ends = *p == '"' ? "\"" : " \t";
            p += *p == '"';
            const size_t length = strcspn(p, ends);
            snprintf(value, size, "%.*s", (int)length, p);
            return length < size;
        }
        quoted ^= *p == '"';
        start = !quoted && isspace((unsigned char)*p);
    }
    return false;
}

void text_base64(struct text *text, const void *from, size_t length)
{
    const unsigned char *const bytes = from;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i;
        const unsigned long group = (unsigned long)bytes[i] << 16 |
                                    (left > 1 ? (unsigned long)bytes[i + 1] << 8 : 0) |
                                    (left > 2 ? bytes[i + 2] : 0);
        char four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = k <= left ? digits[group >> (18 - 6 * k) & 63] : '=';
        text_append(text, four, 4);
    }
}

void text_shell(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%_+=:,./-";
    const bool quoted = !*word || word[strspn(word, plain)] != '\0';
    text_print(text, "%s%s", quoted ? "'" : "", *word == '-' ? "./" : "");
    for (const char *p = word; *p; p++)
        text_append(text, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
    text_append(text, "'", quoted);
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){ 0 };
}

bool text_parse_real(const char *bytes, double *value)
{
    const char *start = skip_blanks(bytes);
    if (start[strspn(start, "+-.0123456789eE")] != '\0' &&
        *skip_blanks(start + strspn(start, "+-.0123456789eE")) != '\0')
        return false; /* hexadecimal digits, inf, nan or a decimal comma */
    char *end;
    const double parsed = strtod(start, &end);
    if (end == start || *skip_blanks(end) != '\0' || !isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

bool text_parse_integer(const char *bytes, int64_t *value)
{
    const char *start = skip_blanks(bytes);
    char *end;
    errno = 0;
    const long long parsed = strtoll(start, &end, 10);
    if (end == start || errno == ERANGE || *skip_blanks(end) != '\0')
        return false;
    *value = parsed;
    return true;
}

const char *text_real(char buffer[TEXT_REAL_SIZE], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, TEXT_REAL_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}

static int sign_of(double value)
{
    return (value > 0.0) - (value < 0.0);
}

const char *text_beside(char buffer[TEXT_REAL_SIZE], int digits, double value, double lowest,
                        double highest)
{
    for (; digits < 16; digits++) {
        snprintf(buffer, TEXT_REAL_SIZE, "%.*g", digits, value);
        const double printed = strtod(buffer, NULL);
        if (sign_of(printed - lowest) == sign_of(value - lowest) &&
            sign_of(printed - highest) == sign_of(value - highest))
            break;
    }
    return buffer;
}

const char *text_factor(char buffer[TEXT_REAL_SIZE], double factor, int digits)
{
    snprintf(buffer, TEXT_REAL_SIZE, "%.*g", digits, factor);
    const double rounded = strtod(buffer, NULL);
    if (rounded < 1e6)
        snprintf(buffer, TEXT_REAL_SIZE, "%.6g", rounded);
    return buffer;
}

const char *text_system(char buffer[TEXT_SYSTEM_SIZE], double system, const char *file)
{
    const bool named = file && file[0];
    buffer[0] = '\0';
    if (system > 0.0)
        snprintf(buffer, TEXT_SYSTEM_SIZE, " in system %.0f%s%.100s%s", system, named ? " (" : "",
                 named ? file : "", named ? ")" : "");
    return buffer;
}

size_t text_character(const char *text)
{
    const unsigned char *const p = (const unsigned char *)text;
    if (p[0] < 0x80)
        return 1;
    const size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    const bool beyond = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

double text_plain(double value)
{
    return isnan(value) ? (double)NAN : value;
}

double text_round_down(double value)
{
    const double power = pow(10.0, floor(log10(value)));
    return floor(value / power * (1.0 + 1e-12)) * power;
}

enum { WORD_SIZE = 64 }; /* longer words are compared by their first WORD_SIZE letters */

size_t text_distance(const char *a, const char *b)
{
    const size_t na = strnlen(a, WORD_SIZE), nb = strnlen(b, WORD_SIZE);
    size_t d[WORD_SIZE + 1][WORD_SIZE + 1];
    for (size_t i = 0; i <= na; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= na; i++)
        for (size_t j = 1; j <= nb; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[na][nb];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    /* One more than the edits allowed, since a slip of the keyboard changes few letters. */
    size_t least = strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        const size_t distance = text_distance(word, candidates[i]);
        if (distance < least && distance < strlen(candidates[i])) {
            least = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
