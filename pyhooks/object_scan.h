// Python's small objects as the leak scan sees them.
#ifndef HT_OBJECT_SCAN_H
#define HT_OBJECT_SCAN_H

#include "../native/scan.h"

// Tells native's scan about them (ht_add_block_source).
void object_scan_init(void);

// Keeps the leaks of Python's sites in `result`: later scans of this process give them as they are now.
void object_scan_keep(const struct scan_result *result);

// An interpreter begins after that: its blocks are looked at again.
void object_scan_begin_again(void);

#endif
