// sources: native/numbering.c native/sys.c native/lock.c
// Numbers of what a report writes: without gaps, in the table's order, 0 for what it leaves out.
#include "../../native/numbering.h"
#include "expect.h"

#include <stdio.h>

static void wanted_ones_are_numbered(uint32_t end, uint32_t every) {
  struct numbering numbering;
  if (!numbering_start(&numbering, end)) return (void)failures++;
  for (uint32_t entry = 0; entry < end + 200; entry++) {
    bool wanted = entry % every == 0 && entry > 0 && entry < end;
    if (entry % every == 0) EXPECT(numbering_want(&numbering, entry) == wanted && !numbering_want(&numbering, entry));
  }
  uint32_t next = 1, count = numbering_count(&numbering);
  for (uint32_t entry = 0; entry < end + 200; entry++) {
    bool wanted = entry % every == 0 && entry > 0 && entry < end;
    EXPECT(numbering_has(&numbering, entry) == wanted);
    EXPECT(numbering_of(&numbering, entry) == (wanted ? next : 0));
    next += wanted;
  }
  EXPECT(count == next);
  numbering_drop(&numbering);
}

int main(void) {
  for (uint32_t end = 1; end < 200; end++) wanted_ones_are_numbered(end, 1);
  for (uint32_t every = 2; every < 200; every++) wanted_ones_are_numbered(5000, every);
  return failures != 0;
}
