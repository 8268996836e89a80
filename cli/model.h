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
  bool replaced;       // its process went on as another program (exec), whose report was read as well
  bool python_missed;  // --py was asked for, and no process of the run was a Python that offers what it needs
  const char *strings; // text at a string reference
  const struct ht_file_module *modules;
  const struct ht_file_frame *frames; // [0] unused
  const struct ht_file_node *nodes;   // [0] the root; a node's parent has a smaller index
  const struct ht_file_site *sites;   // [0] unused
  const struct ht_file_leak *leaks;
  const struct ht_file_size *sizes;
  const struct ht_file_sample *samples;
  const struct ht_file_sample_calls *calls; // up to each sample, or none at all (an older file)
  const struct ht_file_thread *threads;
  const struct ht_file_thread_state *thread_states; // one for each of them, or none at all (an older file)
  const struct ht_file_owner *owners;               // [0] unused; none without --per-thread
  const uint32_t *site_owners;                      // by site, 0: unknown; as many as sites where there are owners
  const struct ht_file_holder *holders;
  const struct ht_file_holder_link *links;
  const struct ht_file_type *types, *lost_types;
  const struct ht_file_pinned *pinned;     // [0]: all sites together
  const struct ht_file_resident *resident; // NULL: it neither forks nor was forked, or an older file
  const struct ht_file_shared_site *shared_sites;
  const uint32_t *notes;
  const struct ht_file_mark_name *mark_names;
  const struct ht_file_mark *marks;
  const struct ht_file_gpu *gpu; // NULL: no GPU was used
  const struct ht_file_gpu_device *gpu_devices;
  const struct ht_file_gpu_stream *gpu_streams;
  const struct ht_file_gpu_failure *gpu_failures;
  const struct ht_file_gpu_holder *gpu_holders;
  const struct ht_file_gpu_tensor *gpu_tensors;
  const struct ht_file_site_timeline *site_timeline;     // NULL: none
  const struct ht_file_site_timeline *gpu_site_timeline; // of device memory, at every point; NULL: was not asked for
  uint32_t module_count, frame_count, node_count, site_count, leak_count, size_count, sample_count, call_count,
      thread_count, thread_state_count, owner_count, site_owner_count, holder_count, link_count, type_count,
      lost_type_count, pinned_count, note_count, mark_name_count, mark_count, resident_count, shared_site_count,
      gpu_count, gpu_device_count, gpu_stream_count, gpu_failure_count, gpu_holder_count, gpu_tensor_count;
};

// Reads the report at `path`. False: `problem` says why, nothing is kept.
bool report_load(const char *path, struct report *report, struct problem *problem);

// The same from sections already read, which the report takes over (also when it returns false).
bool report_take(struct report_file *file, struct report *report, struct problem *problem);

void report_free(struct report *report);

// Whether figures stand for more than was recorded (--sample); of any of `count` reports.
bool report_is_estimated(const struct report *report);
bool reports_are_estimated(const struct report *reports, size_t count);
#define ESTIMATED_WORDS ", figures estimated from a sample" // behind a name or a title

// The points of a timeline of sites, and its row `row` of them.
const uint64_t *site_timeline_at_ns(const struct ht_file_site_timeline *timeline);
const struct ht_file_site_row *site_timeline_row(const struct ht_file_site_timeline *timeline, uint32_t row);
const uint64_t *site_timeline_bytes(const struct ht_file_site_row *row);

// What was called between the sample before `sample` and this one (before the first: since the start). Only where
// call_count is not 0.
struct ht_file_sample_calls sample_calls(const struct report *report, uint32_t sample);

// True when a leak of this kind counts in a report's leaked figures: Python's leaks stand in its own list, and known
// residue is passed over unless the user wants it.
bool leak_is_summed(enum ht_kind kind, bool residue, bool residue_wanted);

// Argument `index` below process->argc.
const char *report_argument(const struct report *report, uint32_t index);

#endif
