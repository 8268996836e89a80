// The checksum of report files: CRC-32 as zlib and Ethernet use it (polynomial 0xedb88320, reflected).
#ifndef HT_CRC32_H
#define HT_CRC32_H

#include <stddef.h>
#include <stdint.h>

// Continues `crc` (0 to begin with) over `bytes` bytes, so that crc32_add(crc32_add(0, a), b) is that of a and b in a
// row.
uint32_t crc32_add(uint32_t crc, const void *data, size_t bytes);

#endif
