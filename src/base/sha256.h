/* SHA-256 (FIPS 180-4): the hashes by which a report knows its own files, and a page its own style
 * and scripts. */
#ifndef ORRERY_BASE_SHA256_H
#define ORRERY_BASE_SHA256_H

#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = 2 * SHA256_SIZE + 1 };

void sha256(const void *bytes, size_t length, unsigned char hash[SHA256_SIZE]);

/* Writes the hash in hexadecimal digits; returns `text`. */
const char *sha256_text(const void *bytes, size_t length, char text[SHA256_TEXT_SIZE]);

#endif
