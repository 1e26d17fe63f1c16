#include "base/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, WORDS = 8 };

/* FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the
 * first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned count)
{
    return word >> count | word << (32 - count);
}

/* Adds a block of 64 bytes to the hash h: FIPS 180-4, section 6.2.2, whose letters a to h are v[0]
 * to v[7] here. */
static void take_block(uint32_t h[WORDS], const unsigned char *block)
{
    uint32_t w[ROUNDS], v[WORDS];
    for (size_t t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (size_t t = 16; t < ROUNDS; t++) {
        const uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    memcpy(v, h, sizeof v);
    for (size_t t = 0; t < ROUNDS; t++) {
        const uint32_t a = v[0], e = v[4];
        const uint32_t choice = (e & v[5]) ^ (~e & v[6]);
        const uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        const uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        const uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        const uint32_t t1 = v[7] + s1 + choice + constants[t] + w[t];
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (size_t i = 0; i < WORDS; i++)
        h[i] += v[i];
}

void sha256(const void *bytes, size_t length, unsigned char hash[SHA256_SIZE])
{
    uint32_t h[WORDS] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    const unsigned char *from = bytes;
    const size_t whole = length / BLOCK, rest = length % BLOCK;
    unsigned char last[2 * BLOCK] = { 0 };
    for (size_t i = 0; i < whole; i++)
        take_block(h, from + i * BLOCK);
    if (rest > 0)
        memcpy(last, from + whole * BLOCK, rest);
    last[rest] = 0x80;
    const size_t blocks = rest + 1 + 8 > BLOCK ? 2 : 1;
    const uint64_t bits = (uint64_t)length * 8;
    for (size_t k = 0; k < 8; k++)
        last[blocks * BLOCK - 1 - k] = (unsigned char)(bits >> 8 * k);
    for (size_t i = 0; i < blocks; i++)
        take_block(h, last + i * BLOCK);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        hash[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

const char *sha256_text(const void *bytes, size_t length, char text[SHA256_TEXT_SIZE])
{
    unsigned char hash[SHA256_SIZE];
    sha256(bytes, length, hash);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return text;
}
