#include "block_table.h"

#include "../native/sys.h"

#define FIRST_SLOTS 1024u

// Open addressing with backward shift, at most three quarters full.
static struct gpu_block *slots;
static size_t slot_mask, slots_used;

static size_t home_of(enum gpu_space space, uintptr_t key) {
  return (((key >> 4) + (uint64_t)space * 0x51ED27F5u) * 0x9E3779B97F4A7C15ull) >> 24 & slot_mask;
}

static size_t slot_of(enum gpu_space space, uintptr_t key) {
  size_t at = home_of(space, key);
  while (slots[at].key && (slots[at].key != key || slots[at].space != space)) at = (at + 1) & slot_mask;
  return at;
}

static bool grow(void) {
  struct gpu_block *old = slots;
  size_t old_count = old ? slot_mask + 1 : 0, count = old_count ? 2 * old_count : FIRST_SLOTS;
  struct gpu_block *larger = sys_map(count * sizeof *larger);
  if (!larger) return false;
  slots = larger;
  slot_mask = count - 1;
  for (size_t i = 0; i < old_count; i++)
    if (old[i].key) slots[slot_of(old[i].space, old[i].key)] = old[i];
  if (old) sys_unmap(old, old_count * sizeof *old);
  return true;
}

struct gpu_block *block_find_locked(enum gpu_space space, uintptr_t key) {
  if (!slots) return NULL;
  struct gpu_block *block = &slots[slot_of(space, key)];
  return block->key ? block : NULL;
}

struct gpu_block *block_put_locked(const struct gpu_block *block) {
  bool full = !slots || slots_used * 4 >= slot_mask * 3;
  if (full && !grow() && (!slots || slots_used == slot_mask)) return NULL;
  struct gpu_block *slot = &slots[slot_of(block->space, block->key)];
  if (slot->key) return slot;
  slots_used++;
  *slot = *block;
  return slot;
}

static void gap_close(size_t gap) {
  for (size_t at = (gap + 1) & slot_mask; slots[at].key; at = (at + 1) & slot_mask) {
    size_t home = home_of(slots[at].space, slots[at].key);
    if (((at - home) & slot_mask) < ((at - gap) & slot_mask)) continue;
    slots[gap] = slots[at];
    gap = at;
  }
  slots[gap].key = 0;
}

void block_remove_locked(struct gpu_block *block) {
  slots_used--;
  gap_close((size_t)(block - slots));
}

// A removal moves later blocks into the gap: the slot is looked at again. One that wraps around to the front may be
// visited twice.
void block_each_locked(bool (*keep)(struct gpu_block *, void *), void *context) {
  for (size_t at = 0; slots && at <= slot_mask; at++)
    while (slots[at].key && !keep(&slots[at], context)) block_remove_locked(&slots[at]);
}

void blocks_forget(void) {
  if (slots) sys_unmap(slots, (slot_mask + 1) * sizeof *slots);
  slots = NULL;
  slot_mask = slots_used = 0;
}
