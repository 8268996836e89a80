#include "stack_table.h"

#include <string.h>

#include "modules.h"
#include "site.h"
#include "sys.h"

// Reserved address space; memory is only used for what is filled. With an address space limit (ulimit -v) smaller
// reservations are tried; when a table is full, stacks end early and the report says so.
#define NODES_MAX (1u << NODE_ID_BITS)
#define FRAMES_MAX (1u << FRAME_ID_BITS)
#define STRINGS_MAX (1u << 28)

struct frame *frame_table;
uint32_t frame_count = 1;
struct node *node_table;
uint32_t node_count = 1;
uint32_t string_bytes = 1;
char *string_blob;
static uint32_t nodes_max, frames_max, strings_max;

#define CHILDREN_LISTED 8     // of a node, in the order they came; those after them are found through a lookup table
#define NEAR_NODES (1u << 16) // a child further than this from the one before it too

// Lookup tables: open addressing, 4-byte ids, 0 is empty. Guarded by site_lock.
struct id_table {
  uint32_t *ids;
  uint32_t bits, used;
};
static struct id_table many_children, frames_by_content, strings_by_content;

#define MULTIPLIER 0x9E3779B97F4A7C15ull

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t value = (a ^ (b * 0xD1B54A32D192ED03ull)) * MULTIPLIER;
  return value ^ value >> 29;
}

// Items that a table has room for at least, under a limit of the address space.
#define NODES_LEAST 32768
#define FRAMES_LEAST 8192
#define STRINGS_LEAST (1u << 19)

static void *reserve(uint32_t *max, size_t item_bytes) {
  for (; *max >= 1024; *max /= 4) {
    void *memory = sys_map((size_t)*max * item_bytes);
    if (memory) return memory;
  }
  return NULL;
}

static bool table_init(struct id_table *table, uint32_t bits) {
  table->bits = bits;
  table->ids = sys_map(sizeof(uint32_t) << bits);
  return table->ids != NULL;
}

bool stack_table_init(void) {
  size_t limit_share = sys_address_space_share();
  nodes_max = sys_table_room(NODES_MAX, sizeof(struct node), 0, 2 * NODES_LEAST, limit_share);
  frames_max = sys_table_room(FRAMES_MAX, sizeof(struct frame), 0, 2 * FRAMES_LEAST, limit_share);
  strings_max = sys_table_room(STRINGS_MAX, 1, 0, 2 * STRINGS_LEAST, limit_share);
  node_table = reserve(&nodes_max, sizeof *node_table);
  frame_table = reserve(&frames_max, sizeof *frame_table);
  string_blob = reserve(&strings_max, 1);
  if (!node_table || !frame_table || !string_blob) return false;
  if (!table_init(&many_children, 10) || !table_init(&frames_by_content, 10) || !table_init(&strings_by_content, 8))
    return false;
  frame_table[FRAME_TRUNCATED].kind = HT_FRAME_TRUNCATED;
  frame_count = FRAME_TRUNCATED + 1;
  return true;
}

static void shrink(void *table, uint32_t *max, size_t item_bytes, uint32_t used, uint32_t least, size_t share_bytes) {
  uint32_t room = sys_table_room(*max, item_bytes, used, least, share_bytes);
  sys_trim(table, *max * item_bytes, room * item_bytes);
  *max = room;
}

void stack_table_shrink_locked(size_t share_bytes) {
  shrink(node_table, &nodes_max, sizeof *node_table, node_count, NODES_LEAST, share_bytes);
  shrink(frame_table, &frames_max, sizeof *frame_table, frame_count, FRAMES_LEAST, share_bytes);
  shrink(string_blob, &strings_max, 1, string_bytes, STRINGS_LEAST, share_bytes);
}

// ---- one lookup for all three

typedef bool (*same_fn)(uint32_t id, const void *wanted);
typedef uint64_t (*hash_fn)(uint32_t id);

static void table_grow(struct id_table *table, hash_fn hash) {
  if (table->used * 3ull < 2ull << table->bits) return;
  struct id_table larger;
  if (!table_init(&larger, table->bits + 1)) return;
  larger.used = table->used;
  uint32_t mask = (1u << larger.bits) - 1;
  for (uint32_t i = 0; i >> table->bits == 0; i++) {
    if (!table->ids[i]) continue;
    uint32_t at = (uint32_t)(hash(table->ids[i]) >> (64 - larger.bits));
    while (larger.ids[at]) at = (at + 1) & mask;
    larger.ids[at] = table->ids[i];
  }
  sys_unmap(table->ids, sizeof(uint32_t) << table->bits);
  *table = larger;
}

// The slot with the wanted item, or the empty one where it belongs.
static uint32_t *table_slot(struct id_table *table, uint64_t hash, same_fn same, const void *wanted) {
  uint32_t mask = (1u << table->bits) - 1, at = (uint32_t)(hash >> (64 - table->bits));
  while (table->ids[at] && !same(table->ids[at], wanted)) at = (at + 1) & mask;
  return &table->ids[at];
}

// ---- nodes

static uint64_t node_hash_of(const struct node *node) { return mix(node->parent, node->frame) * MULTIPLIER; }
static uint64_t node_hash(uint32_t id) { return node_hash_of(&node_table[id]); }
static bool node_same(uint32_t id, const void *wanted) {
  const struct node *node = wanted;
  return node_table[id].parent == node->parent && node_table[id].frame == node->frame;
}

// 0: the table is full.
static uint32_t node_new(uint32_t parent, uint32_t frame) {
  if (node_count == nodes_max) return 0;
  node_table[node_count] = (struct node){parent & NODE_ID_MOST, frame & FRAME_ID_MOST, 0};
  return node_count++;
}

static uint32_t many_intern(uint32_t parent, uint32_t frame) {
  struct node wanted = {.parent = parent & NODE_ID_MOST, .frame = frame & FRAME_ID_MOST};
  table_grow(&many_children, node_hash);
  uint32_t *slot = table_slot(&many_children, node_hash_of(&wanted), node_same, &wanted);
  if (*slot) return *slot;
  if (many_children.used + 1 >= 1u << many_children.bits || !(*slot = node_new(parent, frame))) return parent;
  many_children.used++;
  return *slot;
}

// The list of a node's children, as far as it was looked at.
struct children {
  uint32_t last, count;
};

// 0: the list has no such child.
static uint32_t child_listed(uint32_t parent, uint32_t frame, struct children *children) {
  uint32_t child = parent + 1;
  *children = (struct children){0, 0};
  if (child >= node_count || node_table[child].parent != parent) return 0;
  for (;; child += node_table[child].next) {
    if (node_table[child].frame == frame) return child;
    *children = (struct children){child, children->count + 1};
    if (!node_table[child].next) return 0;
  }
}

// Most nodes have a child or two, and most new nodes are children of a new one: a list needs no look at memory far
// away, nor memory for the way to the first child. A list that a child did not go into never gets another one: the last
// in it is as far away, or there are as many.
uint32_t node_intern_locked(uint32_t parent, uint32_t frame) {
  struct children children;
  uint32_t known = child_listed(parent, frame, &children), last = children.last;
  if (known) return known;
  bool listed = last ? node_count - last < NEAR_NODES && children.count < CHILDREN_LISTED : node_count == parent + 1;
  if (!listed) return many_intern(parent, frame);
  uint32_t node = node_new(parent, frame);
  if (!node) return parent;
  if (last) node_table[last].next = (node - last) & (NEAR_NODES - 1);
  return node;
}

// ---- frames

static uint64_t frame_hash_of(const struct frame *frame) {
  return mix(mix(frame->value, frame->module), frame->kind) * MULTIPLIER;
}
static uint64_t frame_hash(uint32_t id) { return frame_hash_of(&frame_table[id]); }
static bool frame_same(uint32_t id, const void *wanted) {
  const struct frame *frame = wanted, *known = &frame_table[id];
  return known->kind == frame->kind && known->module == frame->module && known->value == frame->value;
}

uint32_t frame_intern_locked(const struct frame *frame) {
  table_grow(&frames_by_content, frame_hash);
  uint32_t *slot = table_slot(&frames_by_content, frame_hash_of(frame), frame_same, frame);
  if (*slot) return *slot;
  if (frame_count == frames_max || frames_by_content.used + 1 >= 1u << frames_by_content.bits) return FRAME_TRUNCATED;
  frame_table[frame_count] = *frame;
  frames_by_content.used++;
  return *slot = frame_count++;
}

// Frames of return addresses seen lately.
static struct recent_frame {
  uintptr_t pc;
  uint32_t generation, frame;
} recent_frames[1024];

uint32_t frame_native_locked(uintptr_t return_address, bool exact) {
  uintptr_t pc = exact ? return_address : return_address - 1; // the call, not what comes after it
  struct recent_frame *recent = &recent_frames[(pc * MULTIPLIER) >> 54];
  if (recent->pc == pc && recent->generation == module_generation) return recent->frame;
  uint32_t module = module_of(pc);
  struct frame frame = {.kind = HT_FRAME_NATIVE, .module = module, .value = pc};
  if (module == UINT32_MAX)
    frame.kind = HT_FRAME_JIT;
  else
    frame.value = pc - module_table[module].bias;
  *recent = (struct recent_frame){pc, module_generation, frame_intern_locked(&frame)};
  return recent->frame;
}

// ---- strings

struct string_wanted {
  const char *text;
  size_t bytes;
};

static uint64_t text_hash(const char *text, size_t bytes) {
  uint64_t hash = bytes;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull; // FNV-1a's prime
  return hash * MULTIPLIER;
}
static uint64_t string_hash(uint32_t id) { return text_hash(string_blob + id, strlen(string_blob + id)); }
static bool string_same(uint32_t id, const void *wanted_string) {
  const struct string_wanted *wanted = wanted_string;
  return strncmp(string_blob + id, wanted->text, wanted->bytes) == 0 && string_blob[id + wanted->bytes] == 0;
}

uint32_t string_intern_locked(const char *text, size_t bytes) {
  bytes = strnlen(text, bytes);
  if (bytes == 0) return 0;
  struct string_wanted wanted = {text, bytes};
  table_grow(&strings_by_content, string_hash);
  uint32_t *slot = table_slot(&strings_by_content, text_hash(text, bytes), string_same, &wanted);
  if (*slot) return *slot;
  if (string_bytes + bytes + 1 > strings_max || strings_by_content.used + 1 >= 1u << strings_by_content.bits) return 0;
  uint32_t id = string_bytes;
  memcpy(string_blob + id, text, bytes);
  string_bytes += (uint32_t)bytes + 1;
  strings_by_content.used++;
  return *slot = id;
}
