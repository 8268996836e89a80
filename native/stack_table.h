// Interned frames and stacks. A stack is a path in a tree: a node has a parent (the next frame out) and a frame.
#ifndef HT_STACK_TABLE_H
#define HT_STACK_TABLE_H

#include "words.h"

// A native frame as interned: the module it was in when first seen (modules.h) and the address in it; a frame of
// another language as its front end interned it.
struct frame {
  uint32_t kind;   // enum ht_frame_kind
  uint32_t module; // index in the module table; UINT32_MAX: none. Python: string id of the function
  uint64_t value; // address in the ELF file (run-time address without a module). Python: string id of file << 32 | line
};
#define FRAME_ID_BITS 22
#define FRAME_ID_MOST ((1u << FRAME_ID_BITS) - 1)

// Its first child is the node after it, when that is a child of it. The others follow in a list while they are near
// each other, and are in a lookup table from the first on that is not (node_intern_locked).
struct node {
  uint64_t parent : NODE_ID_BITS;
  uint64_t frame : FRAME_ID_BITS;
  uint64_t next : 16; // how many nodes on its parent's next child in the list is; 0: none
};
_Static_assert(sizeof(struct node) == 8, "half a million distinct stacks are nothing rare");

extern struct frame *frame_table;
extern uint32_t frame_count; // [1, frame_count)
extern struct node *node_table;
extern uint32_t node_count; // [1, node_count); 0 is the root

#define FRAME_TRUNCATED 1u // the frame `[truncated]`
#define FRAME_OWNER 255u   // the kind of a frame that is none: the thread that a stack is of (owner.h), its number

bool stack_table_init(void);
// The tables reserve `share_bytes` each at most, where that leaves room for some more.
void stack_table_shrink_locked(size_t share_bytes);
// All three: the caller holds site_lock. 0 when the table is full.
uint32_t frame_intern_locked(const struct frame *frame);
// `return_address`: after the call; `exact`: the frame was interrupted there (signal), so the address is its own.
uint32_t frame_native_locked(uintptr_t return_address, bool exact);
uint32_t node_intern_locked(uint32_t parent, uint32_t frame);

// False: the stack ends here, at the root or at the thread that it is of.
HT_INLINE bool node_is_frame(uint32_t node) {
  return node != 0 && frame_table[node_table[node].frame].kind != FRAME_OWNER;
}

// Strings of other front ends (Python names); stable ids, deduplicated. 0 is "". Caller holds site_lock.
uint32_t string_intern_locked(const char *text, size_t bytes);
extern uint32_t string_bytes; // ids are offsets into one blob of this many bytes
extern char *string_blob;

#endif
