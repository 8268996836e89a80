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

struct scan_leak {
  site_id site;
  uint64_t direct_bytes, direct_blocks, indirect_bytes, indirect_blocks;
};

struct scan_holder_link {
  uint32_t kind; // enum ht_holder_kind
  uint32_t ref;  // site id | module index | thread index
  uintptr_t address;
};

struct scan_result {
  bool complete;            // false: see the notes
  struct scan_leak *leaks;  // own memory, one row a site
  uint32_t leak_count;
  uint64_t scanned_bytes;
  const char *notes[8];     // what could not be seen, a sentence each
  uint32_t note_count;
};

// Parks the other threads, scans, lets them go. Never fails: what it cannot do is in the notes. Fills `result`;
// its memory is heaptide's own and stays until scan_result_drop.
void scan_run(const struct scan_origin *origin, struct scan_result *result);
void scan_result_drop(struct scan_result *result);

// Who holds the blocks of `site` (any one block of it that is reachable): the chain outwards to a root, written
// into `links` (at most `capacity`); returns the number of links, 0: unknown. Between scan_run and
// scan_result_drop, world still as it was (exit).
uint32_t scan_holder(site_id site, struct scan_holder_link *links, uint32_t capacity);

#endif
