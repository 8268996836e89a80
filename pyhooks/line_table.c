#include "line_table.h"

#include "../native/lock.h"
#include "../native/stack_table.h"
#include "growing.h"
#include "python_name.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull

struct line *line_table;
uint32_t line_count = 1;
static uint32_t lines_capacity;
static uint32_t line_known_from = 1; // lines below are not found any more
static uint32_t line_kept_from = 1;  // lines below have given back their code objects
uint32_t line_program_sites;

// Open addressing over (code, line number): indexes into line_table, 0: empty.
static uint32_t *lookup;
static uint32_t lookup_capacity;

static uint32_t lookup_slot(uintptr_t code, uint32_t number) {
  uint64_t hash = ((uint64_t)code ^ (uint64_t)number << 40) * MULTIPLIER;
  uint32_t mask = lookup_capacity - 1, at = (uint32_t)(hash >> 32) & mask;
  while (lookup[at] && (line_table[lookup[at]].code != code || line_table[lookup[at]].number != number))
    at = (at + 1) & mask;
  return at;
}

static bool lookup_reserve(void) {
  if (lookup && line_count * 2 < lookup_capacity) return true;
  uint32_t capacity = lookup ? lookup_capacity * 2 : 2048;
  uint32_t *larger = sys_map(capacity * sizeof *larger);
  if (!larger) return lookup && line_count + 1 < lookup_capacity;
  if (lookup) sys_unmap(lookup, lookup_capacity * sizeof *lookup);
  lookup = larger;
  lookup_capacity = capacity;
  for (uint32_t i = line_known_from; i < line_count; i++)
    lookup[lookup_slot(line_table[i].code, line_table[i].number)] = i;
  return true;
}

static node_id node_of_frame(void *context) { return (node_id){node_intern_locked(0, *(uint32_t *)context)}; }

// Interned frames are one for each content, so the frame's index can stand for the line.
static site_id site_of_frame(uint32_t frame) {
  uint64_t hash = ((uint64_t)HT_KIND_PYTHON << 56 | (uint64_t)(line_program_sites != 0) << 55 | frame) * MULTIPLIER;
  return site_find(hash ^ hash >> 29, HT_KIND_PYTHON, (site_id){0}, node_of_frame, &frame);
}

// The lock serves the names' buffers as well.
static uint32_t frame_of(const void *code, uint32_t number) {
  struct python_names names;
  lock_take(site_lock());
  python_names_read(code, &names);
  struct frame frame = {
      .kind = HT_FRAME_PYTHON,
      .module = string_intern_locked(names.function, names.function_bytes),
      .value = (uint64_t)string_intern_locked(names.file, names.file_bytes) << 32 | number,
  };
  uint32_t index = frame_intern_locked(&frame);
  lock_drop(site_lock());
  return index;
}

// The line of (code, number), made when it is new; `frame` 0: to be interned from the code object.
static line_id line_find(uintptr_t code, uint32_t number, uint32_t frame) {
  if (!lookup_reserve()) return (line_id){0};
  uint32_t at = lookup_slot(code, number);
  if (lookup[at]) return (line_id){lookup[at]};
  if (!growing_reserve_shared((void **)&line_table, &lines_capacity, line_count + 1, sizeof *line_table))
    return (line_id){0};
  if (code && !(code & LINE_OF_OTHER)) python.Py_IncRef((void *)code);
  struct line *line = &line_table[line_count];
  *line = (struct line){code, number, frame ? frame : frame_of((void *)code, number), {0}};
  line->site = site_of_frame(line->frame);
  lookup[at] = line_count;
  return (line_id){line_count++};
}

line_id line_of(struct running_frame frame) {
  return line_find((uintptr_t)frame.code, (uint32_t)running_frame_line(frame), 0);
}

line_id line_of_other(struct running_frame running) {
  if (!running.code) return line_of(running);
  uint32_t number = (uint32_t)running_frame_line(running), frame = frame_of(running.code, number);
  return line_find((uintptr_t)frame << 1 | LINE_OF_OTHER, number, frame);
}

uint32_t line_frame_without_gil(struct running_frame running) {
  return running.code ? frame_of(running.code, (uint32_t)running_frame_line(running)) : 0;
}

static void lines_forget(void) {
  line_known_from = line_count;
  if (lookup) memset(lookup, 0, lookup_capacity * sizeof *lookup);
}

void line_program_begin(void) {
  lines_forget();
  line_program_sites = site_count;
}

void line_table_release(void) {
  uint32_t first = line_kept_from, end = line_count;
  line_kept_from = end;
  lines_forget();
  for (uint32_t i = first; i < end; i++)
    if (line_table[i].code && !(line_table[i].code & LINE_OF_OTHER)) python.Py_DecRef((void *)line_table[i].code);
}

void line_fork_child(void) {
  line_count = line_kept_from = 1;
  lines_forget();
}
