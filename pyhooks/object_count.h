// Counters of Python's small objects, one for each (line, size) pair, and the way from the running frame to it.
//
// A pair's id stands in the object map, so a free finds line and size with one load. The counters follow native's
// rule for the peak (native/count.h): whoever changes a pair first in an epoch saves what it held before.
#ifndef HT_OBJECT_COUNT_H
#define HT_OBJECT_COUNT_H

#include "../native/count.h"
#include "../native/owner.h"
#include "frame_chain.h"
#include "line_table.h"
#include "object_map.h"

struct pair {
  uint64_t allocations, frees;
  uint32_t peak_saved; // live blocks before the first change of `epoch`
  uint32_t epoch;
  uint32_t temporaries; // the lower bits
  uint16_t temporaries_high;
  uint16_t size_bytes;
};

extern HT_HIDDEN struct pair *pair_table;
extern line_id *pair_lines;
extern uint32_t pair_count;            // [1, pair_count)
extern uint32_t pair_inherited;        // pairs below are the parent's (fork): their blocks are not ours to count
extern HT_HIDDEN uint32_t pair_frozen; // pairs below are those, and of interpreters that ended: frees do not count
extern uint32_t pair_program;          // pairs below are of the interpreter's start-up; 0: it still starts

#define KEY_LINE 0xffffull // in place of a size: the key of a line alone
#define KEY_SIZE_SHIFT 48

// The last answers. Entries that are 0 match no frame of Python code. The tag is instruction + size * KEY_SIZE_STEP: no
// two pairs of a 48-bit instruction and a size have the same. Its lower part says where the entry is: neighbouring
// instructions, of two bytes, go to neighbours, and an instruction's sizes 65 entries from each other.
struct recent_key {
  uint64_t tag;
  uint32_t code_bits;
  uint32_t value; // a pair's id, or with KEY_LINE as size a line's, << OBJECT_START_BITS as the object map has it
};
#define KEY_SIZE_STEP (1ull << KEY_SIZE_SHIFT | 130)
#define RECENT_KEYS 16384u // power of two; 256 KiB at most, of which a program touches some
extern HT_HIDDEN struct recent_key recent_keys[RECENT_KEYS];

HT_INLINE uint64_t key_tag(uint64_t instruction, uint64_t size) {
  uint64_t step = KEY_SIZE_STEP;
  __asm__("" : "+r"(step)); // one multiplication, which waits for nothing, instead of shifts and sums
  return instruction + size * step;
}
HT_INLINE struct recent_key *recent_key(uint64_t tag) {
  uint64_t at_bytes = tag * (sizeof *recent_keys / 2) & (sizeof *recent_keys * (RECENT_KEYS - 1));
  return (struct recent_key *)((char *)recent_keys + at_bytes);
}

// The value of a key for `size` if it was asked for lately; 0: it was not, or no code is running.
HT_INLINE uint32_t key_recent(struct frame_key frame, uint64_t size) {
  uint64_t tag = key_tag(frame.instruction, size);
  const struct recent_key *key = recent_key(tag);
  return likely(key->tag == tag && key->code_bits == frame.code_bits) ? key->value : 0;
}

// The same without the code object's bits: the frame's layout has a pointer to the instruction.
HT_INLINE uint32_t key_recent_at(uint64_t instruction, uint64_t size) {
  uint64_t tag = key_tag(instruction, size);
  const struct recent_key *key = recent_key(tag);
  return likely(key->tag == tag) ? key->value : 0;
}

// The key of the running frame, or of the chain of frames. Of no frame it is 0.
HT_INLINE struct frame_key key_running(void *thread_state) {
  if (likely(chain_depth == 1)) return frame_key_of(running_frame_read(thread_state));
  const char *frame = frame_innermost(&frame_layout, thread_state);
  return frame ? frame_key_of_chain(&frame_layout, frame) : (struct frame_key){0, 0};
}

// The value of the running frame's key for `size`; 0: no memory for a new one.
uint32_t key_value_slowly(void *thread_state, uint64_t size);

// The same with --per-thread, where keys are the calling thread's own.
uint32_t key_value_owned(void *thread_state, uint64_t size);

HT_INLINE uint32_t key_value(void *thread_state, uint64_t size) {
  if (unlikely(owners_on)) return key_value_owned(thread_state, size);
  struct frame_key key = {0, 0};
  if (likely(thread_state != NULL)) key = key_running(thread_state);
  uint32_t value = key_recent(key, size) >> OBJECT_START_BITS;
  return likely(value) ? value : key_value_slowly(thread_state, size);
}

// The pair of a block of `size_bytes` that the running frame allocates. `thread_state` NULL: no frame.
HT_INLINE uint32_t pair_running(void *thread_state, size_t size_bytes) { return key_value(thread_state, size_bytes); }
HT_INLINE line_id line_running(void *thread_state) { return (line_id){key_value(thread_state, KEY_LINE)}; }

HT_INLINE uint64_t pair_temporaries(const struct pair *pair) {
  return (uint64_t)pair->temporaries_high << 32 | pair->temporaries;
}
HT_INLINE uint32_t pair_live(const struct pair *pair) { return (uint32_t)(pair->allocations - pair->frees); }

// Without a branch: in a program that grows, epochs come and go with every few calls, and a branch that is guessed
// wrong waits for all that led to the pair (the bench `py-objects` went from 1.44 to 1.37 times the bare program).
HT_INLINE void pair_touch(struct pair *pair) {
  uint32_t epoch = __atomic_load_n(&count_shared.epoch, __ATOMIC_RELAXED), live = pair_live(pair),
           saved = pair->peak_saved;
  __asm__("cmp %[epoch], %[old]\n\tcmovne %[live], %[saved]"
          : [saved] "+r"(saved)
          : [epoch] "r"(epoch), [old] "m"(pair->epoch), [live] "r"(live)
          : "cc");
  pair->peak_saved = saved;
  pair->epoch = epoch;
}

// The pair that a value of the object map stands for, its start bits being 0.
HT_INLINE struct pair *pair_of_value(uint32_t value) { return (struct pair *)((char *)pair_table + value); }
_Static_assert(sizeof(struct pair) == 1 << OBJECT_START_BITS, "the id's place in the map is the pair's in its table");

// `size_bytes` is the pair's, which the caller knows. True: the caller goes on to gauges_over_bound.
HT_INLINE bool pair_alloc_within(struct count *count, struct pair *pair, size_t size_bytes) {
  pair_touch(pair);
  pair->allocations++;
  return count_front_alloc_within(count, HT_KIND_PYTHON, size_bytes);
}

HT_INLINE void pair_alloc(struct count *count, uint32_t id, size_t size_bytes) {
  if (unlikely(pair_alloc_within(count, &pair_table[id], size_bytes))) gauges_over_bound(count, HT_KIND_PYTHON);
}

// There is no peak to be stamped, and the pair is none of the frozen ones.
HT_INLINE void pair_free_calmly(struct count *count, struct pair *pair, bool temporary) {
  gauges_subtract_calmly(count, HT_KIND_PYTHON, pair->size_bytes);
  pair_touch(pair);
  pair->frees++;
  pair->temporaries_high += __builtin_add_overflow(pair->temporaries, temporary, &pair->temporaries);
}

HT_INLINE void pair_free(struct count *count, uint32_t id, bool temporary) {
  if (unlikely(id < pair_frozen)) return;
  if (unlikely(count_must_commit(count))) gauges_commit(count);
  pair_free_calmly(count, &pair_table[id], temporary);
}

// Forgets which instruction has which pair: what is looked up later makes new ones.
void key_forget(void);

// The interpreter's start-up is over, where the frames do not tell.
void pair_program_begin(void);

// An interpreter begins after another one ended, whose figures stay as they are.
void pair_begin_again(void);
void pair_fork_child(void);

#endif
