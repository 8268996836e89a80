#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "memory.h"

int utf8_length(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  int bytes = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
  if (bytes <= 1) return bytes;
  uint32_t character = at[0] & (0x7fu >> bytes);
  for (int i = 1; i < bytes; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0; // also where the text ends early
    character = character << 6 | (at[i] & 0x3f);
  }
  bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < smallest[bytes] || surrogate || character > 0x10ffff ? 0 : bytes;
}

int utf8_count(const char *text) {
  int count = 0;
  for (; *text; count++) {
    int bytes = utf8_length(text);
    text += bytes ? bytes : 1;
  }
  return count;
}

void utf8_write(FILE *stream, const char *text) {
  while (*text) {
    int bytes = utf8_length(text);
    fwrite(bytes ? text : "\xef\xbf\xbd", 1, bytes ? (size_t)bytes : 3, stream);
    text += bytes ? bytes : 1;
  }
}

char *utf8_text(const char *text) {
  char *copy = memory_text(text, strlen(text));
  for (char *at = copy; *at;) {
    int bytes = utf8_length(at);
    if (!bytes) *at = '?';
    at += bytes ? bytes : 1;
  }
  return copy;
}
