// The glossary: types and words that every layer shares.
//
//   block    memory a program asked for and has not given back: start, size, site
//   kind     which allocator it came from (heap, mmap, device, ...)
//   frame    one return address (native) or one line of Python
//   stack    a chain of frames; kept as a tree, so that equal outer parts are stored once
//   site     one (stack, kind); everything is counted per site
//   root     memory that keeps blocks alive without being a block itself
//   direct   a leaked block that no other leaked block points to; indirect: one does
//   peak     the moment with the most live bytes; epoch: the span between two peaks
#ifndef HT_WORDS_H
#define HT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file_format.h" // enum ht_kind

// A site's number. 0 is no site at all (in the live map: no block known there).
typedef struct {
  uint32_t value;
} site_id;

// A node of the stack tree. 0 is the root, above the outermost frame.
typedef struct {
  uint32_t value;
} node_id;
#define NODE_ID_BITS 26
#define NODE_ID_MOST ((1u << NODE_ID_BITS) - 1)

// A live block as the live map knows it.
struct block {
  uintptr_t start;
  size_t size_bytes; // what the program asked for
  site_id site;
};

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define HT_EXPORT __attribute__((visibility("default")))
// For variables that hooks read: `extern` alone would have them looked up in the table of other modules' symbols.
#define HT_HIDDEN __attribute__((visibility("hidden")))
// Stays as it is when everything else is made as good as new, to attach once more (attach.c).
#define HT_KEPT __attribute__((section("heaptide_kept")))
#define HT_NOINLINE __attribute__((noinline))
#define HT_INLINE static inline __attribute__((always_inline))

#endif
