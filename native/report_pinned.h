// Free memory that cannot be used for anything else, because few blocks lie in each piece of it: by the front end that
// knows such pieces.
#ifndef HT_REPORT_PINNED_H
#define HT_REPORT_PINNED_H

#include "report_tables.h"
#include "writer.h"

#define PINNED_SITES_MAX 5u

// A site's blocks in such pieces, and its share of the free bytes there.
struct pinned_site {
  site_id site;
  uint64_t blocks, bytes;
};

// `all`: all sites together. `sites`: those that pin most, falling; they stay until the next call.
void pinned_front_set(const struct pinned_site *all, const struct pinned_site *sites, uint32_t count);
void pinned_fork_child(void);

// The sites will be in the file. Before tables_number.
void pinned_want(struct report_tables *tables);
// The section PYTHON_PINNED.
void pinned_write(const struct report_tables *tables, struct writer *writer);

#endif
