#include "stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "runtime_frame.h"

#define NO_ENTRY UINT32_MAX

// ---- what has to be named

struct stack_wishes stacks_want(const struct report *report, struct symbols *symbols) {
  struct stack_wishes wishes = {memory_get(report->frame_count, sizeof(uint32_t)),
                                memory_get(report->module_count, sizeof(uint32_t))};
  for (uint32_t i = 0; i < report->module_count; i++) {
    const struct ht_file_module *module = &report->modules[i];
    wishes.modules[i] =
        symbols_module(symbols, report->strings + module->path, module->build_id, module->build_id_bytes);
  }
  for (uint32_t i = 1; i < report->frame_count; i++) {
    const struct ht_file_frame *frame = &report->frames[i];
    bool wanted = frame->kind == HT_FRAME_NATIVE && !(report->modules[frame->a].flags & HT_MODULE_OWN);
    wishes.entries[i] = wanted ? symbols_add(symbols, wishes.modules[frame->a], frame->b) : NO_ENTRY;
  }
  return wishes;
}

void stack_wishes_free(struct stack_wishes *wishes) {
  free(wishes->entries);
  free(wishes->modules);
}

// ---- frames kept once

// What makes two frames the same: the same place in the source, to the column; without any name, the same address.
static bool frames_equal(const struct shown_frame *one, const struct shown_frame *other) {
  return one->language == other->language && one->function == other->function && one->file == other->file &&
         one->line == other->line && one->column == other->column && one->module == other->module &&
         (one->function || one->offset == other->offset);
}

static uint64_t frame_hash(const struct shown_frame *frame) {
  const uint64_t parts[] = {frame->language,          (uintptr_t)frame->function,
                            (uintptr_t)frame->file,   (uint64_t)frame->line << 32 | frame->column,
                            (uintptr_t)frame->module, frame->function ? 0 : frame->offset};
  return hash_bytes(HASH_START, parts, sizeof parts);
}

static size_t frame_place(const struct stacks *stacks, const struct shown_frame *frame) {
  size_t place = frame_hash(frame) & (stacks->frame_table_capacity - 1);
  while (stacks->frame_table[place] && !frames_equal(&stacks->frames[stacks->frame_table[place] - 1], frame))
    place = (place + 1) & (stacks->frame_table_capacity - 1);
  return place;
}

static void frame_table_double(struct stacks *stacks) {
  free(stacks->frame_table);
  stacks->frame_table_capacity = stacks->frame_table_capacity ? stacks->frame_table_capacity * 2 : 1024;
  stacks->frame_table = memory_get(stacks->frame_table_capacity, sizeof *stacks->frame_table);
  for (size_t i = 0; i < stacks->frame_count; i++)
    stacks->frame_table[frame_place(stacks, &stacks->frames[i])] = (uint32_t)i + 1;
}

static uint32_t frame_keep(struct stacks *stacks, const struct shown_frame *frame) {
  if (stacks->frame_count * 2 >= stacks->frame_table_capacity) frame_table_double(stacks);
  size_t place = frame_place(stacks, frame);
  if (stacks->frame_table[place]) return stacks->frame_table[place] - 1;
  stacks->frames = memory_grow(stacks->frames, stacks->frame_count, &stacks->frame_capacity, sizeof *stacks->frames);
  stacks->frames[stacks->frame_count] = *frame;
  stacks->frame_table[place] = (uint32_t)++stacks->frame_count;
  return (uint32_t)stacks->frame_count - 1;
}

// ---- stacks kept once

static size_t node_place(const struct stacks *stacks, struct shown_node node) {
  uint64_t hash = ((uint64_t)node.parent << 32 | node.frame) * 0x9e3779b97f4a7c15ull;
  size_t place = (hash >> 24) & (stacks->node_table_capacity - 1);
  for (uint32_t at; (at = stacks->node_table[place]);) {
    if (stacks->nodes[at].parent == node.parent && stacks->nodes[at].frame == node.frame) break;
    place = (place + 1) & (stacks->node_table_capacity - 1);
  }
  return place;
}

static void node_table_double(struct stacks *stacks) {
  free(stacks->node_table);
  stacks->node_table_capacity = stacks->node_table_capacity ? stacks->node_table_capacity * 2 : 4096;
  stacks->node_table = memory_get(stacks->node_table_capacity, sizeof *stacks->node_table);
  for (size_t i = 1; i < stacks->node_count; i++)
    stacks->node_table[node_place(stacks, stacks->nodes[i])] = (uint32_t)i;
}

static uint32_t node_keep(struct stacks *stacks, uint32_t parent, uint32_t frame) {
  struct shown_node node = {parent, frame};
  if (stacks->node_count * 2 >= stacks->node_table_capacity) node_table_double(stacks);
  size_t place = node_place(stacks, node);
  if (stacks->node_table[place]) return stacks->node_table[place];
  stacks->nodes = memory_grow(stacks->nodes, stacks->node_count, &stacks->node_capacity, sizeof *stacks->nodes);
  stacks->nodes[stacks->node_count] = node;
  stacks->node_table[place] = (uint32_t)stacks->node_count++;
  return stacks->node_table[place];
}

// ---- a report's frames as shown ones

// While the stacks of one report are made.
struct making {
  struct stacks *stacks;
  const struct report *report;
  const struct symbols *symbols;
  const uint32_t *entries; // by the report's frame
  uint32_t *first, *count; // by the report's frame: its shown frames, in `run`, innermost first
  uint32_t *run;           // shown frames
  size_t run_count, run_capacity;
};

static void run_add(struct making *making, struct shown_frame frame) {
  struct pool *texts = &making->stacks->texts;
  frame.function = pool_text(texts, frame.function);
  frame.file = pool_text(texts, frame.file);
  frame.module = pool_text(texts, frame.module);
  making->run = memory_grow(making->run, making->run_count, &making->run_capacity, sizeof *making->run);
  making->run[making->run_count++] = frame_keep(making->stacks, &frame);
}

static const char *text_or_null(const char *text) { return *text ? text : NULL; }

static void native_add(struct making *making, const struct ht_file_frame *from, uint32_t entry) {
  const struct ht_file_module *module = &making->report->modules[from->a];
  const struct symbol *symbol = &making->symbols->entries[entry];
  const char *path = text_or_null(making->report->strings + module->path);
  struct shown_frame frame = {.language = LANGUAGE_NATIVE, .module = path, .has_offset = true, .offset = from->b};
  frame.in_library = !(module->flags & HT_MODULE_MAIN);
  for (uint32_t i = 0; i < symbol->line_count; i++) {
    const struct symbol_line *line = &symbol->lines[i];
    frame.function = line->function;
    frame.file = line->file;
    frame.line = line->line;
    frame.column = line->column;
    frame.runtime = runtime_frame(frame.function, frame.file, path, module->flags);
    run_add(making, frame);
  }
  if (symbol->line_count) return;
  frame.runtime = runtime_frame(NULL, NULL, path, module->flags);
  run_add(making, frame);
}

static void python_add(struct making *making, const struct ht_file_frame *from) {
  const char *strings = making->report->strings;
  if (runtime_frame_imports(strings + from->name))
    return run_add(making,
                   (struct shown_frame){.language = LANGUAGE_PYTHON, .function = FRAME_IMPORT, .runtime = true});
  run_add(making, (struct shown_frame){.language = LANGUAGE_PYTHON,
                                       .function = text_or_null(strings + from->a),
                                       .file = text_or_null(strings + from->name),
                                       .line = (uint32_t)from->b});
}

// `python -X perf` runs each function by code of its own, `py::NAME:FILE`.
#define PERF_PYTHON "py::"

static bool is_perf_python(const char *name) { return name && strncmp(name, PERF_PYTHON, strlen(PERF_PYTHON)) == 0; }

static void perf_python_add(struct making *making, const struct ht_file_frame *from, const char *name) {
  const char *file = strchr(name + strlen(PERF_PYTHON), ':');
  char *function = memory_text(name, file ? (size_t)(file - name) : strlen(name));
  run_add(making, (struct shown_frame){.language = LANGUAGE_JIT,
                                       .function = function,
                                       .file = file ? text_or_null(file + 1) : NULL,
                                       .has_offset = true,
                                       .offset = from->b});
  free(function);
}

static void jit_add(struct making *making, const struct ht_file_frame *from) {
  const char *name = making->report->strings + from->name;
  if (is_perf_python(name)) return perf_python_add(making, from, name);
  char *shown =
      *name ? memory_format("[jit %s]", name) : memory_format("[anonymous code 0x%llx]", (unsigned long long)from->b);
  run_add(making,
          (struct shown_frame){.language = LANGUAGE_JIT, .function = shown, .has_offset = true, .offset = from->b});
  free(shown);
}

static void none_add(struct making *making, const char *text) {
  run_add(making, (struct shown_frame){.language = LANGUAGE_NONE, .function = text, .runtime = true});
}

static void frame_make(struct making *making, uint32_t index) {
  const struct ht_file_frame *from = &making->report->frames[index];
  making->first[index] = (uint32_t)making->run_count;
  if (from->kind == HT_FRAME_NATIVE && making->entries[index] != NO_ENTRY)
    native_add(making, from, making->entries[index]);
  else if (from->kind == HT_FRAME_PYTHON)
    python_add(making, from);
  else if (from->kind == HT_FRAME_JIT)
    jit_add(making, from);
  else if (from->kind == HT_FRAME_TRUNCATED)
    none_add(making, STACK_TRUNCATED);
  else if (from->kind == HT_FRAME_BEHALF)
    none_add(making, making->report->strings + from->a);
  making->count[index] = (uint32_t)(making->run_count - making->first[index]);
  making->stacks->of_frame[index] = making->count[index] ? making->run[making->first[index]] + 1 : 0;
}

// `parent` with the shown frames of one of the report's frames on top of it.
static uint32_t frame_push(struct making *making, uint32_t parent, uint32_t frame) {
  for (uint32_t i = making->count[frame]; i > 0; i--)
    parent = node_keep(making->stacks, parent, making->run[making->first[frame] + i - 1]);
  return parent;
}

// ---- a report's nodes as shown ones

struct node_map {
  uint32_t *shown; // by the report's node
  uint32_t *depth; // native frames of the report that it has, inlined ones not counted
};

// Frames of Python are limited for themselves.
static bool depth_counts(const struct making *making, uint32_t frame) {
  uint32_t kind = making->report->frames[frame].kind;
  return making->count[frame] && (kind == HT_FRAME_NATIVE || kind == HT_FRAME_JIT);
}

static struct node_map nodes_make(struct making *making) {
  const struct report *report = making->report;
  struct node_map map = {memory_get(report->node_count, sizeof(uint32_t)),
                         memory_get(report->node_count, sizeof(uint32_t))};
  for (uint32_t i = 1; i < report->node_count; i++) {
    const struct ht_file_node *node = &report->nodes[i];
    map.shown[i] = frame_push(making, map.shown[node->parent], node->frame);
    map.depth[i] = map.depth[node->parent] + depth_counts(making, node->frame);
  }
  return map;
}

// The stack of a node that is deeper than the process's depth: that many frames, [truncated] behind them, and those
// on whose behalf the thread worked. `shown`: by the report's node.
static uint32_t stack_cut(struct making *making, const uint32_t *shown, uint32_t node, uint32_t depth) {
  const struct report *report = making->report;
  uint32_t *kept = NULL;
  size_t count = 0, capacity = 0;
  for (; node && depth; node = report->nodes[node].parent) {
    uint32_t frame = report->nodes[node].frame;
    depth -= depth_counts(making, frame);
    if (!making->count[frame]) continue;
    kept = memory_grow(kept, count, &capacity, sizeof *kept);
    kept[count++] = frame;
  }
  while (node && report->frames[report->nodes[node].frame].kind != HT_FRAME_BEHALF) node = report->nodes[node].parent;
  none_add(making, STACK_TRUNCATED);
  uint32_t stack = node_keep(making->stacks, shown[node], making->run[making->run_count - 1]);
  while (count) stack = frame_push(making, stack, kept[--count]);
  free(kept);
  return stack;
}

static bool is_import(const struct shown_frame *frame) {
  return frame->language == LANGUAGE_PYTHON && frame->runtime; // no other frame is both
}

// In a stack with lines of Python the interpreter's own frames are left out, and of the import system's in a row all
// but one.
static uint32_t stack_fold(struct making *making, uint32_t stack) {
  struct stacks *stacks = making->stacks;
  uint32_t *kept = NULL;
  size_t count = 0, capacity = 0;
  bool has_lines = false;
  for (uint32_t node = stack; node; node = stack_outer(stacks, node)) {
    const struct shown_frame *frame = stack_frame(stacks, node);
    has_lines |= frame->language == LANGUAGE_PYTHON;
    if (frame->language == LANGUAGE_NATIVE && runtime_frame_between_lines(frame->module)) continue;
    if (frame->language == LANGUAGE_JIT && is_perf_python(frame->function)) continue;
    if (is_import(frame) && count && is_import(&stacks->frames[kept[count - 1]])) continue;
    kept = memory_grow(kept, count, &capacity, sizeof *kept);
    kept[count++] = stacks->nodes[node].frame;
  }
  if (has_lines) stack = 0;
  while (has_lines && count) stack = node_keep(stacks, stack, kept[--count]);
  free(kept);
  return stack;
}

// The arenas' row has no code that it comes from: it is named by itself.
static uint32_t named_stack(struct making *making, const char *name) {
  run_add(making, (struct shown_frame){.language = LANGUAGE_NONE, .function = name});
  return node_keep(making->stacks, 0, making->run[making->run_count - 1]);
}

static void sites_make(struct making *making, const struct node_map *map) {
  const struct report *report = making->report;
  uint32_t depth = report->process->depth;
  for (uint32_t i = 1; i < report->site_count; i++) {
    const struct ht_file_site *site = &report->sites[i];
    bool deep = site->node && depth && map->depth[site->node] > depth;
    if (site->flags & HT_SITE_ARENA)
      making->stacks->of_site[i] = named_stack(making, "python arenas, free");
    else if (site->node)
      making->stacks->of_site[i] =
          stack_fold(making, deep ? stack_cut(making, map->shown, site->node, depth) : map->shown[site->node]);
  }
}

// ---- frames of one line

static int number_compare(uintptr_t one, uintptr_t other) { return one < other ? -1 : one > other; }

static int line_compare(const void *left, const void *right) {
  const struct shown_frame *a = *(const struct shown_frame *const *)left,
                           *b = *(const struct shown_frame *const *)right;
  int order = number_compare((uintptr_t)a->file, (uintptr_t)b->file);
  order = order ? order : number_compare(a->line, b->line);
  return order ? order : number_compare((uintptr_t)a->function, (uintptr_t)b->function);
}

static void columns_mark(struct stacks *stacks) {
  struct shown_frame **by_line = memory_get(stacks->frame_count, sizeof *by_line);
  for (size_t i = 0; i < stacks->frame_count; i++) by_line[i] = &stacks->frames[i];
  if (stacks->frame_count) qsort(by_line, stacks->frame_count, sizeof *by_line, line_compare);
  for (size_t i = 1; i < stacks->frame_count; i++) {
    struct shown_frame *one = by_line[i - 1], *other = by_line[i];
    if (!one->file || line_compare(&one, &other) != 0 || one->column == other->column) continue;
    one->column_tells = one->column != 0;
    other->column_tells = other->column != 0;
  }
  free(by_line);
}

void stacks_make(struct stacks *stacks, const struct report *report, const struct symbols *symbols,
                 const struct stack_wishes *wishes) {
  *stacks = (struct stacks){.of_site = memory_get(report->site_count, sizeof(uint32_t)),
                            .of_frame = memory_get(report->frame_count, sizeof(uint32_t))};
  stacks->nodes = memory_grow(NULL, 0, &stacks->node_capacity, sizeof *stacks->nodes);
  stacks->nodes[stacks->node_count++] = (struct shown_node){0};
  struct making making = {.stacks = stacks,
                          .report = report,
                          .symbols = symbols,
                          .entries = wishes->entries,
                          .first = memory_get(report->frame_count, sizeof(uint32_t)),
                          .count = memory_get(report->frame_count, sizeof(uint32_t))};
  for (uint32_t i = 1; i < report->frame_count; i++) frame_make(&making, i);
  struct node_map map = nodes_make(&making);
  sites_make(&making, &map);
  columns_mark(stacks);
  free(map.shown);
  free(map.depth);
  free(making.first);
  free(making.count);
  free(making.run);
}

bool frame_is_label(const struct shown_frame *frame) {
  return frame->language == LANGUAGE_NONE && frame->runtime && strcmp(frame->function, STACK_TRUNCATED) != 0;
}

static bool is_without_line(const struct shown_frame *frame) {
  return frame->runtime || (frame->language == LANGUAGE_NATIVE && frame->in_library && !frame->file);
}

// The line of Python that called into a library without lines of its own says more than the library's function.
static const struct shown_frame *line_outside(const struct stacks *stacks, uint32_t node,
                                              const struct shown_frame *site) {
  while (node && is_without_line(stack_frame(stacks, node))) node = stack_outer(stacks, node);
  return node && stack_frame(stacks, node)->language == LANGUAGE_PYTHON ? stack_frame(stacks, node) : site;
}

const struct shown_frame *stack_site(const struct stacks *stacks, uint32_t node) {
  const struct shown_frame *outermost = NULL;
  for (; node; node = stack_outer(stacks, node)) {
    const struct shown_frame *frame = stack_frame(stacks, node);
    if (!frame->runtime) return line_outside(stacks, node, frame);
    if (frame->language != LANGUAGE_NONE || !outermost) outermost = frame;
  }
  return outermost;
}

uint32_t stack_from_python(const struct stacks *stacks, uint32_t node) {
  for (uint32_t at = node; at; at = stack_outer(stacks, at))
    if (stack_frame(stacks, at)->language == LANGUAGE_PYTHON) return at;
  return node;
}

void stacks_free(struct stacks *stacks) {
  free(stacks->frames);
  free(stacks->nodes);
  free(stacks->frame_table);
  free(stacks->node_table);
  free(stacks->of_site);
  free(stacks->of_frame);
  pool_free(&stacks->texts);
  *stacks = (struct stacks){0};
}
