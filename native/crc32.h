// CRC-32 with zlib's polynomial (reflected 0xedb88320, start and end inverted).
#ifndef HT_CRC32_H
#define HT_CRC32_H

#include <stddef.h>
#include <stdint.h>

// The checksum of some bytes and `bytes` more of them. Begin with 0.
uint32_t crc32_add(uint32_t crc, const void *data, size_t bytes);

#endif
