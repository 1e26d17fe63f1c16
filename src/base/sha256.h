/* SHA-256 (FIPS 180-4): what a file holds, and which style a page allows itself. */
#ifndef ORRERY_BASE_SHA256_H
#define ORRERY_BASE_SHA256_H

#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = 2 * SHA256_SIZE + 1 };

void sha256(const void *bytes, size_t length, unsigned char hash[SHA256_SIZE]);

/* The same in hexadecimal digits. */
const char *sha256_text(const void *bytes, size_t length, char text[SHA256_TEXT_SIZE]);

#endif
