// Counters of Python's small objects, one for each (line, size) pair, and the way from the running frame to it.
//
// A pair's id stands in the object map, so a free finds line and size with one load. The counters follow native's
// rule for the peak (native/count.h): whoever changes a pair first in an epoch saves what it held before.
#ifndef HT_OBJECT_COUNT_H
#define HT_OBJECT_COUNT_H

#include "../native/count.h"
#include "line_table.h"

struct pair {
  uint64_t allocations, frees;
  uint32_t peak_saved; // live blocks before the first change of `epoch`
  uint32_t epoch;
  uint32_t temporaries;
  uint32_t size_bytes;
};
_Static_assert(sizeof(struct pair) == 32, "two pairs a cache line");

extern struct pair *pair_table;
extern line_id *pair_lines;
extern uint32_t pair_count;     // [1, pair_count)
extern uint32_t pair_inherited; // pairs below are the parent's (fork): their blocks are not ours to count
extern uint32_t pair_program;   // pairs below are of the interpreter's start-up; 0: it still starts

// The last answers, by code object, size and instruction.
struct key {
  uint64_t code_size; // code | size << 48
  uint32_t offset;
  uint32_t value; // a pair's id; with KEY_LINE as size, a line's
};
#define KEY_CACHE 8192u // power of two; 128 KiB
#define KEY_SIZE_SHIFT 48
#define KEY_LINE 0xffffull // in place of a size: the key of a line alone
extern struct key key_cache[KEY_CACHE];

// The value of the running frame's key for `size`; 0: no memory for a new one.
uint32_t key_value_slowly(void *thread_state, uint64_t size);

// Where in the cache a key belongs: neighbouring instructions and sizes go to different entries.
HT_INLINE struct key *key_cache_entry(struct running_frame frame, uint64_t size) {
  uint64_t at = (((uint64_t)(uintptr_t)frame.code + frame.offset) >> 1) + size * 65;
  return &key_cache[at & (KEY_CACHE - 1)];
}

// The value in the cache, 0: it is not there.
HT_INLINE uint32_t key_cached(struct running_frame frame, uint64_t size) {
  uint64_t code_size = (uint64_t)(uintptr_t)frame.code | size << KEY_SIZE_SHIFT;
  const struct key *key = key_cache_entry(frame, size);
  return likely(key->code_size == code_size && key->offset == frame.offset) ? key->value : 0;
}

HT_INLINE uint32_t key_value(void *thread_state, uint64_t size) {
  struct running_frame frame = {NULL, 0};
  if (likely(thread_state != NULL)) frame = running_frame_read(thread_state);
  uint32_t value = key_cached(frame, size);
  return likely(value) ? value : key_value_slowly(thread_state, size);
}

// The pair of a block of `size_bytes` that the running frame allocates. `thread_state` NULL: no frame.
HT_INLINE uint32_t pair_running(void *thread_state, size_t size_bytes) { return key_value(thread_state, size_bytes); }
HT_INLINE line_id line_running(void *thread_state) { return (line_id){key_value(thread_state, KEY_LINE)}; }

HT_INLINE uint32_t pair_live(const struct pair *pair) { return (uint32_t)(pair->allocations - pair->frees); }

HT_INLINE void pair_touch(struct pair *pair) {
  uint32_t epoch = __atomic_load_n(&count_epoch, __ATOMIC_RELAXED);
  if (likely(pair->epoch == epoch)) return;
  pair->peak_saved = pair_live(pair);
  pair->epoch = epoch;
}

HT_INLINE void pair_alloc(struct count *count, uint32_t id) {
  struct pair *pair = &pair_table[id];
  pair_touch(pair);
  pair->allocations++;
  count_alloc_totals(count, HT_KIND_PYTHON, pair->size_bytes);
}

HT_INLINE void pair_free(struct count *count, uint32_t id, bool temporary) {
  if (unlikely(id < pair_inherited)) return;
  struct pair *pair = &pair_table[id];
  count_free_totals(count, HT_KIND_PYTHON, pair->size_bytes, temporary);
  pair_touch(pair);
  pair->frees++;
  pair->temporaries += temporary;
}

// Forgets which instruction has which pair: what is looked up later makes new ones.
void key_forget(void);

void pair_fork_child(void);

#endif
