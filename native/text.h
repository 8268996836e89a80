// Formatting into a bounded buffer, without stdio, locale or allocation: safe in hooks and signal handlers.
#ifndef HT_TEXT_H
#define HT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
  char *bytes;     // NUL-terminated after every call
  size_t capacity; // of `bytes`, the NUL included
  size_t length;   // without the NUL
  bool cut;        // something did not fit and was left out
};

// Starts an empty text in `buffer`, which holds `capacity` bytes, at least 1.
void text_start(struct text *text, char *buffer, size_t capacity);

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_add_decimal(struct text *text, uint64_t value);
void text_add_hex(struct text *text, uint64_t value); // lower case, without 0x

// How many of `count` bytes of UTF-8 make whole characters: a last one that was cut is left out.
size_t text_whole_characters(const char *bytes, size_t count);

// Adds `string` with `%`, `;` and bytes below 0x21 written as %XX (native/options.def).
void text_add_escaped(struct text *text, const char *string);

// Undoes text_add_escaped for `count` bytes into `out`, which takes `capacity` bytes with the NUL.
// False when it does not fit, or when a % is not followed by two hexadecimal digits, or on an escaped NUL.
bool text_unescape(const char *bytes, size_t count, char *out, size_t capacity);

// Reads `count` bytes as a decimal number. False when there is anything but digits, nothing, or an overflow.
bool text_decimal(const char *bytes, size_t count, uint64_t *value);

#endif
