#include "base/name.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool is_made_of(const char *name, const char *set, size_t longest)
{
    const size_t length = strspn(name, set);
    return length <= longest && name[length] == '\0';
}

bool name_is_word(const char *name)
{
    return name[0] && strchr(LETTERS, name[0]) && is_made_of(name, LETTERS "_-.", NAME_LONGEST);
}

bool name_is_unit(const char *unit)
{
    return is_made_of(unit, LETTERS " ^*/()._+-", NAME_LONGEST);
}

/*
 * Returns the number of bytes of the UTF-8 character at `words` if a terminal would obey the
 * character instead of showing it; 0 for any other character. The control characters U+0080 to
 * U+009F are c2 80 to c2 9f; the marks U+200E and U+200F, U+202A to U+202E and U+2066 to U+2069,
 * which turn the direction of writing, are e2 80 8e, e2 80 8f, e2 80 aa to ae and e2 81 a6 to a9.
 */
static size_t obeyed(const unsigned char *words)
{
    if (words[0] < ' ' || words[0] == 0x7f)
        return 1;
    if (words[0] == 0xc2 && words[1] >= 0x80 && words[1] <= 0x9f)
        return 2;
    if (words[0] != 0xe2 || (words[1] != 0x80 && words[1] != 0x81))
        return 0;
    const unsigned char last = words[2];
    return words[1] == 0x80
               ? (last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae) ? 3 : 0)
               : (last >= 0xa6 && last <= 0xa9 ? 3 : 0);
}

bool name_is_shown(const char *name)
{
    while (*name && !obeyed((const unsigned char *)name))
        name++;
    return *name == '\0';
}

bool name_is_file(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && name[0] != '-' &&
           strlen(name) <= NAME_FILE_LONGEST && !strchr(name, '/') && name_is_shown(name);
}

size_t name_cut(const char *words, size_t most)
{
    size_t length = strlen(words);
    if (length > most)
        for (length = most; length > 0 && ((unsigned char)words[length] & 0xc0) == 0x80;)
            length--;
    return length;
}

void name_neutralise(char *words)
{
    for (char *c = words; *c; c++)
        for (size_t k = obeyed((unsigned char *)c); k > 0 && *c != '\n' && *c != '\t'; k--)
            c[k - 1] = '?';
}
