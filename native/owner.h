// Threads that sites belong to (--per-thread): each has a number, and its stacks begin at a node of its own below the
// root, so that equal stacks of two threads are two sites. Without the option there are none.
#ifndef HT_OWNER_H
#define HT_OWNER_H

#include "thread_name.h"
#include "words.h"

// A program that starts a thread for each request would have as many sites: threads beyond these are one.
#define OWNERS_MAX 1024u
#define OWNER_REST (OWNERS_MAX + 1)
#define OWNER_BITS 11
_Static_assert(OWNER_REST < 1u << OWNER_BITS, "a number's bits");

struct owner {
  uint32_t tid;
  char name[THREAD_NAME_BYTES]; // taken when the thread ended, or of one that will not tell at its first call
  bool ended;                   // its name is the last one
};

extern HT_HIDDEN bool owners_on;
extern struct owner owner_table[OWNERS_MAX + 1]; // [owner_first, owner_end)
extern uint32_t owner_first, owner_end;
extern bool owner_rest_used;

void owners_init(bool on);
// The number of a thread that begins; 0 without the option. Under LOCK_RANK_THREADS.
uint32_t owner_take_locked(uint32_t tid);
void owner_named_locked(uint32_t number, const char name[THREAD_NAME_BYTES]);
void owner_ended_locked(uint32_t number, const char name[THREAD_NAME_BYTES]);
// In the fork child: those so far were the parent's. What was recorded of them keeps its numbers.
void owners_fork_child(void);

// Where a thread's stacks begin; of number 0 the root. The caller holds site_lock.
uint32_t owner_node_locked(uint32_t number);
// The number that the stack of `node` begins with, 0: none.
uint32_t owner_of_node(uint32_t node);

// What keeps keys apart that are equal but for their thread.
HT_INLINE uint64_t owner_salt(uint32_t number) { return number * 0xD6E8FEB86659FD93ull; }

#endif
