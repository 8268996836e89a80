// Of which types the objects of a site are: of live ones counted while the graph of objects is walked (object_graph.h),
// of lost ones when they are found (object_garbage.h), each block once, whoever refers to it. A buffer counts for the
// object that owns it: a list's items, a bytearray's bytes.
#ifndef HT_OBJECT_TYPES_H
#define HT_OBJECT_TYPES_H

#include "../native/report_types.h"
#include "../native/words.h"

// Without memory nothing is counted, and object_types_first says true each time.
void object_types_begin(void);
void object_types_drop(void);

// Whether the block or object at `address` is met for the first time; from now on it is not.
bool object_types_first(uintptr_t address);

// Counts an object's own block; returns its site.
site_id object_types_add_object(const void *object);
// A block that belongs to `owner`, unless it was met before.
void object_types_add_buffer(const struct block *block, const void *owner);

// Hands the largest types of these sites to the report (native/report_types.h), where they stay; names are copied.
void object_types_keep(enum types_of which, const site_id *sites, uint32_t count);
// The sites with the most bytes counted, falling: at most `max`. Returns how many.
uint32_t object_types_sites(site_id *sites, uint32_t max);
void object_types_fork_child(void);

#endif
