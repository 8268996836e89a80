#include "json_out.h"

#include <math.h>
#include <string.h>

#include "utf8.h"

static void string_write(FILE *stream, const char *text) {
  fputc('"', stream);
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    int bytes = utf8_length((const char *)at);
    if (bytes == 0) {
      fputs("\\ufffd", stream);
      at++;
    } else if (bytes == 1 && (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f)) {
      fprintf(stream, "\\u%04x", *at++);
    } else {
      fwrite(at, 1, (size_t)bytes, stream);
      at += bytes;
    }
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
