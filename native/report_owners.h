// Which thread each site of a report belongs to (--per-thread).
#ifndef HT_REPORT_OWNERS_H
#define HT_REPORT_OWNERS_H

#include "owner.h"
#include "report_tables.h"
#include "report_threads.h"
#include "words.h"
#include "writer.h"

#define OWNER_SECTIONS 2u

struct report_owners {
  uint32_t file_number[OWNER_REST + 1]; // by the recorder's number; 0: no site is that thread's
  struct report_tables *tables;
  const struct report_threads *threads; // collected
};

uint32_t owners_section_count(void);
// After the sites' sections, before the strings'.
void owners_write(struct report_owners *owners, struct report_tables *tables, const struct report_threads *threads,
                  struct writer *writer);

#endif
