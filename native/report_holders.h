// Who holds the memory of the largest sites: found while the world is still as the scan saw it, written later.
#ifndef HT_REPORT_HOLDERS_H
#define HT_REPORT_HOLDERS_H

#include "report_tables.h"
#include "report_threads.h"
#include "scan.h"
#include "writer.h"

#define HOLDER_SITES 32u // the largest sites at the peak
#define HOLDER_LINKS 32u // a longer chain is cut

struct report_holder {
  site_id site;
  uint64_t peak_bytes;
  uint32_t link_count;
  struct scan_holder_link links[HOLDER_LINKS];
};
struct report_holders {
  uint32_t count;
  struct report_holder table[HOLDER_SITES]; // by bytes at the peak, falling
};

// Between scan_run and scan_result_drop. The sites of the chains will be in the file.
void holders_find(struct report_holders *holders, struct report_tables *tables);
// The sections HOLDERS and HOLDER_LINKS.
void holders_write(const struct report_holders *holders, struct report_tables *tables,
                   const struct report_threads *threads, struct writer *writer);

#endif
