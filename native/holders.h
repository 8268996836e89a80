// Who holds a block: noted while the flood reaches it, so that asking later is a walk up a chain.
//
// A record is a path: "a block of `site`, held by (parent record)", and so on up to a root. Blocks that are reached
// by the same path of sites share one, and a list of a million nodes is one record, so memory does not grow with the
// number of blocks.
#ifndef HT_HOLDERS_H
#define HT_HOLDERS_H

#include "roots.h"
#include "words.h"

#define HOLDER_NONE 0u

// Roots that are blocks.
enum holder_source {
  HOLDER_SOURCE_WORD,   // a word in a root
  HOLDER_SOURCE_LOADER, // the dynamic loader's own block
  HOLDER_SOURCE_PARENT, // the parent's block, after fork
};

// False: no memory; everything below then answers HOLDER_NONE.
bool holders_begin(const struct scan_origin *origin);
void holders_drop(void);

// The record of a block of `site` that the word at `address` in `root` points to.
uint32_t holder_at_root(const struct root *root, uintptr_t address, site_id site);
// The record of a block of `site` that is a root by itself.
uint32_t holder_at_source(enum holder_source source, site_id site);
// The record of a block of `site` that a block with the record `parent` points to.
uint32_t holder_at_block(uint32_t parent, site_id site);

#endif
