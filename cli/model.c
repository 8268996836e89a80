#include "model.h"

#include <string.h>

#include "gpu_timeline.h"
#include "marks.h"

#define TODO_DAMAGED "record it again with heaptide run"

static bool damaged(struct problem *problem, const char *what) {
  return problem_set(problem, TODO_DAMAGED, "damaged: %s", what);
}

// ---- sections as arrays

struct array_place {
  uint32_t id;
  size_t item_bytes;
  size_t pointer, count; // where in struct report
  const char *what;
};

#define ARRAY(section, type, pointer, count)                                                                           \
  { section, sizeof(type), offsetof(struct report, pointer), offsetof(struct report, count), #pointer }
static const struct array_place array_places[] = {
    ARRAY(HT_SECTION_MODULES, struct ht_file_module, modules, module_count),
    ARRAY(HT_SECTION_FRAMES, struct ht_file_frame, frames, frame_count),
    ARRAY(HT_SECTION_NODES, struct ht_file_node, nodes, node_count),
    ARRAY(HT_SECTION_SITES, struct ht_file_site, sites, site_count),
    ARRAY(HT_SECTION_LEAKS, struct ht_file_leak, leaks, leak_count),
    ARRAY(HT_SECTION_SIZES, struct ht_file_size, sizes, size_count),
    ARRAY(HT_SECTION_TIMELINE, struct ht_file_sample, samples, sample_count),
    ARRAY(HT_SECTION_TIMELINE_CALLS, struct ht_file_sample_calls, calls, call_count),
    ARRAY(HT_SECTION_MARK_NAMES, struct ht_file_mark_name, mark_names, mark_name_count),
    ARRAY(HT_SECTION_MARKS, struct ht_file_mark, marks, mark_count),
    ARRAY(HT_SECTION_THREADS, struct ht_file_thread, threads, thread_count),
    ARRAY(HT_SECTION_THREAD_STATES, struct ht_file_thread_state, thread_states, thread_state_count),
    ARRAY(HT_SECTION_OWNERS, struct ht_file_owner, owners, owner_count),
    ARRAY(HT_SECTION_SITE_OWNERS, uint32_t, site_owners, site_owner_count),
    ARRAY(HT_SECTION_HOLDERS, struct ht_file_holder, holders, holder_count),
    ARRAY(HT_SECTION_HOLDER_LINKS, struct ht_file_holder_link, links, link_count),
    ARRAY(HT_SECTION_PYTHON_TYPES, struct ht_file_type, types, type_count),
    ARRAY(HT_SECTION_PYTHON_LOST_TYPES, struct ht_file_type, lost_types, lost_type_count),
    ARRAY(HT_SECTION_PYTHON_PINNED, struct ht_file_pinned, pinned, pinned_count),
    ARRAY(HT_SECTION_RESIDENT, struct ht_file_resident, resident, resident_count),
    ARRAY(HT_SECTION_SHARED_SITES, struct ht_file_shared_site, shared_sites, shared_site_count),
    ARRAY(HT_SECTION_NOTES, uint32_t, notes, note_count),
    ARRAY(HT_SECTION_GPU, struct ht_file_gpu, gpu, gpu_count),
    ARRAY(HT_SECTION_GPU_DEVICES, struct ht_file_gpu_device, gpu_devices, gpu_device_count),
    ARRAY(HT_SECTION_GPU_STREAMS, struct ht_file_gpu_stream, gpu_streams, gpu_stream_count),
    ARRAY(HT_SECTION_GPU_FAILURES, struct ht_file_gpu_failure, gpu_failures, gpu_failure_count),
    ARRAY(HT_SECTION_GPU_FAILURE_HOLDERS, struct ht_file_gpu_holder, gpu_holders, gpu_holder_count),
    ARRAY(HT_SECTION_GPU_TENSORS, struct ht_file_gpu_tensor, gpu_tensors, gpu_tensor_count),
};

static bool arrays_take(struct report *report, struct problem *problem) {
  for (size_t i = 0; i < sizeof array_places / sizeof *array_places; i++) {
    const struct array_place *place = &array_places[i];
    const struct section *section = &report->file.sections[place->id];
    uint64_t count = section->bytes / place->item_bytes;
    if (section->bytes % place->item_bytes || count > UINT32_MAX)
      return problem_set(problem, TODO_DAMAGED, "damaged: %llu bytes of %s are no whole number of rows",
                         (unsigned long long)section->bytes, place->what);
    memcpy((char *)report + place->pointer, &section->data, sizeof section->data);
    *(uint32_t *)((char *)report + place->count) = (uint32_t)count;
  }
  return true;
}

// ---- references

static bool string_good(const struct report *report, uint32_t ref) {
  return ref < report->file.sections[HT_SECTION_STRINGS].bytes;
}

static bool site_good(const struct report *report, uint32_t site) { return site > 0 && site < report->site_count; }

static bool strings_take(struct report *report) {
  const struct section *section = &report->file.sections[HT_SECTION_STRINGS];
  report->strings = section->data;
  return section->bytes > 0 && report->strings[0] == 0 && report->strings[section->bytes - 1] == 0;
}

static bool arguments_good(const struct report *report) {
  const char *at = report->strings + report->process->argv;
  const char *end = report->strings + report->file.sections[HT_SECTION_STRINGS].bytes;
  for (uint32_t i = 0; i < report->process->argc; i++) {
    if (at >= end) return false;
    at += strlen(at) + 1;
  }
  return true;
}

static bool process_take(struct report *report) {
  const struct section *section = &report->file.sections[HT_SECTION_PROCESS];
  if (section->bytes != sizeof *report->process) return false;
  report->process = section->data;
  const struct ht_file_process *process = report->process;
  return string_good(report, process->exe) && string_good(report, process->argv) &&
         string_good(report, process->label) && process->reason <= HT_REASON_KILLED && arguments_good(report);
}

static bool modules_good(const struct report *report) {
  for (uint32_t i = 0; i < report->module_count; i++)
    if (!string_good(report, report->modules[i].path) ||
        report->modules[i].build_id_bytes > sizeof report->modules[i].build_id)
      return false;
  return true;
}

static bool frame_good(const struct report *report, const struct ht_file_frame *frame) {
  switch (frame->kind) {
  case HT_FRAME_NATIVE:
    return frame->a < report->module_count;
  case HT_FRAME_PYTHON:
    return string_good(report, frame->a) && string_good(report, frame->name);
  case HT_FRAME_JIT:
    return string_good(report, frame->name);
  case HT_FRAME_BEHALF:
    return string_good(report, frame->a);
  }
  return frame->kind == HT_FRAME_TRUNCATED;
}

static bool frames_good(const struct report *report) {
  for (uint32_t i = 1; i < report->frame_count; i++)
    if (!frame_good(report, &report->frames[i])) return false;
  return true;
}

// A parent before its children: so no chain can run in a circle.
static bool nodes_good(const struct report *report) {
  for (uint32_t i = 1; i < report->node_count; i++) {
    const struct ht_file_node *node = &report->nodes[i];
    if (node->parent >= i || node->frame == 0 || node->frame >= report->frame_count) return false;
  }
  return true;
}

static bool sites_good(const struct report *report) {
  for (uint32_t i = 1; i < report->site_count; i++) {
    uint32_t node = report->sites[i].node;
    if ((node != 0 && node >= report->node_count) || report->sites[i].kind >= HT_KIND_COUNT) return false;
  }
  for (uint32_t i = 0; i < report->leak_count; i++)
    if (!site_good(report, report->leaks[i].site)) return false;
  return true;
}

static bool owners_good(const struct report *report) {
  if (report->site_owner_count && report->site_owner_count != report->site_count) return false;
  if (!report->owner_count != !report->site_owner_count) return false;
  for (uint32_t i = 0; i < report->owner_count; i++)
    if (!string_good(report, report->owners[i].name)) return false;
  for (uint32_t i = 0; i < report->site_owner_count; i++)
    if (report->site_owners[i] >= report->owner_count) return false;
  return true;
}

static bool link_good(const struct report *report, const struct ht_file_holder_link *link) {
  bool frame_fits = link->frame == 0 || link->frame < report->frame_count;
  switch (link->kind) {
  case HT_HOLDER_SITE:
    return link->ref == UINT32_MAX || site_good(report, link->ref);
  case HT_HOLDER_GLOBAL:
    return link->ref < report->module_count;
  case HT_HOLDER_STACK:
    return (link->ref == UINT32_MAX || link->ref < report->thread_count) && frame_fits;
  case HT_HOLDER_TLS:
    return link->ref == UINT32_MAX || link->ref < report->module_count;
  }
  return link->kind == HT_HOLDER_TEXT && string_good(report, link->ref);
}

static bool holders_good(const struct report *report) {
  for (uint32_t i = 0; i < report->holder_count; i++) {
    const struct ht_file_holder *holder = &report->holders[i];
    if (!site_good(report, holder->site) || holder->first_link > report->link_count ||
        holder->link_count > report->link_count - holder->first_link)
      return false;
  }
  for (uint32_t i = 0; i < report->link_count; i++)
    if (!link_good(report, &report->links[i])) return false;
  return true;
}

static bool types_good(const struct report *report, const struct ht_file_type *types, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!site_good(report, types[i].site) || !string_good(report, types[i].name)) return false;
  return true;
}

static bool pinned_good(const struct report *report) {
  for (uint32_t i = 0; i < report->pinned_count; i++)
    if ((report->pinned[i].site == 0) != (i == 0) || report->pinned[i].site >= report->site_count) return false;
  return true;
}

static bool resident_good(struct report *report) {
  if (report->resident_count > 1) return false;
  if (!report->resident_count) report->resident = NULL;
  for (uint32_t i = 0; i < report->shared_site_count; i++)
    if (!site_good(report, report->shared_sites[i].site)) return false;
  return true;
}

static bool threads_good(const struct report *report) {
  return report->thread_state_count == 0 || report->thread_state_count == report->thread_count;
}

static bool texts_good(const struct report *report) {
  for (uint32_t i = 0; i < report->thread_count; i++)
    if (!string_good(report, report->threads[i].name)) return false;
  for (uint32_t i = 0; i < report->note_count; i++)
    if (!string_good(report, report->notes[i])) return false;
  return true;
}

// ---- the timeline's calls

static bool calls_good(const struct report *report) {
  if (report->call_count != 0 && report->call_count != report->sample_count) return false;
  for (uint32_t i = 1; i < report->call_count; i++)
    if (report->calls[i].allocations < report->calls[i - 1].allocations ||
        report->calls[i].temporaries < report->calls[i - 1].temporaries)
      return false;
  return true;
}

struct ht_file_sample_calls sample_calls(const struct report *report, uint32_t sample) {
  struct ht_file_sample_calls calls = report->calls[sample];
  if (sample == 0) return calls;
  const struct ht_file_sample_calls *before = &report->calls[sample - 1];
  return (struct ht_file_sample_calls){calls.allocations - before->allocations,
                                       calls.temporaries - before->temporaries};
}

// ---- timelines of sites

static uint64_t site_row_bytes(const struct ht_file_site_timeline *timeline) {
  return sizeof(struct ht_file_site_row) + (uint64_t)timeline->point_count * sizeof(uint64_t);
}

static bool site_timeline_take(const struct report *report, uint32_t id, const struct ht_file_site_timeline **into) {
  const struct section *section = &report->file.sections[id];
  if (section->bytes == 0) return true;
  if (section->bytes < sizeof **into) return false;
  const struct ht_file_site_timeline *timeline = *into = section->data;
  uint64_t room = section->bytes - sizeof *timeline, points_bytes = (uint64_t)timeline->point_count * sizeof(uint64_t);
  if (points_bytes > room || timeline->row_count > (room - points_bytes) / site_row_bytes(timeline)) return false;
  for (uint32_t i = 0; i < timeline->row_count; i++)
    if (!site_good(report, site_timeline_row(timeline, i)->site)) return false;
  return true;
}

static bool site_timelines_take(struct report *report) {
  return site_timeline_take(report, HT_SECTION_SITE_TIMELINE, &report->site_timeline) &&
         site_timeline_take(report, HT_SECTION_GPU_SITE_TIMELINE, &report->gpu_site_timeline);
}

const uint64_t *site_timeline_at_ns(const struct ht_file_site_timeline *timeline) {
  return (const uint64_t *)(timeline + 1);
}

const struct ht_file_site_row *site_timeline_row(const struct ht_file_site_timeline *timeline, uint32_t row) {
  const char *rows = (const char *)(site_timeline_at_ns(timeline) + timeline->point_count);
  return (const struct ht_file_site_row *)(rows + row * site_row_bytes(timeline));
}

const uint64_t *site_timeline_bytes(const struct ht_file_site_row *row) { return (const uint64_t *)(row + 1); }

// ---- GPU

static bool failures_good(const struct report *report) {
  for (uint32_t i = 0; i < report->gpu_failure_count; i++) {
    const struct ht_file_gpu_failure *failure = &report->gpu_failures[i];
    if (!site_good(report, failure->site) || failure->first_holder > report->gpu_holder_count ||
        failure->holder_count > report->gpu_holder_count - failure->first_holder)
      return false;
  }
  for (uint32_t i = 0; i < report->gpu_holder_count; i++)
    if (!site_good(report, report->gpu_holders[i].site)) return false;
  return true;
}

static bool tensor_good(const struct report *report, const struct ht_file_gpu_tensor *tensor) {
  if (!string_good(report, tensor->dtype) || !string_good(report, tensor->shape) ||
      (tensor->site && tensor->site >= report->site_count))
    return false;
  uint64_t at = tensor->held, end = report->file.sections[HT_SECTION_STRINGS].bytes;
  for (uint32_t i = 0; i < tensor->held_count; i++) {
    if (at >= end) return false;
    at += strlen(report->strings + at) + 1;
  }
  return true;
}

static bool gpu_good(struct report *report) {
  if (report->gpu_count > 1) return false;
  if (!report->gpu_count) report->gpu = NULL;
  for (uint32_t i = 0; i < report->gpu_device_count; i++)
    if (!string_good(report, report->gpu_devices[i].name)) return false;
  for (uint32_t i = 0; i < report->gpu_tensor_count; i++)
    if (!tensor_good(report, &report->gpu_tensors[i])) return false;
  return failures_good(report) && gpu_timeline_good(report);
}

// ---- whole

static bool report_check(struct report *report, struct problem *problem) {
  if (!strings_take(report)) return damaged(problem, "its strings do not end");
  if (!process_take(report)) return damaged(problem, "no process is described");
  if (!arrays_take(report, problem)) return false;
  if (!modules_good(report) || !frames_good(report)) return damaged(problem, "a frame points nowhere");
  if (!nodes_good(report)) return damaged(problem, "a stack runs in a circle or points nowhere");
  if (!sites_good(report)) return damaged(problem, "a site points nowhere");
  if (!owners_good(report)) return damaged(problem, "a site's thread is nowhere");
  if (!holders_good(report)) return damaged(problem, "a holder points nowhere");
  if (!types_good(report, report->types, report->type_count) ||
      !types_good(report, report->lost_types, report->lost_type_count))
    return damaged(problem, "a type of objects points nowhere");
  if (!pinned_good(report)) return damaged(problem, "a site that holds pools is nowhere");
  if (!resident_good(report)) return damaged(problem, "a site of shared pages is nowhere");
  if (!threads_good(report)) return damaged(problem, "the states of threads do not fit them");
  if (!texts_good(report)) return damaged(problem, "a text points nowhere");
  if (!marks_good(report)) return damaged(problem, "a mark points nowhere");
  if (!calls_good(report)) return damaged(problem, "the timeline's calls do not fit its samples");
  if (!gpu_good(report)) return damaged(problem, "a row of the GPU points nowhere");
  return site_timelines_take(report) || damaged(problem, "the timeline of the sites does not fit");
}

bool report_take(struct report_file *file, struct report *report, struct problem *problem) {
  *report = (struct report){.file = *file};
  if (report_check(report, problem)) return true;
  report_free(report);
  return false;
}

bool report_load(const char *path, struct report *report, struct problem *problem) {
  struct report_file file;
  return report_file_read(path, &file, problem) && report_take(&file, report, problem);
}

void report_free(struct report *report) {
  report_file_free(&report->file);
  *report = (struct report){0};
}

bool leak_is_summed(enum ht_kind kind, bool residue, bool residue_wanted) {
  return kind != HT_KIND_PYTHON && (residue_wanted || !residue);
}

const char *report_argument(const struct report *report, uint32_t index) {
  const char *at = report->strings + report->process->argv;
  while (index--) at += strlen(at) + 1;
  return at;
}

bool report_is_estimated(const struct report *report) { return (report->process->flags & HT_PROCESS_ESTIMATED) != 0; }

bool reports_are_estimated(const struct report *reports, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (report_is_estimated(&reports[i])) return true;
  return false;
}
