// What a report writes of the recorder's tables: the sites that counted something, the stack nodes and frames that
// they reach, all numbered anew without gaps.
#ifndef HT_REPORT_TABLES_H
#define HT_REPORT_TABLES_H

#include "buffer.h"
#include "count.h"
#include "numbering.h"
#include "words.h"
#include "writer.h"

struct report_tables {
  struct numbering sites, nodes, frames;     // from the recorder's number to the file's
  uint32_t site_end, node_end, frame_end;    // the recorder's counts when numbering began
  uint32_t site_used, node_used, frame_used; // the file's counts, entry 0 included
  bool unsettled, rising;                    // a checkpoint's; count_is_rising
  struct site_figures *now;                  // its figures by the recorder's site; NULL: they change no more
  uint64_t *lazy_bytes; // by the recorder's site: live bytes that madvise took the pages of; NULL: none
  uint32_t *jit_names;  // by the recorder's frame: string ref of its name; NULL: none known
  struct buffer strings;
};

// Begins with every site in use. False: no memory.
bool tables_begin(struct report_tables *tables);
// The same for a checkpoint, with the figures as they stand while threads run.
bool tables_begin_now(struct report_tables *tables);
// Wants a site in the file whatever it counted. Before tables_number.
void tables_want(struct report_tables *tables, site_id site);
// The same for a frame that belongs to no stack.
void tables_want_frame(struct report_tables *tables, uint32_t frame);
// Numbers sites, nodes, frames. Counters are settled.
void tables_number(struct report_tables *tables);
void tables_drop(struct report_tables *tables);

// A string's ref in the STRINGS section.
uint32_t tables_string(struct report_tables *tables, const char *string);
// The file's number of a site, 0: not in it.
uint32_t tables_site(const struct report_tables *tables, site_id site);

// The file's number of a frame, 0: not in it.
uint32_t tables_frame(const struct report_tables *tables, uint32_t frame);

// A site's figures as the file has them: an inherited site counts nothing, pages given back are not live.
void tables_figures(const struct report_tables *tables, site_id site, struct site_figures *figures);

// One section each.
void tables_write_sites(struct report_tables *tables, struct writer *writer);
void tables_write_nodes(struct report_tables *tables, struct writer *writer);
void tables_write_frames(struct report_tables *tables, struct writer *writer);
void tables_write_modules(struct report_tables *tables, struct writer *writer);
void tables_write_strings(struct report_tables *tables, struct writer *writer);

#endif
