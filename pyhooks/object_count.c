#include "object_count.h"

#include "../native/growing.h"
#include "../native/thread.h"
#include "detour.h"
#include "importing_frame.h"
#include "interpreter_life.h"
#include "object_map.h"
#include "queued_call.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull

struct pair *pair_table;
line_id *pair_lines;
uint32_t pair_count = 1;
uint32_t pair_inherited = 1, pair_frozen = 1;
uint32_t pair_program;
static uint32_t pairs_capacity, pair_lines_capacity;

struct recent_key recent_keys[RECENT_KEYS];

// All keys ever seen: open addressing, value 0: empty.
struct key {
  uint64_t code_size; // code | size << 48
  uint32_t offset;
  uint32_t value; // as recent_key's
};
static struct key *keys;
static uint32_t keys_capacity, keys_used;
static uint32_t queueing_stacks; // of what queues calls, that are keys

// ---- with --per-thread, keys are salted: lookups are exact but for that

static uint32_t owner_now(void) { return thread_tls ? stack_memo_owner(&thread_tls->memo) : 0; }

static struct frame_key key_owned(struct frame_key key) {
  uint64_t salt = owner_salt(owner_now());
  return (struct frame_key){(key.instruction ^ salt) & 0xffffffffffffull, key.code_bits ^ (uint32_t)(salt >> 32)};
}

static uint64_t code_size_owned(uint64_t code_size) { return code_size ^ owner_salt(owner_now()); }

static line_id line_owned(line_id line) { return owner_now() && line.value ? line_of_chain(&line, 1) : line; }

// ---- all keys

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
  pair_table[pair_count] = (struct pair){.size_bytes = (uint16_t)size_bytes};
  pair_lines[pair_count] = line;
  __atomic_store_n(&pair_count, pair_count + 1, __ATOMIC_RELEASE); // the sampler reads without the GIL
  return pair_count - 1;
}

void key_forget(void) {
  memset(recent_keys, 0, sizeof recent_keys);
  if (keys) memset(keys, 0, keys_capacity * sizeof *keys);
  keys_used = queueing_stacks = 0;
}

// What the interpreter makes for itself while it starts is never the program's leak, so it gets pairs of its own.
void pair_program_begin(void) {
  key_forget();
  line_program_begin();
  pair_program = pair_count;
}

// The value of a new key; `line` is what it stands for. 0: no memory.
static uint32_t key_make(uint64_t code_size, uint32_t offset, uint64_t size, line_id line) {
  if (!keys_reserve()) return 0;
  uint32_t value = size == KEY_LINE ? line.value : pair_make(line, size);
  if (!value) return 0;
  code_size = code_size_owned(code_size);
  keys[key_slot(code_size, offset)] = (struct key){code_size, offset, value};
  keys_used++;
  return value;
}

static uint32_t key_known(uint64_t code_size, uint32_t offset) {
  return keys ? keys[key_slot(code_size_owned(code_size), offset)].value : 0;
}

// Instructions that allocate in many sizes are looked up in the line table once.
static line_id line_of_key(struct running_frame frame) {
  uint64_t code_line = (uint64_t)(uintptr_t)frame.code | KEY_LINE << KEY_SIZE_SHIFT;
  line_id line = {key_known(code_line, frame.offset)};
  if (!line.value) line.value = key_make(code_line, frame.offset, KEY_LINE, line_owned(line_of(frame)));
  return line;
}

// Not by instruction, whose code object may go at any time, but by line, and never in the cache.
static uint32_t key_value_other(struct running_frame frame, uint64_t size) {
  line_id line = line_owned(line_of_other(frame));
  if (!line.value || size == KEY_LINE) return line.value;
  uint64_t code_size = line_table[line.value].code | size << KEY_SIZE_SHIFT;
  uint32_t value = key_known(code_size, line.value);
  return value ? value : key_make(code_size, line.value, size, line);
}

static uint32_t key_value_frame(struct running_frame frame, uint64_t size) {
  uint64_t code_size = (uint64_t)(uintptr_t)frame.code | size << KEY_SIZE_SHIFT;
  uint32_t value = key_known(code_size, frame.offset);
  if (value) return value;
  return size == KEY_LINE ? line_of_key(frame).value : key_make(code_size, frame.offset, size, line_of_key(frame));
}

// ---- keys that are hashes

// `line_make` is asked for the line of a new one.
static uint32_t key_value_hashed(uint64_t hash, uint64_t size, line_id (*line_make)(const void *of), const void *of) {
  uint32_t value = key_known(hash, (uint32_t)size);
  if (value) return value;
  line_id line = {key_known(hash, KEY_LINE)};
  if (!line.value) line.value = key_make(hash, KEY_LINE, KEY_LINE, line_make(of));
  return size == KEY_LINE ? line.value : key_make(hash, (uint32_t)size, size, line);
}

// ---- the import system's code: its key is that of the import it works for

static uint64_t import_hash(struct running_frame importing) {
  return ((uint64_t)(uintptr_t)importing.code ^ (uint64_t)importing.offset << 40) * CHAIN_HASH;
}

static line_id line_of_importing(const void *importing) {
  return line_of_import(line_of_key(*(const struct running_frame *)importing));
}

static uint32_t key_value_import(struct running_frame importing, uint64_t size) {
  return key_value_hashed(import_hash(importing), size, line_of_importing, &importing);
}

// ---- chains

// Each line of it is in the line table, which keeps its code object alive: no other code takes its address.
static line_id line_of_chain_at(const char *frame, uint32_t depth) {
  static line_id lines[CHAIN_MAX]; // guarded as the tables are
  uint32_t count = 0;
  struct running_frame read;
  for (; frame && count < depth; frame = frame_outside(frame))
    if (running_frame_at(frame, &read)) lines[count++] = line_of_key(read);
  if (count == 0) return line_of_key((struct running_frame){NULL, 0});
  return count > 1 ? line_of_chain(lines, count) : lines[0];
}

static line_id line_of_running_chain(const void *frame) { return line_of_chain_at(frame, chain_depth); }

static uint32_t key_value_chain(const char *frame, uint64_t size) {
  return key_value_hashed(chain_hash(&frame_layout, frame), size, line_of_running_chain, frame);
}

// ---- what queues a call: all of its lines, for who makes the call to find them

// A recursion may queue from more stacks than there is memory for: those that come after so many have these lines.
#define QUEUEING_STACKS 8192u
#define QUEUEING_SHORT 8u

static line_id line_of_whole_chain(const void *frame) { return line_of_chain_at(frame, CHAIN_MAX); }
static line_id line_of_short_chain(const void *frame) { return line_of_chain_at(frame, QUEUEING_SHORT); }

static uint32_t key_value_queueing(const char *frame, uint64_t size) {
  uint64_t hash = chain_hash_at(&frame_layout, frame, CHAIN_MAX);
  bool is_new = !key_known(hash, KEY_LINE);
  if (is_new && queueing_stacks >= QUEUEING_STACKS)
    return key_value_hashed(chain_hash_at(&frame_layout, frame, QUEUEING_SHORT), size, line_of_short_chain, frame);
  queueing_stacks += is_new;
  return key_value_hashed(hash, size, line_of_whole_chain, frame);
}

// Whether the frame's key is its alone as long as the line table keeps its code object alive: with a pointer to the
// instruction that lies in the code object (PyVarObject.ob_size counts its code units).
static bool is_own_instruction(struct running_frame frame) {
  uint32_t start = frame_layout.code_instructions;
  if (running_frame_slow || start == FRAME_LAYOUT_NONE || !frame.code) return true;
  size_t units = *(const size_t *)(frame.code + sizeof(struct python_object));
  return frame.offset >= start && frame.offset < start + units * CODE_UNIT_BYTES;
}

static void recent_key_set(struct frame_key key, uint64_t size, uint32_t value) {
  uint64_t tag = key_tag(key.instruction, size);
  if (value && !(value >> OBJECT_PAIR_BITS))
    *recent_key(tag) = (struct recent_key){tag, key.code_bits, value << OBJECT_START_BITS};
}

static uint32_t key_value_of_chain(const char *frame, uint64_t size) {
  uint32_t value = key_value_chain(frame, size);
  recent_key_set(key_owned(frame_key_of_chain(&frame_layout, frame)), size, value);
  return value;
}

// A frame that is still being set up stands for its caller, whichever that is each time: so the key is the caller's.
static uint32_t key_value_of_frame(struct running_frame frame, uint64_t size) {
  struct frame_key key = key_owned(frame_key_of(frame));
  uint32_t value = key_recent(key, size) >> OBJECT_START_BITS;
  if (value) return value;
  value = key_value_frame(frame, size);
  if (is_own_instruction(frame)) recent_key_set(key, size, value);
  return value;
}

HT_NOINLINE uint32_t key_value_slowly(void *thread_state, uint64_t size) {
  if (unlikely(!pair_program) && thread_state && running_frame_is_program(thread_state)) pair_program_begin();
  interpreter_watch();
  if (!thread_state) return key_value_of_frame((struct running_frame){NULL, 0}, size);
  if (python_interpreter_is_other(thread_state)) return key_value_other(running_frame_complete(thread_state), size);
  struct running_frame running = running_frame_complete(thread_state), importing;
  if (!running.code || running_frame_slow) return key_value_of_frame(running, size);
  const char *frame = frame_innermost(&frame_layout, thread_state);
  // These two never in the cache: the next time it may be another import, or another call.
  if (chain_depth == 1 && importing_code(running.code)) {
    bool found = importing_frame_find(thread_state, &importing);
    return found ? key_value_import(importing, size) : key_value_frame(running, size);
  }
  if (queued_call_is_made_by(running.code)) return key_value_queueing(frame, size);
  return chain_depth > 1 ? key_value_of_chain(frame, size) : key_value_of_frame(running, size);
}

HT_NOINLINE uint32_t key_value_owned(void *thread_state, uint64_t size) {
  struct frame_key key = {0, 0};
  if (thread_state) key = key_running(thread_state);
  uint32_t value = key_recent(key_owned(key), size) >> OBJECT_START_BITS;
  return value ? value : key_value_slowly(thread_state, size);
}

void pair_begin_again(void) {
  pair_frozen = pair_count;
  pair_program = 0;
  importing_begin_again();
  key_forget();
  detour_update();
}

void pair_fork_child(void) {
  pair_inherited = pair_frozen = pair_count;
  key_forget();
  detour_update();
}
