#include "buffer.h"

#include <string.h>

#include "sys.h"

#define BUFFER_FIRST_BYTES (16u * 1024)

static bool buffer_grow(struct buffer *buffer, size_t needed_bytes) {
  size_t capacity = buffer->capacity ? buffer->capacity : BUFFER_FIRST_BYTES;
  while (capacity < needed_bytes) capacity *= 2;
  if (capacity == buffer->capacity) return true;
  char *data = sys_map(capacity);
  if (!data) return false;
  if (buffer->data) {
    memcpy(data, buffer->data, buffer->bytes);
    sys_unmap(buffer->data, buffer->capacity);
  }
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

void *buffer_add(struct buffer *buffer, size_t bytes) {
  if (!buffer_grow(buffer, buffer->bytes + bytes)) {
    buffer->failed = true;
    return NULL;
  }
  void *place = buffer->data + buffer->bytes;
  buffer->bytes += bytes;
  return place;
}

size_t buffer_append(struct buffer *buffer, const void *data, size_t bytes) {
  size_t offset = buffer->bytes;
  void *place = buffer_add(buffer, bytes);
  if (!place) return 0;
  memcpy(place, data, bytes);
  return offset;
}

void buffer_drop(struct buffer *buffer) {
  if (buffer->data) sys_unmap(buffer->data, buffer->capacity);
  *buffer = (struct buffer){0};
}
