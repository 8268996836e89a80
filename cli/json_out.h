// Writes JSON to a stream as it comes: a report with 100,000 sites never stands in memory as a tree.
#ifndef HT_JSON_OUT_H
#define HT_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
  FILE *stream;
  bool comma; // something stands before the next item of this object or list
};

// In an object each value has a key, in a list `key` is NULL.
void out_open(struct json_out *out, const char *key, char bracket); // '{' or '['
void out_close(struct json_out *out, char bracket);                 // '}' or ']'

// `text` NULL: null. Bytes that are no UTF-8 are written as U+FFFD each.
void out_text(struct json_out *out, const char *key, const char *text);
void out_count(struct json_out *out, const char *key, uint64_t count);
void out_known(struct json_out *out, const char *key, bool known, uint64_t count); // null unless `known`
void out_bool(struct json_out *out, const char *key, bool value);
void out_null(struct json_out *out, const char *key);

// With up to `decimals` decimals (trailing zeros are left out); what is not finite: null.
void out_number(struct json_out *out, const char *key, double value, int decimals);

#endif
