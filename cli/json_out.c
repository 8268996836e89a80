#include "json_out.h"

#include <math.h>
#include <string.h>

#include "utf8.h"

// How many bytes of the text stand for themselves in a JSON string.
static size_t plain_bytes(const char *text) {
  const char *at = text;
  for (int bytes; *at; at += bytes) {
    unsigned char first = (unsigned char)*at;
    if (first < ' ' || first == '"' || first == '\\' || first == 0x7f) break;
    bytes = first < 0x80 ? 1 : utf8_length(at);
    if (bytes == 0) break;
  }
  return (size_t)(at - text);
}

static void string_write(FILE *stream, const char *text) {
  fputc('"', stream);
  while (*text) {
    size_t plain = plain_bytes(text);
    fwrite(text, 1, plain, stream);
    text += plain;
    if (*text) fprintf(stream, "\\u%04x", (unsigned char)*text < 0x80 ? (unsigned char)*text : 0xfffd);
    text += *text != 0;
  }
  fputc('"', stream);
}

static void item_begin(struct json_out *out, const char *key) {
  if (out->comma) fputc(',', out->stream);
  out->comma = true;
  if (!key) return;
  string_write(out->stream, key);
  fputc(':', out->stream);
}

void out_open(struct json_out *out, const char *key, char bracket) {
  item_begin(out, key);
  fputc(bracket, out->stream);
  out->comma = false;
}

void out_close(struct json_out *out, char bracket) {
  fputc(bracket, out->stream);
  out->comma = true;
}

void out_text(struct json_out *out, const char *key, const char *text) {
  if (!text) {
    out_null(out, key);
    return;
  }
  item_begin(out, key);
  string_write(out->stream, text);
}

void out_count(struct json_out *out, const char *key, uint64_t count) {
  item_begin(out, key);
  fprintf(out->stream, "%llu", (unsigned long long)count);
}

void out_known(struct json_out *out, const char *key, bool known, uint64_t count) {
  if (known)
    out_count(out, key, count);
  else
    out_null(out, key);
}

void out_bool(struct json_out *out, const char *key, bool value) {
  item_begin(out, key);
  fputs(value ? "true" : "false", out->stream);
}

void out_null(struct json_out *out, const char *key) {
  item_begin(out, key);
  fputs("null", out->stream);
}

void out_number(struct json_out *out, const char *key, double value, int decimals) {
  if (!isfinite(value)) {
    out_null(out, key);
    return;
  }
  char text[400];
  int length = snprintf(text, sizeof text, "%.*f", decimals, value);
  if (strchr(text, '.')) // leave one decimal, so that the number stays one with decimals
    while (text[length - 1] == '0' && text[length - 2] != '.') text[--length] = 0;
  item_begin(out, key);
  fputs(text, out->stream);
}
