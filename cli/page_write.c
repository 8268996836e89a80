#include "page_write.h"

#include <stdlib.h>
#include <zlib.h>

#include "memory.h"

extern const char page_before_data[], page_after_data[], diff_before_data[], diff_after_data[];
const struct page_text page_text_flame = {page_before_data, page_after_data};
const struct page_text page_text_diff = {diff_before_data, diff_after_data};

// As RFC 4648, section 4.
static void base64_write(FILE *stream, const unsigned char *data, size_t bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes; i += 3) {
    size_t rest = bytes - i;
    unsigned bits = (unsigned)data[i] << 16 | (rest > 1 ? data[i + 1] : 0u) << 8 | (rest > 2 ? data[i + 2] : 0u);
    putc_unlocked(digits[bits >> 18], stream);
    putc_unlocked(digits[bits >> 12 & 63], stream);
    putc_unlocked(rest > 1 ? digits[bits >> 6 & 63] : '=', stream);
    putc_unlocked(rest > 2 ? digits[bits & 63] : '=', stream);
  }
}

// zlib's format (RFC 1950), which browsers' DecompressionStream calls "deflate". In base64 nothing of it can end the
// element or begin another.
static void part_write(FILE *stream, const char *id, const struct page_part *part) {
  uLongf bytes = compressBound((uLong)part->bytes);
  unsigned char *packed = memory_get(bytes, 1);
  int result = compress2(packed, &bytes, (const unsigned char *)part->data, (uLong)part->bytes, Z_DEFAULT_COMPRESSION);
  if (result != Z_OK) memory_missing(); // with room for the bound, nothing else can go wrong
  fprintf(stream, "<script type=\"text/plain\" id=\"data-%s\">", id);
  base64_write(stream, packed, bytes);
  fputs("</script>\n", stream);
  free(packed);
}

bool page_write(FILE *stream, const struct page_text *text, const struct page_data *data) {
  fputs(text->before_data, stream);
  part_write(stream, "facts", &data->facts);
  part_write(stream, "texts", &data->texts);
  part_write(stream, "columns", &data->columns);
  fputs(text->after_data, stream);
  return fflush(stream) == 0 && !ferror(stream);
}
