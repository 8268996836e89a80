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

// A front end's own words for who holds a site's memory, from the memory outwards. They stay until the next call.
struct held_site {
  site_id site;
  uint32_t count;
  const char *const *texts;
};
void holders_front_set(const struct held_site *held, uint32_t count);

// Tensors on a GPU, by the front end that knows their language; they stay until the next call. Largest first.
struct held_tensor {
  uint64_t bytes;
  uint32_t device;
  site_id site;              // where its memory was allocated, 0: not known
  const char *dtype, *shape; // NULL: unknown; decimal numbers separated by commas
  const char *const *texts;  // as in struct held_site
  uint32_t text_count;
};
void holders_tensors_set(const struct held_tensor *tensors, uint32_t count);
const struct held_tensor *holders_tensors(uint32_t *count);

// Between scan_run and scan_result_drop. The sites of the chains will be in the file.
void holders_find(struct report_holders *holders, struct report_tables *tables);
// The sections HOLDERS and HOLDER_LINKS.
void holders_write(const struct report_holders *holders, struct report_tables *tables,
                   const struct report_threads *threads, struct writer *writer);

#endif
