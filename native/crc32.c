#include "crc32.h"

#include <stdbool.h>

// Eight tables, so that eight bytes are taken at a time ("slicing by 8"): report files reach hundreds of MiB.
static uint32_t tables[8][256];
static bool tables_filled;

// Two threads at once write the same.
static void tables_fill(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    tables[0][byte] = crc;
  }
  for (int slice = 1; slice < 8; slice++)
    for (uint32_t byte = 0; byte < 256; byte++) {
      uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = before >> 8 ^ tables[0][before & 255];
    }
  __atomic_store_n(&tables_filled, true, __ATOMIC_RELEASE);
}

static uint32_t word_at(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t crc32_add(uint32_t crc, const void *data, size_t bytes) {
  const uint8_t *at = data;
  if (!__atomic_load_n(&tables_filled, __ATOMIC_ACQUIRE)) tables_fill();
  crc = ~crc;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint32_t low = word_at(at) ^ crc, high = word_at(at + 4);
    crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
          tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  for (; bytes; at++, bytes--) crc = crc >> 8 ^ tables[0][(crc ^ *at) & 255];
  return ~crc;
}
