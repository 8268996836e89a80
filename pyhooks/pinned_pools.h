// Pools (Objects/obmalloc.c) that few blocks hold: nearly empty, but good for no other size and not given back.
#ifndef HT_PINNED_POOLS_H
#define HT_PINNED_POOLS_H

// Finds them, and the sites of the blocks that hold them, for the report (native/report_pinned.h).
void pinned_pools_find(void);

#endif
