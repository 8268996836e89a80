// Marks what can be reached: every aligned word of a root or a reached block that points into a block reaches it.
#ifndef HT_FLOOD_H
#define HT_FLOOD_H

#include "roots.h"
#include "words.h"

// Maps what the flood needs. False: no memory. flood_end gives it back. Between live_scan_begin and live_scan_end.
bool flood_begin(void);
void flood_end(void);

// Reaches everything that hangs on the root.
void flood_root(const struct root *root);
// Reaches the blocks that are roots by themselves (the loader's, the parent's), and what hangs on them.
void flood_root_blocks(void);
// Marks as indirect what unreached blocks point to (not to themselves). After all roots.
void flood_indirect(void);

// Calls `visit` for each block and range that no root reaches. `blocks` is 1, or 0 for the further pieces of a mapping
// that was cut.
void flood_each_leak(void (*visit)(site_id site, size_t bytes, uint32_t blocks, bool indirect, void *context),
                     void *context);

// Bytes read so far. *complete: false once something had to be left out for lack of memory.
uint64_t flood_bytes(bool *complete);

#endif
