// One report, read and checked: every reference in it is in range, so that what comes after needs no checks of its own.
#ifndef HT_MODEL_H
#define HT_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "problem.h"
#include "report_file.h"

struct report {
  struct report_file file; // owns what the pointers below show
  const struct ht_file_process *process;
  const char *strings; // text at a string reference
  const struct ht_file_module *modules;
  const struct ht_file_frame *frames; // [0] unused
  const struct ht_file_node *nodes;   // [0] the root; a node's parent has a smaller index
  const struct ht_file_site *sites;   // [0] unused
  const struct ht_file_leak *leaks;
  const struct ht_file_size *sizes;
  const struct ht_file_sample *samples;
  const struct ht_file_thread *threads;
  const struct ht_file_holder *holders;
  const struct ht_file_holder_link *links;
  const uint32_t *notes;
  const struct ht_file_site_timeline *site_timeline; // NULL: none
  uint32_t module_count, frame_count, node_count, site_count, leak_count, size_count, sample_count, thread_count,
      holder_count, link_count, note_count;
};

// Reads the report at `path`. False: `problem` says why, nothing is kept.
bool report_load(const char *path, struct report *report, struct problem *problem);

// The same from sections already read, which the report takes over (also when it returns false).
bool report_take(struct report_file *file, struct report *report, struct problem *problem);

void report_free(struct report *report);

// The points of the sites' timeline, and its row `row` of them.
const uint64_t *site_timeline_at_ns(const struct report *report);
const struct ht_file_site_row *site_timeline_row(const struct report *report, uint32_t row);
const uint64_t *site_timeline_bytes(const struct ht_file_site_row *row);

// True when a leak of this kind counts in a report's leaked figures: Python's leaks stand in its own list, and known
// residue is passed over unless the user wants it.
bool leak_is_summed(enum ht_kind kind, bool residue, bool residue_wanted);

// Argument `index` below process->argc.
const char *report_argument(const struct report *report, uint32_t index);

#endif
