#include "page_data.h"

#include <stdlib.h>

#include "gpu_timeline.h"
#include "holders.h"
#include "json_out.h"
#include "marks.h"
#include "memory.h"
#include "page_columns.h"
#include "page_curves.h"
#include "page_shares.h"
#include "page_tree.h"
#include "report_json.h"
#include "units.h"
#include "utf8.h"

// Bits of `row_flags`.
enum { ROW_ARENA = 1, ROW_RESIDUE = 2, ROW_SUPPRESSED = 4 };

// A row of any process, with its place on the page.
struct page_row {
  const struct row *row;
  uint32_t process, node;
  uint32_t site_depth; // how many frames from the leaf its site is, 1: the leaf itself; 0: no frame
};

struct page_rows {
  struct page_row *items;
  size_t count;
  size_t *first;   // by process: its first row
  uint32_t *roots; // by process: its node
};

// ---- rows

static uint32_t site_depth(const struct stacks *stacks, const struct row *row) {
  uint32_t depth = 1;
  for (uint32_t node = row->stack; node; node = stack_outer(stacks, node), depth++)
    if (stack_frame(stacks, node) == row->site) return depth;
  return 0;
}

// "demo 4711"; of a later program of one pid "demo 4711-1", as its file is called.
static uint32_t process_node(struct page_tree *tree, const struct report *report) {
  const struct ht_file_process *process = report->process;
  const char *program = path_name(report->strings + process->exe);
  char *name = process->image ? memory_format("%s %u-%u", program, process->pid, process->image)
                              : memory_format("%s %u", program, process->pid);
  uint32_t node = page_tree_process(tree, name);
  free(name);
  return node;
}

static void process_rows_take(struct page_rows *rows, struct page_tree *tree, const struct judgement *judgement,
                              uint32_t process) {
  bool *wanted = memory_get(judgement->stacks->node_count, sizeof *wanted);
  for (size_t i = 0; i < judgement->row_count; i++) wanted[judgement->rows[i].stack] = true;
  uint32_t root = process_node(tree, judgement->report);
  uint32_t *node_of = page_tree_add(tree, judgement->stacks, wanted, root);
  rows->roots[process] = root;
  rows->first[process] = rows->count;
  for (size_t i = 0; i < judgement->row_count; i++) {
    const struct row *row = &judgement->rows[i];
    rows->items[rows->count++] =
        (struct page_row){row, process, node_of[row->stack], site_depth(judgement->stacks, row)};
  }
  free(node_of);
  free(wanted);
}

static struct page_rows rows_make(const struct report_set *set, struct page_tree *tree) {
  size_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->judgements[i].row_count;
  struct page_rows rows = {memory_get(count, sizeof *rows.items), 0, memory_get(set->count, sizeof *rows.first),
                           memory_get(set->count, sizeof *rows.roots)};
  for (size_t i = 0; i < set->count; i++) process_rows_take(&rows, tree, &set->judgements[i], (uint32_t)i);
  return rows;
}

static uint64_t row_flags(const struct page_row *at) {
  const struct row *row = at->row;
  return (row->arena ? ROW_ARENA : 0) | (row->residue ? ROW_RESIDUE : 0) | (row->suppressed ? ROW_SUPPRESSED : 0);
}
static uint64_t row_process(const struct page_row *at) { return at->process; }
static uint64_t row_node(const struct page_row *at) { return at->node; }
static uint64_t row_site(const struct page_row *at) { return at->site_depth; }
static uint64_t row_kind(const struct page_row *at) { return at->row->kind; }
static uint64_t row_held(const struct page_row *at) { return at->row->held_count; }
static uint64_t row_types(const struct page_row *at) { return at->row->types.count; }
static uint64_t row_lost_types(const struct page_row *at) { return at->row->lost_types.count; }

#define FIGURE(name)                                                                                                   \
  static uint64_t row_##name(const struct page_row *at) { return at->row->name; }
#include "page_row_figures.def"
#undef FIGURE

static const struct {
  const char *name;
  enum column_coding coding;
  uint64_t (*value)(const struct page_row *at);
} row_columns[] = {
    {"row_process", COLUMN_DELTA, row_process}, {"row_node", COLUMN_DELTA, row_node},
    {"row_site", COLUMN_PLAIN, row_site},       {"row_kind", COLUMN_PLAIN, row_kind},
    {"row_flags", COLUMN_PLAIN, row_flags},     {"row_held", COLUMN_PLAIN, row_held},
    {"row_types", COLUMN_PLAIN, row_types},     {"row_lost_types", COLUMN_PLAIN, row_lost_types},
#define FIGURE(name) {"row_" #name, COLUMN_PLAIN, row_##name},
#include "page_row_figures.def"
#undef FIGURE
};

static void rows_write(FILE *stream, const struct page_rows *rows) {
  for (size_t k = 0; k < sizeof row_columns / sizeof *row_columns; k++) {
    struct page_column column = column_begin(stream, row_columns[k].name, row_columns[k].coding, rows->count);
    for (size_t i = 0; i < rows->count; i++) column_add(&column, row_columns[k].value(&rows->items[i]));
  }
}

// The holders of all rows in a row; `row_held` says how many are whose.
static void holders_write(FILE *stream, const struct page_rows *rows, struct page_tree *tree) {
  uint64_t count = 0;
  for (size_t i = 0; i < rows->count; i++) count += rows->items[i].row->held_count;
  struct page_column column = column_begin(stream, "held_text", COLUMN_PLAIN, count);
  for (size_t i = 0; i < rows->count; i++) {
    const struct row *row = rows->items[i].row;
    for (size_t k = 0; k < row->held_count; k++) column_add(&column, page_tree_text(tree, row->held_by[k]));
  }
}

static const struct row_types *types_of(const struct page_row *at, bool lost) {
  return lost ? &at->row->lost_types : &at->row->types;
}

// Of what types the Python objects of a row are; `row_types` says how many, `row_lost_types` of those that are lost.
static void types_write(FILE *stream, const struct page_rows *rows, struct page_tree *tree, bool lost) {
  static const char *const names[][3] = {{"type_text", "type_blocks", "type_bytes"},
                                         {"lost_type_text", "lost_type_blocks", "lost_type_bytes"}};
  uint64_t count = 0;
  for (size_t i = 0; i < rows->count; i++) count += types_of(&rows->items[i], lost)->count;
  for (int k = 0; k < 3; k++) {
    struct page_column column = column_begin(stream, names[lost][k], COLUMN_PLAIN, count);
    for (size_t i = 0; i < rows->count; i++)
      for (size_t j = 0; j < types_of(&rows->items[i], lost)->count; j++) {
        const struct row_type *type = &types_of(&rows->items[i], lost)->types[j];
        column_add(&column, k == 0 ? page_tree_text(tree, type->name) : k == 1 ? type->blocks : type->bytes);
      }
  }
}

// ---- the tree

static uint64_t frame_function(const struct page_frame *frame) { return frame->function; }
static uint64_t frame_file(const struct page_frame *frame) { return frame->file; }
static uint64_t frame_module(const struct page_frame *frame) { return frame->module; }
static uint64_t frame_line(const struct page_frame *frame) { return frame->line; }
static uint64_t frame_column(const struct page_frame *frame) { return frame->column; }
static uint64_t frame_flags(const struct page_frame *frame) { return frame->flags; }
static uint64_t frame_offset(const struct page_frame *frame) { return frame->offset; }

static const struct {
  const char *name;
  uint64_t (*value)(const struct page_frame *frame);
} frame_columns[] = {
    {"frame_function", frame_function}, {"frame_file", frame_file},     {"frame_module", frame_module},
    {"frame_line", frame_line},         {"frame_column", frame_column}, {"frame_flags", frame_flags},
    {"frame_offset", frame_offset},
};

static void frames_write(FILE *stream, const struct page_tree *tree) {
  const struct page_frame *frames = tree->frames.items;
  for (size_t k = 0; k < sizeof frame_columns / sizeof *frame_columns; k++) {
    struct page_column column = column_begin(stream, frame_columns[k].name, COLUMN_DELTA, tree->frames.count);
    for (size_t i = 0; i < tree->frames.count; i++) column_add(&column, frame_columns[k].value(&frames[i]));
  }
}

// Node 0 is left out. A parent is written as the distance to it, which is mostly 1.
static void nodes_write(FILE *stream, const struct page_tree *tree) {
  const struct page_node *nodes = tree->nodes.items;
  size_t count = tree->nodes.count;
  struct page_column column = column_begin(stream, "node_up", COLUMN_PLAIN, count - 1);
  for (size_t i = 1; i < count; i++) column_add(&column, i - nodes[i].parent);
  column = column_begin(stream, "node_frame", COLUMN_DELTA, count - 1);
  for (size_t i = 1; i < count; i++) column_add(&column, nodes[i].frame);
}

static void texts_write(FILE *stream, const struct page_tree *tree) {
  const char *const *texts = tree->texts.items;
  for (size_t i = 1; i < tree->texts.count; i++) {
    utf8_write(stream, texts[i]);
    putc_unlocked(0, stream);
  }
}

// ---- the python list

struct python_place {
  const struct python_row *row;
  size_t number; // of its row on the page
};

static uint64_t python_number(struct python_place at) { return at.number; }
static uint64_t python_leaked(struct python_place at) { return at.row->leaked; }
static uint64_t python_live_bytes(struct python_place at) { return at.row->live_bytes; }
static uint64_t python_live_blocks(struct python_place at) { return at.row->live_blocks; }
static uint64_t python_allocations(struct python_place at) { return at.row->allocations; }
static uint64_t python_peak(struct python_place at) { return at.row->peak_known ? at.row->peak_bytes + 1 : 0; }

static const struct {
  const char *name;
  uint64_t (*value)(struct python_place at);
} python_columns[] = {
    {"python_row", python_number},
    {"python_leaked", python_leaked},
    {"python_live_bytes", python_live_bytes},
    {"python_live_blocks", python_live_blocks},
    {"python_allocations", python_allocations},
    {"python_peak_bytes", python_peak}, // plus 1; 0: unknown
};

static void python_write(FILE *stream, const struct report_set *set, const struct page_rows *rows) {
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->judgements[i].python_count;
  for (size_t k = 0; k < sizeof python_columns / sizeof *python_columns; k++) {
    struct page_column column = column_begin(stream, python_columns[k].name, COLUMN_DELTA, count);
    for (size_t i = 0; i < set->count; i++) {
      const struct judgement *judgement = &set->judgements[i];
      for (size_t j = 0; j < judgement->python_count; j++) {
        const struct python_row *row = &judgement->python[j];
        column_add(&column, python_columns[k].value((struct python_place){row, rows->first[i] + row->row}));
      }
    }
  }
}

// ---- timelines: how many samples, points and curves are whose stands in the facts

static uint64_t sample_value(const struct ht_file_sample *sample, int which) {
  return which < HT_KIND_COUNT ? sample->live_bytes[which] : which == HT_KIND_COUNT ? sample->rss_bytes : sample->at_ns;
}

static void samples_write(FILE *stream, const struct report_set *set) {
  static const char *const names[] = {"sample_heap",   "sample_mmap",    "sample_python", "sample_device",
                                      "sample_pinned", "sample_managed", "sample_rss",    "sample_at_ns"};
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->reports[i].sample_count;
  for (int k = 0; k < (int)(sizeof names / sizeof *names); k++) {
    struct page_column column = column_begin(stream, names[k], COLUMN_DELTA, count);
    for (size_t i = 0; i < set->count; i++)
      for (uint32_t j = 0; j < set->reports[i].sample_count; j++)
        column_add(&column, sample_value(&set->reports[i].samples[j], k));
  }
}

// Calls between two samples, of the reports that tell them.
static void calls_write(FILE *stream, const struct report_set *set) {
  static const char *const names[] = {"sample_allocations", "sample_temporaries"};
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->reports[i].call_count;
  for (int k = 0; k < 2; k++) {
    struct page_column column = column_begin(stream, names[k], COLUMN_PLAIN, count);
    for (size_t i = 0; i < set->count; i++)
      for (uint32_t j = 0; j < set->reports[i].call_count; j++) {
        struct ht_file_sample_calls calls = sample_calls(&set->reports[i], j);
        column_add(&column, k ? calls.temporaries : calls.allocations);
      }
  }
}

static uint64_t mark_value(const struct report *report, const struct ht_file_mark *mark, int which,
                           struct page_tree *tree) {
  if (which == 0) return page_tree_text(tree, mark_text(report, &report->mark_names[mark->name]));
  return which == 1 ? mark->at_ns : mark->live_bytes;
}

static void marks_write(FILE *stream, const struct report_set *set, struct page_tree *tree) {
  static const char *const names[] = {"mark_name", "mark_at_ns", "mark_live"};
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->reports[i].mark_count;
  for (int k = 0; k < 3; k++) {
    struct page_column column = column_begin(stream, names[k], COLUMN_DELTA, count);
    for (size_t i = 0; i < set->count; i++)
      for (uint32_t j = 0; j < set->reports[i].mark_count; j++)
        column_add(&column, mark_value(&set->reports[i], &set->reports[i].marks[j], k, tree));
  }
}

static void points_write(FILE *stream, const struct report_set *set) {
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->judgements[i].points->count;
  struct page_column column = column_begin(stream, "point_at_ns", COLUMN_DELTA, count);
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j < set->judgements[i].points->count; j++)
      column_add(&column, site_timeline_at_ns(set->reports[i].site_timeline)[j]);
}

// ---- facts

static const char *gpu_curve_words(uint32_t kind) {
  switch (kind) {
  case HT_GPU_ROW_DEVICE:
    return "device";
  case HT_GPU_ROW_STREAM:
    return "stream";
  case HT_GPU_ROW_IN_USE:
    return "in_use";
  }
  return "pool_unused";
}

static void gpu_curve_write(struct json_out *out, const struct report *report, struct gpu_curve curve) {
  char name[STREAM_NAME_BYTES];
  bool of_stream = curve.row->kind == HT_GPU_ROW_STREAM;
  const struct ht_file_gpu_stream *stream = of_stream ? &report->gpu_streams[curve.row->index] : NULL;
  out_open(out, NULL, '{');
  out_text(out, "what", gpu_curve_words(curve.row->kind));
  out_count(out, "device", stream ? stream->device : report->gpu_devices[curve.row->index].device);
  out_text(out, "stream", stream ? stream_name(name, stream) : NULL);
  out_open(out, "bytes", '[');
  for (uint32_t i = 0; i < gpu_point_count(report); i++)
    out_known(out, NULL, curve.bytes[i] != HT_GPU_UNKNOWN, curve.bytes[i]);
  out_close(out, ']');
  out_close(out, '}');
}

// What GPUs held over time, with points of its own.
static void gpu_curves_write(struct json_out *out, const struct report *report) {
  out_open(out, "gpu_seconds", '[');
  for (uint32_t i = 0; i < gpu_point_count(report); i++)
    out_number(out, NULL, seconds_of(gpu_points_at_ns(report)[i]), 6);
  out_close(out, ']');
  out_open(out, "gpu_curves", '[');
  for (uint32_t i = 0; i < gpu_curve_count(report); i++) gpu_curve_write(out, report, gpu_curve_at(report, i));
  out_close(out, ']');
}

static void process_write(struct json_out *out, const struct report_set *set, const struct page_rows *rows, size_t i,
                          size_t first_share) {
  const struct judgement *judgement = &set->judgements[i];
  out_open(out, NULL, '{');
  report_json_facts(out, judgement);
  page_growing(out, "growing", &judgement->growing, rows->first[i]);
  gpu_curves_write(out, &set->reports[i]);
  out_count(out, "started_ns", set->reports[i].process->started_unix_ns);
  out_count(out, "own_bytes", set->reports[i].process->own_bytes);
  out_count(out, "root_node", rows->roots[i]);
  out_count(out, "row_count", judgement->row_count);
  out_count(out, "sample_count", set->reports[i].sample_count);
  out_count(out, "call_count", set->reports[i].call_count);
  out_count(out, "mark_count", set->reports[i].mark_count);
  out_count(out, "point_count", judgement->points->count);
  out_count(out, "curve_count", judgement->curves.count);
  page_shares_facts(out, judgement, first_share);
  out_close(out, '}');
}

static void facts_write(FILE *stream, const struct report_set *set, const struct page_rows *rows, const char *folder) {
  struct json_out out = {.stream = stream};
  out_open(&out, NULL, '{');
  out_text(&out, "version", HEAPTIDE_VERSION);
  out_text(&out, "folder", folder);
  out_count(&out, "damaged", set->damaged_count);
  out_open(&out, "processes", '[');
  size_t first_share = 0;
  for (size_t i = 0; i < set->count; i++) {
    process_write(&out, set, rows, i, first_share);
    first_share += set->judgements[i].shares.count;
  }
  out_close(&out, ']');
  out_close(&out, '}');
}

// ---- whole

static FILE *part_open(struct page_part *part) {
  FILE *stream = open_memstream(&part->data, &part->bytes);
  if (!stream) memory_missing();
  return stream;
}

struct page_data page_data_make(const struct report_set *set, const char *folder) {
  struct page_data data = {0};
  struct page_tree tree = page_tree_make();
  struct page_rows rows = rows_make(set, &tree);
  FILE *facts = part_open(&data.facts), *texts = part_open(&data.texts), *columns = part_open(&data.columns);
  facts_write(facts, set, &rows, folder);
  rows_write(columns, &rows);
  holders_write(columns, &rows, &tree);
  types_write(columns, &rows, &tree, false);
  types_write(columns, &rows, &tree, true);
  frames_write(columns, &tree);
  nodes_write(columns, &tree);
  python_write(columns, set, &rows);
  samples_write(columns, set);
  calls_write(columns, set);
  marks_write(columns, set, &tree);
  points_write(columns, set);
  page_curves_columns(columns, set, false, rows.first);
  page_shares_columns(columns, set, rows.first);
  texts_write(texts, &tree); // last: holders, types and marks bring texts too
  fclose(facts);
  fclose(texts);
  fclose(columns);
  free(rows.items);
  free(rows.first);
  free(rows.roots);
  page_tree_free(&tree);
  return data;
}

void page_data_free(struct page_data *data) {
  free(data->facts.data);
  free(data->texts.data);
  free(data->columns.data);
}
