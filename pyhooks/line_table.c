#include "line_table.h"

#include "../native/growing.h"
#include "../native/lock.h"
#include "../native/owner.h"
#include "../native/stack_table.h"
#include "../native/thread.h"
#include "frame_chain.h"
#include "python_name.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull

struct line *line_table;
uint32_t line_count = 1;
static uint32_t lines_capacity;
static uint32_t line_known_from = 1; // lines below are not found any more
static uint32_t line_kept_from = 1;  // lines below have given back their code objects
static bool program_begun;

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

static node_id node_given(void *node) { return (node_id){*(uint32_t *)node}; }

// Interned nodes are one for each content, so the node's index can stand for the line.
static site_id site_of_node(uint32_t node) {
  uint64_t hash = ((uint64_t)HT_KIND_PYTHON << 56 | (uint64_t)program_begun << 55 | node) * MULTIPLIER;
  site_id site = site_find(hash ^ hash >> 29, HT_KIND_PYTHON, (site_id){0}, node_given, &node);
  if (!program_begun) site_at(site)->flags |= SITE_OF_START;
  return site;
}

static uint32_t node_of(uint32_t parent, uint32_t frame) {
  lock_take(site_lock());
  uint32_t node = node_intern_locked(parent, frame);
  lock_drop(site_lock());
  return node;
}

static uint32_t outermost_of(uint32_t owner) {
  if (!owner) return 0;
  lock_take(site_lock());
  uint32_t node = owner_node_locked(owner);
  lock_drop(site_lock());
  return node;
}

// A code object's names as strings of the stack table.
struct interned_names {
  const void *code;
  uint32_t function, file;
};
// Of the last new line, whose code object is kept alive: the next new one is often of the same.
static struct interned_names last_names;

// The lock serves the names' buffers as well.
static struct interned_names names_intern_locked(const void *code) {
  struct python_names names;
  python_names_read(code, &names);
  return (struct interned_names){code, string_intern_locked(names.function, names.function_bytes),
                                 string_intern_locked(names.file, names.file_bytes)};
}

static uint32_t frame_named_locked(const struct interned_names *names, uint32_t number) {
  return frame_intern_locked(&(struct frame){
      .kind = HT_FRAME_PYTHON, .module = names->function, .value = (uint64_t)names->file << 32 | number});
}

static uint32_t frame_of(const void *code, uint32_t number) {
  lock_take(site_lock());
  struct interned_names names = names_intern_locked(code);
  uint32_t index = frame_named_locked(&names, number);
  lock_drop(site_lock());
  return index;
}

static uint32_t frame_of_kept(const void *code, uint32_t number) {
  lock_take(site_lock());
  if (!code || last_names.code != code) last_names = names_intern_locked(code);
  uint32_t index = frame_named_locked(&last_names, number);
  lock_drop(site_lock());
  return index;
}

// The line of (code, number), made when it is new. `frame` 0: to be interned from the code object; `node` 0: of that
// frame alone.
static line_id line_find(uintptr_t code, uint32_t number, uint32_t frame, uint32_t node) {
  if (!lookup_reserve()) return (line_id){0};
  uint32_t at = lookup_slot(code, number);
  if (lookup[at]) return (line_id){lookup[at]};
  if (!growing_reserve_shared((void **)&line_table, &lines_capacity, line_count + 1, sizeof *line_table))
    return (line_id){0};
  if (code && !(code & LINE_OF_OTHER)) python.Py_IncRef((void *)code);
  struct line *line = &line_table[line_count];
  *line = (struct line){.code = code, .number = number, .frame = frame ? frame : frame_of_kept((void *)code, number)};
  line->node = node ? node : node_of(0, line->frame);
  line->site = site_of_node(line->node);
  lookup[at] = line_count;
  return (line_id){line_count++};
}

line_id line_of(struct running_frame frame) {
  return line_find((uintptr_t)frame.code, (uint32_t)running_frame_line(frame), 0, 0);
}

static line_id line_of_node(uint32_t number, uint32_t frame, uint32_t node) {
  return line_find((uintptr_t)node << 1 | LINE_OF_CHAIN | LINE_OF_OTHER, number, frame, node);
}

line_id line_of_chain(const line_id *lines, uint32_t count) {
  uint32_t owner = thread_tls ? stack_memo_owner(&thread_tls->memo) : 0, node = outermost_of(owner);
  for (uint32_t i = count; i-- > 0;) node = node_of(node, line_table[lines[i].value].frame);
  const struct line *innermost = &line_table[lines[0].value];
  if (!innermost->code) return line_find(0, owner, innermost->frame, node); // of no code, in the number's place
  return line_of_node(innermost->number, innermost->frame, node);
}

line_id line_of_import(line_id importing) {
  static const char file[] = "<frozen importlib._bootstrap>", function[] = "[import]";
  if (!importing.value) return importing;
  lock_take(site_lock());
  struct interned_names names = {NULL, string_intern_locked(function, sizeof function - 1),
                                 string_intern_locked(file, sizeof file - 1)};
  uint32_t frame = frame_named_locked(&names, 0), node = node_intern_locked(line_table[importing.value].node, frame);
  lock_drop(site_lock());
  return line_of_node(0, frame, node);
}

line_id line_of_other(struct running_frame running) {
  if (!running.code) return line_of(running);
  uint32_t number = (uint32_t)running_frame_line(running), frame = frame_of(running.code, number);
  return line_find((uintptr_t)frame << 1 | LINE_OF_OTHER, number, frame, 0);
}

static uint32_t frame_running(struct running_frame running) {
  return frame_of(running.code, (uint32_t)running_frame_line(running));
}

static uint32_t chain_node(const char *frame, uint32_t depth) {
  uint32_t frames[CHAIN_MAX], count = 0, node = 0;
  struct running_frame running;
  for (; frame && count < depth; frame = frame_outside(frame))
    if (running_frame_at(frame, &running)) frames[count++] = frame_running(running);
  while (count) node = node_of(node, frames[--count]);
  return node;
}

uint32_t line_node_without_gil(void *thread_state) {
  if (!running_frame_slow) return chain_node(frame_innermost(&frame_layout, thread_state), chain_depth);
  struct running_frame running = running_frame_ask(thread_state);
  return running.code ? node_of(0, frame_running(running)) : 0;
}

uint32_t line_node_whole(const char *frame) { return running_frame_slow ? 0 : chain_node(frame, CHAIN_MAX); }

static void lines_forget(void) {
  line_known_from = line_count;
  last_names.code = NULL;
  if (lookup) memset(lookup, 0, lookup_capacity * sizeof *lookup);
}

void line_program_begin(void) {
  lines_forget();
  program_begun = true;
}

void line_begin_again(void) {
  lines_forget();
  program_begun = false;
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
