// Texts kept once: equal texts get the same pointer, so that they can be compared and hashed as pointers.
#ifndef HT_POOL_H
#define HT_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool {
  char **texts; // open hash table
  size_t count, capacity;
};

// The pool's own copy of `text`; NULL stays NULL. Lives until pool_free.
const char *pool_text(struct pool *pool, const char *text);

void pool_free(struct pool *pool);

// A hash of `bytes` bytes (FNV-1a, continued from `hash`; begin with HASH_START).
#define HASH_START 14695981039346656037ull
uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes);

#endif
