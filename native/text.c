#include "text.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

void text_start(struct text *text, char *buffer, size_t capacity) {
  *text = (struct text){.bytes = buffer, .capacity = capacity};
  buffer[0] = 0;
}

void text_add_bytes(struct text *text, const char *bytes, size_t count) {
  size_t room = text->capacity - text->length - 1;
  if (count > room) {
    count = room;
    text->cut = true;
  }
  memcpy(text->bytes + text->length, bytes, count);
  text->length += count;
  text->bytes[text->length] = 0;
}

void text_add(struct text *text, const char *string) { text_add_bytes(text, string, strlen(string)); }

static void add_number(struct text *text, uint64_t value, unsigned base) {
  char digits[20]; // 2^64 has 20 decimal digits
  size_t start = sizeof digits;
  do {
    digits[--start] = hex_digits[value % base];
    value /= base;
  } while (value);
  text_add_bytes(text, digits + start, sizeof digits - start);
}

void text_add_decimal(struct text *text, uint64_t value) { add_number(text, value, 10); }

void text_add_hex(struct text *text, uint64_t value) { add_number(text, value, 16); }

void text_add_escaped(struct text *text, const char *string) {
  for (const unsigned char *at = (const unsigned char *)string; *at; at++) {
    char escaped[3] = {'%', hex_digits[*at >> 4], hex_digits[*at & 15]};
    bool plain = *at > 0x20 && *at != '%' && *at != ';';
    text_add_bytes(text, plain ? (const char *)at : escaped, plain ? 1 : sizeof escaped);
  }
}

size_t text_whole_characters(const char *bytes, size_t count) {
  size_t last = count;
  while (last > 0 && ((uint8_t)bytes[last - 1] & 0xc0) == 0x80) last--;
  if (last == 0) return count;
  uint8_t lead = (uint8_t)bytes[--last];
  size_t needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return count - last < needed ? last : count;
}

// The value of a hexadecimal digit, -1 for anything else.
static int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20; // to lower case
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool text_unescape(const char *bytes, size_t count, char *out, size_t capacity) {
  size_t length = 0;
  for (size_t i = 0; i < count; i++) {
    char byte = bytes[i];
    if (byte == '%') {
      if (i + 2 >= count) return false;
      int high = hex_value(bytes[i + 1]), low = hex_value(bytes[i + 2]);
      if (high < 0 || low < 0 || high + low == 0) return false;
      byte = (char)(high << 4 | low);
      i += 2;
    }
    if (length + 1 >= capacity) return false;
    out[length++] = byte;
  }
  out[length] = 0;
  return true;
}

bool text_decimal(const char *bytes, size_t count, uint64_t *value) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] < '0' || bytes[i] > '9') return false;
    if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, (uint64_t)(bytes[i] - '0'), &sum))
      return false;
  }
  *value = sum;
  return count > 0;
}
