// Python's small objects as the leak scan sees them.
#ifndef HT_OBJECT_SCAN_H
#define HT_OBJECT_SCAN_H

// Tells native's scan about them (ht_add_block_source).
void object_scan_init(void);

#endif
