#include "heap_sample.h"

#include <x86intrin.h>

#include "site.h"

bool heap_sample_on;
uint64_t heap_sample_bytes;

void heap_sample_init(uint64_t bytes) {
  heap_sample_bytes = bytes;
  heap_sample_on = bytes > 0;
}

// ---- chance. In whole numbers: native/ is compiled without the registers of floating-point numbers (Makefile).

// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), SplitMix64.
static uint64_t random_next(struct thread *thread) {
  uint64_t bits = thread->heap_sample_random += 0x9E3779B97F4A7C15u;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

// Below `limit`.
static uint64_t random_below(struct thread *thread, uint64_t limit) {
  return (uint64_t)((unsigned __int128)random_next(thread) * limit >> 64);
}

#define LOG_BITS 16        // a distance is short by at most a 2^16th of N
#define LN2_32 2977044472u // ln 2 in units of 2^-32

// log2(value) in units of 2^-LOG_BITS, bit by bit: squaring doubles the logarithm.
static uint64_t log2_of(uint64_t value) {
  unsigned zeros = (unsigned)__builtin_clzll(value);
  uint64_t mantissa = value << zeros >> 32, log = 63 - zeros; // 1 <= mantissa / 2^31 < 2
  for (int bit = 0; bit < LOG_BITS; bit++) {
    mantissa = mantissa * mantissa >> 31;
    unsigned carry = mantissa >> 32 & 1;
    mantissa >>= carry;
    log = log << 1 | carry;
  }
  return log;
}

// -N ln(u), u from (0, 1]: exponential with mean N.
static int64_t distance_draw(struct thread *thread) {
  uint64_t log = (64ull << LOG_BITS) - log2_of(random_next(thread) | 1);
  return (int64_t)((unsigned __int128)(log * LN2_32 >> 32) * heap_sample_bytes >> LOG_BITS);
}

// ---- weights

#define WEIGHT_BITS 16

// 1 / (1 - exp(-x)) = 1/x + 1/2 + x/12 - x^3/720 + ... (Bernoulli's numbers) for x = e / N below 1, in units of
// 2^-WEIGHT_BITS; the next term is below 4e-5.
static uint64_t weight_exact(uint64_t bytes) {
  uint64_t x = (bytes << WEIGHT_BITS) / heap_sample_bytes;
  uint64_t cube = x * x * x >> 2 * WEIGHT_BITS;
  return (heap_sample_bytes << WEIGHT_BITS) / bytes + (1u << (WEIGHT_BITS - 1)) + x / 12 - cube / 720;
}

static uint64_t round_up(uint64_t weight) { return (weight + (1u << WEIGHT_BITS) - 1) >> WEIGHT_BITS; }

uint32_t heap_sample_weight(size_t size_bytes) {
  uint64_t bytes = size_bytes + HEAP_SAMPLE_HEADER_BYTES;
  return bytes < heap_sample_bytes ? (uint32_t)round_up(weight_exact(bytes)) : 1;
}

uint32_t heap_sample_weight_of(const struct block *block) {
  if (!heap_sample_on || site_is_inherited(block->site) || site_at(block->site)->kind != HT_KIND_HEAP) return 1;
  return heap_sample_weight(block->size_bytes);
}

// ---- samples

// A thread's first countdown: it begins before the block at hand.
static HT_NOINLINE bool first_met(struct thread *thread, uint64_t bytes) {
  thread->heap_sample_random = __rdtsc() ^ (uintptr_t)thread ^ (uint64_t)thread->tid << 32;
  thread->heap_sample_left = distance_draw(thread) - (int64_t)bytes;
  return thread->heap_sample_left < 0;
}

HT_NOINLINE bool heap_sample_met(struct thread *thread, size_t size_bytes) {
  uint64_t bytes = size_bytes + HEAP_SAMPLE_HEADER_BYTES, weight = weight_exact(bytes);
  if (!thread->heap_sample_random && !first_met(thread, bytes)) return false;
  thread->heap_sample_left = distance_draw(thread);
  return random_below(thread, round_up(weight) << WEIGHT_BITS) < weight;
}
