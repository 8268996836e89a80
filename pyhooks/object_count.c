#include "object_count.h"

#include "growing.h"
#include "interpreter_life.h"
#include "object_map.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull

struct pair *pair_table;
line_id *pair_lines;
uint32_t pair_count = 1;
uint32_t pair_inherited = 1;
uint32_t pair_program;
static uint32_t pairs_capacity, pair_lines_capacity;

struct key key_cache[KEY_CACHE];

// All keys ever seen: open addressing, value 0: empty.
static struct key *keys;
static uint32_t keys_capacity, keys_used;

static uint32_t key_slot(uint64_t code_size, uint32_t offset) {
  uint64_t hash = (code_size ^ (uint64_t)offset << 24) * MULTIPLIER;
  uint32_t mask = keys_capacity - 1, at = (uint32_t)(hash >> 32) & mask;
  while (keys[at].value && (keys[at].code_size != code_size || keys[at].offset != offset)) at = (at + 1) & mask;
  return at;
}

static bool keys_reserve(void) {
  if (keys && keys_used * 2 < keys_capacity) return true;
  uint32_t old_capacity = keys_capacity, capacity = keys ? keys_capacity * 2 : 4096;
  struct key *old = keys, *larger = sys_map(capacity * sizeof *larger);
  if (!larger) return keys && keys_used + 1 < keys_capacity;
  keys = larger;
  keys_capacity = capacity;
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i].value) keys[key_slot(old[i].code_size, old[i].offset)] = old[i];
  if (old) sys_unmap(old, old_capacity * sizeof *old);
  return true;
}

static uint32_t pair_make(line_id line, size_t size_bytes) {
  if (!line.value || pair_count >> OBJECT_PAIR_BITS) return 0;
  if (!growing_reserve_shared((void **)&pair_table, &pairs_capacity, pair_count + 1, sizeof *pair_table)) return 0;
  if (!growing_reserve_shared((void **)&pair_lines, &pair_lines_capacity, pair_count + 1, sizeof *pair_lines)) return 0;
  pair_table[pair_count] = (struct pair){.size_bytes = (uint32_t)size_bytes};
  pair_lines[pair_count] = line;
  __atomic_store_n(&pair_count, pair_count + 1, __ATOMIC_RELEASE); // the sampler reads without the GIL
  return pair_count - 1;
}

void key_forget(void) {
  memset(key_cache, 0, sizeof key_cache);
  if (keys) memset(keys, 0, keys_capacity * sizeof *keys);
  keys_used = 0;
}

// What the interpreter makes for itself while it starts is never the program's leak, so it gets pairs of its own.
static void program_begin(void) {
  key_forget();
  line_program_begin();
  pair_program = pair_count;
}

// The value of a key, found or made; `line` is what it stands for. 0: no memory.
static uint32_t key_make(uint64_t code_size, uint32_t offset, line_id line) {
  if (!keys_reserve()) return 0;
  uint64_t size = code_size >> KEY_SIZE_SHIFT;
  uint32_t value = size == KEY_LINE ? line.value : pair_make(line, size);
  if (!value) return 0;
  keys[key_slot(code_size, offset)] = (struct key){code_size, offset, value};
  keys_used++;
  return value;
}

static uint32_t key_known(uint64_t code_size, uint32_t offset) {
  return keys ? keys[key_slot(code_size, offset)].value : 0;
}

// Instructions that allocate in many sizes are looked up in the line table once.
static line_id line_of_key(struct running_frame frame) {
  uint64_t code_line = (uint64_t)(uintptr_t)frame.code | KEY_LINE << KEY_SIZE_SHIFT;
  line_id line = {key_known(code_line, frame.offset)};
  if (!line.value) line.value = key_make(code_line, frame.offset, line_of(frame));
  return line;
}

// Not by instruction, whose code object may go at any time, but by line, and never in the cache.
static uint32_t key_value_other(struct running_frame frame, uint64_t size) {
  line_id line = line_of_other(frame);
  if (!line.value || size == KEY_LINE) return line.value;
  uint64_t code_size = line_table[line.value].code | size << KEY_SIZE_SHIFT;
  uint32_t value = key_known(code_size, line.value);
  return value ? value : key_make(code_size, line.value, line);
}

HT_NOINLINE uint32_t key_value_slowly(void *thread_state, uint64_t size) {
  if (unlikely(!pair_program) && thread_state && running_frame_is_program(thread_state)) program_begin();
  interpreter_watch();
  struct running_frame frame = {NULL, 0};
  if (thread_state) frame = running_frame_complete(thread_state);
  if (thread_state && python_interpreter_is_other(thread_state)) return key_value_other(frame, size);
  uint64_t code_size = (uint64_t)(uintptr_t)frame.code | size << KEY_SIZE_SHIFT;
  uint32_t value = key_known(code_size, frame.offset);
  if (!value)
    value = size == KEY_LINE ? line_of_key(frame).value : key_make(code_size, frame.offset, line_of_key(frame));
  if (value) *key_cache_entry(frame, size) = (struct key){code_size, frame.offset, value};
  return value;
}

void pair_fork_child(void) {
  pair_inherited = pair_count;
  key_forget();
}
