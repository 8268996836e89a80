// The leak scan: flood from the roots, then split what was not reached (LeakSanitizer's direct and indirect).
#ifndef HT_SCAN_H
#define HT_SCAN_H

#include "words.h"

// Where the calling thread entered the report: its stack counts as root from there up, and its registers are those
// of that moment (what heaptide's own frames left behind below hides nothing).
struct scan_origin {
  uintptr_t stack_pointer;
  uintptr_t registers[16];
};

// Fills `origin` for a caller that entered heaptide by a call: registers that calls preserve hold the program's values
// or lie on the stack above `stack_pointer`, the others are dead. Call it before anything else.
void scan_origin_fill(struct scan_origin *origin, uintptr_t stack_pointer);

struct scan_leak {
  site_id site;
  uint64_t direct_bytes, direct_blocks, indirect_bytes, indirect_blocks;
};

struct scan_holder_link {
  uint32_t kind;     // enum ht_holder_kind
  uint32_t ref;      // SITE: site id. GLOBAL, TLS: module index. STACK: the thread's tid
  uintptr_t address; // GLOBAL: in the ELF file. TLS: offset in the module's block. STACK: of the word, 0: a register
  const char *text;  // TEXT: static, what holds it
  uint32_t frame;    // STACK: frame of the function that the word belongs to (stack_table.h), 0: unknown
};

#define SCAN_NOTES_MAX 8

struct scan_result {
  bool complete;           // false: the scan did not run to its end, `leaks` is empty; see the notes
  struct scan_leak *leaks; // own memory, one row a site
  uint32_t leak_count;
  uint64_t scanned_bytes;
  const char *notes[SCAN_NOTES_MAX]; // static: what could not be seen, a sentence each
  uint32_t note_count;
  uint32_t leak_capacity;
};

// Scans, between stop_begin and stop_end (stop.h). Never fails: what it cannot do is in the notes. Fills `result`; its
// memory is heaptide's own and stays until scan_result_drop. The caller has the report to itself, has refreshed the
// modules before it parked the threads, and holds no other lock.
void scan_run(const struct scan_origin *origin, struct scan_result *result);
void scan_result_drop(struct scan_result *result);

// Who holds the blocks of `site` (the first one that the scan reached): the blocks on the way outwards and the root
// they hang on, written into `links` (at most `capacity`; of a longer way the root is kept); returns the number of
// links, 0: unknown. Between scan_run and scan_result_drop, the threads still stopped.
uint32_t scan_holder(site_id site, struct scan_holder_link *links, uint32_t capacity);

#endif
