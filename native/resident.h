// Which pages of a range hold data, from /proc/self/pagemap: reading a page that was never touched would map it, and
// a reservation of terabytes would never end.
#ifndef HT_RESIDENT_H
#define HT_RESIDENT_H

#include "words.h"

// Below this many bytes looking costs more than reading.
#define RESIDENT_WORTH_BYTES (256u << 10)

// Opens and closes the file. Without it every page counts as holding data. Takes LOCK_RANK_SYS.
void resident_begin(void);
void resident_end(void);

// The next run of pages with data in [*start, end), clipped to it: in memory or swapped out and, with
// `private_only`, not still the page of a file, nor (from Linux 6.7 on) memory that was only read. False: none is left.
// Before Linux 6.7 a range of more than 256 GiB counts as holding none: it could only be looked through page by page,
// and such ranges are shadows of sanitizers.
bool resident_next(uintptr_t *start, uintptr_t *run_end, uintptr_t end, bool private_only);

#endif
