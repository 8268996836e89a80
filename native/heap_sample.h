// Sampling (`--sample N`): of the heap's blocks some are recorded, and each stands for several of its size.
//
// A thread counts its bytes down to its next sample. The distance is drawn from the exponential distribution with mean
// N, so that a block of e bytes (its size and a header) is met with the probability p = 1 - exp(-e / N), whatever came
// before. A block that was met would stand for 1 / p blocks, which is no whole number: k is the next one above, of the
// blocks that were met the part 1 / (p k) is recorded, and each stands for k. That makes a chance of 1 / k, so that all
// figures are right on the average, and they stay whole numbers that add up. k follows from the size alone: the free
// of a block takes away what its allocation added. From N bytes on every block is recorded and stands for itself.
#ifndef HT_HEAP_SAMPLE_H
#define HT_HEAP_SAMPLE_H

#include "thread.h"
#include "words.h"

#define HEAP_SAMPLE_HEADER_BYTES 16 // so that blocks of few bytes, or none, do not stand for too many

extern HT_HIDDEN bool heap_sample_on;
extern HT_HIDDEN uint64_t heap_sample_bytes; // N

// Before the first hook. `bytes` 0: every block is recorded.
void heap_sample_init(uint64_t bytes);

// The countdown of `thread` has run out at a block of `size_bytes`: whether it is to be recorded.
bool heap_sample_met(struct thread *thread, size_t size_bytes);

// True when this block of `thread` is not to be recorded. With sampling on.
HT_INLINE bool heap_sample_skips(struct thread *thread, size_t size_bytes) {
  uint64_t bytes = size_bytes + HEAP_SAMPLE_HEADER_BYTES;
  if (bytes >= heap_sample_bytes) return false;
  thread->heap_sample_left -= (int64_t)bytes;
  return likely(thread->heap_sample_left >= 0) || !heap_sample_met(thread, size_bytes);
}

// How many blocks of the heap one of `size_bytes` that was recorded stands for.
uint32_t heap_sample_weight(size_t size_bytes);
// The same for a block of the live map, whatever its kind; 1 without sampling.
uint32_t heap_sample_weight_of(const struct block *block);

#endif
