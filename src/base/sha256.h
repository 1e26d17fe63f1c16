/* SHA-256 (FIPS 180-4). By these hashes a report recognises the files that it has written, and a
 * page names the styles and scripts that a browser may use. */
#ifndef ORRERY_BASE_SHA256_H
#define ORRERY_BASE_SHA256_H

#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = 2 * SHA256_SIZE + 1 };

/* Computes the hash of `length` bytes. */
void sha256(const void *bytes, size_t length, unsigned char hash[SHA256_SIZE]);

/* Writes the hash in hexadecimal digits; returns `text`. */
const char *sha256_text(const void *bytes, size_t length, char text[SHA256_TEXT_SIZE]);

#endif
