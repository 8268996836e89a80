// An array that grows, in heaptide's own memory: for what a report collects before it is written.
#ifndef HT_BUFFER_H
#define HT_BUFFER_H

#include "words.h"

struct buffer {
  char *data;
  size_t bytes, capacity;
  bool failed; // an addition was dropped for want of memory
};

// Room for `bytes` more at the end, zeroed, counted as used; NULL: no memory. Moves what was there before.
void *buffer_add(struct buffer *buffer, size_t bytes);
// Copies `bytes` to the end and returns the offset they lie at; 0 when there is no memory.
size_t buffer_append(struct buffer *buffer, const void *data, size_t bytes);
void buffer_drop(struct buffer *buffer);

#endif
