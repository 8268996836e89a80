// Points in time that the program gave names to: the first of them one by one, and for each name how often it came,
// when and with how much memory first and last. Bounded in marks and in names; what is beyond is counted. Pure data;
// whoever adds makes sure that nobody else does (mark.c). A reader needs no lock: counts are raised after what they
// count is there.
#ifndef HT_MARKS_H
#define HT_MARKS_H

#include "words.h"

#define MARKS_KEPT 16384u    // 384 KiB, touched as it fills; later ones only count for their names
#define MARK_NAMES 1024u     // a mark with a later name is counted in left_out
#define MARK_NAME_BYTES 128u // with the NUL; a longer name is cut, so that two may become one
#define MARK_PLACES 2048u    // of the table of names: a power of two, at least twice as many

struct mark {
  uint32_t name; // index in `names`
  uint32_t reserved;
  uint64_t at_ns, live_bytes;
};

struct mark_name {
  uint64_t count;
  uint64_t first_ns, last_ns;
  uint64_t first_live_bytes, last_live_bytes;
  char text[MARK_NAME_BYTES];
};

struct marks {
  uint32_t count, name_count;
  uint64_t left_out;
  uint16_t places[MARK_PLACES]; // by the name's hash: its index + 1, 0: free
  struct mark_name names[MARK_NAMES];
  struct mark marks[MARKS_KEPT];
};

// At a time not before that of the last one. `marks` began as zeros.
void marks_add(struct marks *marks, const char *name, uint64_t at_ns, uint64_t live_bytes);

// Back to none.
void marks_clear(struct marks *marks);

#endif
