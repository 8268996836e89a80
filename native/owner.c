#include "owner.h"

#include <string.h>

#include "stack_table.h"

bool owners_on;
struct owner owner_table[OWNERS_MAX + 1];
uint32_t owner_first = 1, owner_end = 1;
bool owner_rest_used;

void owners_init(bool on) { owners_on = on; }

uint32_t owner_take_locked(uint32_t tid) {
  if (!owners_on) return 0;
  if (owner_end > OWNERS_MAX) return owner_rest_used = true, OWNER_REST;
  owner_table[owner_end] = (struct owner){.tid = tid};
  return owner_end++;
}

static struct owner *owner_known(uint32_t number) {
  return number >= owner_first && number < owner_end ? &owner_table[number] : NULL;
}

void owner_named_locked(uint32_t number, const char name[THREAD_NAME_BYTES]) {
  struct owner *owner = owner_known(number);
  if (owner) memcpy(owner->name, name, sizeof owner->name);
}

void owner_ended_locked(uint32_t number, const char name[THREAD_NAME_BYTES]) {
  owner_named_locked(number, name);
  if (owner_known(number)) owner_table[number].ended = true;
}

void owners_fork_child(void) {
  owner_first = owner_end;
  owner_rest_used = false;
}

uint32_t owner_node_locked(uint32_t number) {
  if (!number) return 0;
  return node_intern_locked(0, frame_intern_locked(&(struct frame){.kind = FRAME_OWNER, .value = number}));
}

uint32_t owner_of_node(uint32_t node) {
  while (node_is_frame(node)) node = node_table[node].parent;
  return node ? (uint32_t)frame_table[node_table[node].frame].value : 0;
}
