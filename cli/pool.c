#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
  const unsigned char *at = data;
  while (bytes--) hash = (hash ^ *at++) * 1099511628211ull;
  return hash;
}

// Where `text` is in the table, or the empty place where it belongs.
static size_t place_find(char *const *texts, size_t capacity, const char *text) {
  uint64_t hash = hash_bytes(HASH_START, text, strlen(text));
  size_t place = (hash ^ hash >> 32) & (capacity - 1);
  while (texts[place] && strcmp(texts[place], text) != 0) place = (place + 1) & (capacity - 1);
  return place;
}

static void pool_double(struct pool *pool) {
  size_t capacity = pool->capacity ? pool->capacity * 2 : 256;
  char **texts = memory_get(capacity, sizeof *texts);
  for (size_t i = 0; i < pool->capacity; i++)
    if (pool->texts[i]) texts[place_find(texts, capacity, pool->texts[i])] = pool->texts[i];
  free(pool->texts);
  pool->texts = texts;
  pool->capacity = capacity;
}

const char *pool_text(struct pool *pool, const char *text) {
  if (!text) return NULL;
  if (pool->count * 2 >= pool->capacity) pool_double(pool);
  size_t place = place_find(pool->texts, pool->capacity, text);
  if (!pool->texts[place]) {
    pool->texts[place] = memory_text(text, strlen(text));
    pool->count++;
  }
  return pool->texts[place];
}

void pool_free(struct pool *pool) {
  for (size_t i = 0; i < pool->capacity; i++) free(pool->texts[i]);
  free(pool->texts);
  *pool = (struct pool){0};
}
