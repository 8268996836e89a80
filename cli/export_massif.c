// Massif's format, which ms_print and massif-visualizer open: the timeline, and who held the peak as a tree from the
// allocating functions outwards. It holds one process: the main one (--pid chooses another).
// Source: valgrind 3.19, massif/ms_print.in, the part that reads the file.
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "holders.h"
#include "memory.h"
#include "utf8.h"

// Branches of the tree below this share of the peak are one line together, as Massif's own are.
#define SHARE_MIN 0.01
#define SHARE_WORDS "1.00%"

// `#` begins a comment wherever it stands, and an entry is one line.
static void text_print(FILE *stream, const char *text) {
  char *clean = utf8_text(text);
  for (const char *at = clean; *at; at++) fputc(*at == '#' ? ':' : (unsigned char)*at < ' ' ? '?' : *at, stream);
  free(clean);
}

// ---- the tree

// One of the stacks while the tree is written: the node of its next frame outwards.
struct branch {
  uint32_t node;
  uint64_t bytes;
};

struct tree {
  FILE *stream;
  const struct stacks *stacks;
  uint64_t least_bytes;
};

static void node_begin(const struct tree *tree, int depth, size_t children, uint64_t bytes) {
  fprintf(tree->stream, "%*sn%zu: %llu ", depth, "", children, (unsigned long long)bytes);
}

static void frame_print(const struct tree *tree, const struct shown_frame *frame) {
  char *name = frame_name(frame);
  fprintf(tree->stream, "0x%llx: ", (unsigned long long)(frame->has_offset ? frame->offset : 0));
  text_print(tree->stream, name);
  if (frame->file || frame->module) {
    fputs(" (", tree->stream);
    text_print(tree->stream, frame->file ? path_name(frame->file) : path_name(frame->module));
    if (frame->file && frame->line) fprintf(tree->stream, ":%u", frame->line);
    fputc(')', tree->stream);
  }
  fputc('\n', tree->stream);
  free(name);
}

static int branch_compare(const void *left, const void *right, void *stacks) {
  const struct shown_node *nodes = ((const struct stacks *)stacks)->nodes;
  uint32_t one = nodes[((const struct branch *)left)->node].frame,
           other = nodes[((const struct branch *)right)->node].frame;
  return one < other ? -1 : one > other;
}

// Branches of the same next frame.
struct group {
  size_t begin, end;
  uint64_t bytes;
};

static int group_compare(const void *left, const void *right) {
  const struct group *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

// Sorts the branches that go on by their next frame; returns the groups, the largest first.
static struct group *groups_make(const struct tree *tree, struct branch *branches, size_t count, size_t *group_count) {
  struct group *groups = memory_get(count, sizeof *groups);
  void *stacks = (void *)tree->stacks;
  qsort_r(branches, count, sizeof *branches, branch_compare, stacks);
  *group_count = 0;
  for (size_t i = 0; i < count; i++) {
    bool same = *group_count && branch_compare(&branches[groups[*group_count - 1].begin], &branches[i], stacks) == 0;
    if (!same) groups[(*group_count)++] = (struct group){i, i, 0};
    groups[*group_count - 1].end = i + 1;
    groups[*group_count - 1].bytes += branches[i].bytes;
  }
  qsort(groups, *group_count, sizeof *groups, group_compare);
  return groups;
}

// How many branches go on outwards; they are moved to the front.
static size_t branches_going_on(struct branch *branches, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (branches[i].node) branches[kept++] = branches[i];
  return kept;
}

static void branches_write(const struct tree *tree, int depth, struct branch *branches, size_t count, uint64_t bytes,
                           const struct shown_frame *frame);

static void group_write(const struct tree *tree, int depth, struct branch *branches, const struct group *group) {
  const struct shown_frame *frame = stack_frame(tree->stacks, branches[group->begin].node);
  for (size_t i = group->begin; i < group->end; i++) branches[i].node = stack_outer(tree->stacks, branches[i].node);
  branches_write(tree, depth, branches + group->begin, group->end - group->begin, group->bytes, frame);
}

// A node for `frame` (NULL: the top), and below it what called it.
static void branches_write(const struct tree *tree, int depth, struct branch *branches, size_t count, uint64_t bytes,
                           const struct shown_frame *frame) {
  size_t group_count, shown = 0;
  count = branches_going_on(branches, count);
  struct group *groups = groups_make(tree, branches, count, &group_count);
  while (shown < group_count && groups[shown].bytes >= tree->least_bytes) shown++;
  uint64_t small_bytes = 0;
  for (size_t i = shown; i < group_count; i++) small_bytes += groups[i].bytes;
  node_begin(tree, depth, shown + (shown < group_count), bytes);
  if (frame)
    frame_print(tree, frame);
  else
    fputs("(heaptide: all memory of the process) each function that allocates, and what called it\n", tree->stream);
  for (size_t i = 0; i < shown; i++) group_write(tree, depth + 1, branches, &groups[i]);
  if (shown < group_count) {
    node_begin(tree, depth + 1, 0, small_bytes);
    fprintf(tree->stream, "in %zu place%s, all below massif's threshold (%s)\n", group_count - shown,
            group_count - shown == 1 ? "" : "s", SHARE_WORDS);
  }
  free(groups);
}

// Where a runtime's frames end, from the leaf on.
static uint32_t own_part(const struct stacks *stacks, uint32_t node) {
  uint32_t first = node;
  while (first && stack_frame(stacks, first)->runtime) first = stack_outer(stacks, first);
  return first ? first : node;
}

static void peak_tree_write(FILE *stream, const struct judgement *judgement) {
  struct branch *branches = memory_get(judgement->peak.count, sizeof *branches);
  uint64_t total = judgement->report->process->peak_bytes;
  struct tree tree = {stream, judgement->stacks, (uint64_t)((double)total * SHARE_MIN)};
  for (size_t i = 0; i < judgement->peak.count; i++) {
    const struct row *row = &judgement->rows[judgement->peak.rows[i]];
    branches[i] = (struct branch){own_part(judgement->stacks, row->stack), row->peak_bytes};
  }
  branches_write(&tree, 0, branches, judgement->peak.count, total, NULL);
  free(branches);
}

// ---- snapshots

static void snapshot_write(FILE *stream, uint32_t number, uint64_t at_ns, uint64_t bytes, const char *tree) {
  fprintf(stream,
          "#-----------\nsnapshot=%u\n#-----------\ntime=%llu\nmem_heap_B=%llu\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
          "heap_tree=%s\n",
          number, (unsigned long long)(at_ns / 1000000), (unsigned long long)bytes, tree);
}

static void peak_write(FILE *stream, uint32_t number, const struct judgement *judgement) {
  const struct ht_file_process *process = judgement->report->process;
  snapshot_write(stream, number, process->peak_ns, process->peak_bytes, "peak");
  peak_tree_write(stream, judgement);
}

static uint64_t sample_bytes(const struct ht_file_sample *sample) {
  uint64_t bytes = 0;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) bytes += sample->live_bytes[kind];
  return bytes;
}

static void snapshots_write(FILE *stream, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  uint32_t number = 0;
  bool peak_done = false;
  for (uint32_t i = 0; i < report->sample_count; i++) {
    const struct ht_file_sample *sample = &report->samples[i];
    if (!peak_done && sample->at_ns >= report->process->peak_ns) {
      peak_write(stream, number++, judgement);
      peak_done = true;
    }
    snapshot_write(stream, number++, sample->at_ns, sample_bytes(sample), "empty");
  }
  if (!peak_done) peak_write(stream, number, judgement);
}

bool export_massif(FILE *stream, const struct report_set *set, const char *what) {
  (void)what; // Massif knows what is live, and its peak
  const struct report *report = &set->reports[0];
  char *recorded = export_recorded_words(set, 1);
  fprintf(stream, "desc: %s\ncmd:", recorded);
  free(recorded);
  for (uint32_t i = 0; i < report->process->argc; i++) {
    fputc(' ', stream);
    text_print(stream, report_argument(report, i));
  }
  fputs("\ntime_unit: ms\n", stream);
  snapshots_write(stream, &set->judgements[0]);
  return true;
}
