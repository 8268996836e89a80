// The unchanged-stack check: what a thread's stack looked like at its last allocation, so that the next one only
// walks frames that are new.
//
// The record holds, for each frame, the slot its return address was read from and the value. A frame's slot, return
// address and rbp determine by the unwind rules (rules.h) where the next frame out has its slot. So when a walk
// meets a recorded frame with the same three and all recorded slots further out still hold their values (and those
// saved rbp words that some rule depends on), the rules would give the same frames again: by induction the rest of
// the stack is unchanged, and nothing needs to be walked.
//
//   record   [0] outermost known ........ [count-1] innermost
//                       |<--- window: the `depth` innermost frames; only they are checked and make the site --->|
#ifndef HT_STACK_MEMO_H
#define HT_STACK_MEMO_H

#include "modules.h"
#include "owner.h"
#include "site.h"
#include "words.h"

// Where a hook was entered: the slot that holds its return address, and the caller's rbp.
struct hook_frame {
  uintptr_t slot;
  uintptr_t rbp;
};

struct memo_slot {
  uintptr_t slot, value; // the value is the return address
};

struct memo_info {
  uint64_t sum;          // polynomial hash of the return addresses from [0] to here
  uintptr_t rbp;         // rbp on returning to the return address
  uint32_t rbp_distance; // rbp was reloaded from slot - this; 0: unchanged by the frame inside
  uint32_t node;         // stack_table.h; 0: not interned yet
  uint32_t checks;       // entries of `checks` that belong to frames further out
  uint8_t rbp_matters;   // a rule further out depends on this rbp
  uint8_t uses_rbp;      // the rule for this return address does
  uint8_t odd;           // MEMO_*
  uint8_t padding;
};
#define MEMO_INTERRUPTED 1 // reached through a signal frame: the address is exact
#define MEMO_GENERAL 2     // reached by a general rule: see memo_odd

// Frames reached by a general rule: what the plain case derives from the slot.
struct memo_odd {
  uintptr_t rsp, cfa_slot, rbp_slot; // 0: none
};

// A word besides the return addresses that must not change, and the frame it belongs to.
struct memo_check {
  uintptr_t address, value;
  uint32_t frame;
};

struct memo_walked {
  uintptr_t slot, value, rbp;
  uint32_t rbp_distance;
  uint8_t uses_rbp, odd;
};

struct memo_paths; // stack_path.h
struct memo_path;

struct memo_arrays {
  struct memo_info *infos;
  struct memo_odd *odds;
  struct memo_walked *walked;
  struct memo_odd *walked_odds;
  struct memo_paths *paths;
};

struct stack_memo {
  // The innermost frame as found last, compared first.
  uintptr_t top_slot, top_value, top_rbp;
  uint64_t top_hash;
  uint32_t count, window_start, top_checks, window_checks;
  uint32_t version; // of the modules (modules.h)
  uint32_t salt;    // part of every hash: the modules' generation, and in OWNER_BITS the thread that the stacks are of
  uint8_t top_rbp_matters;
  bool complete;     // [0] is the outermost frame there is
  bool foreign;      // the record has frames outside the thread's own stack
  bool seen_foreign; // during this walk
  uint64_t site_keys[2];
  site_id sites[2]; // of site_keys: the last heap and the last other stack
  struct memo_slot *frames;
  struct memo_check *checks;
  struct memo_arrays *arrays;
  const struct memo_path *path; // the checking mode: the path that the last stack was found by, NULL: it is the record
  uintptr_t stack_low, stack_high;     // the thread's own stack, [low, high); 0, 0: unknown
  uintptr_t foreign_low, foreign_high; // pages of another stack found readable
};

extern uint32_t stack_depth;         // frames kept
extern uint64_t stack_unknown_rules; // walks that ended early since a rule could not be expressed

void stack_memo_init(uint32_t depth);
void stack_memo_reset(struct stack_memo *memo);
// From now on the stacks are of another thread.
void stack_memo_own(struct stack_memo *memo, uint32_t owner);
HT_INLINE uint32_t stack_memo_owner(const struct stack_memo *memo) { return memo->salt & ((1u << OWNER_BITS) - 1); }
// The site of a stack other than the last one, or of another kind. `beside`: what its key has besides the hash.
site_id stack_memo_site_other(struct stack_memo *memo, struct hook_frame frame, uint64_t beside, enum ht_kind kind,
                              uint32_t line_node);
// The node that its stacks begin at; `cut`: their outermost frames are missing. The caller holds site_lock.
uint32_t stack_memo_outermost_locked(const struct stack_memo *memo, bool cut);
// Whether that frame of the record was interrupted, so that its address is its own and not after a call.
bool stack_memo_is_interrupted(const struct stack_memo *memo, uint32_t frame);
// The checking mode: the frames of the window, innermost first; returns how many.
uint32_t stack_memo_frames(const struct stack_memo *memo, uintptr_t *return_addresses, uint32_t capacity);

// 0: the slot holds what was recorded.
HT_INLINE uintptr_t memo_slot_change(const struct memo_slot *at) { return *(uintptr_t *)at->slot ^ at->value; }

// Four frames for one branch.
HT_INLINE bool stack_memo_unchanged(const struct stack_memo *memo) {
  const struct memo_slot *first = memo->frames + memo->window_start, *at = memo->frames + memo->count - 1;
  for (; at - first >= 4; at -= 4)
    if (unlikely(memo_slot_change(at - 1) | memo_slot_change(at - 2) | memo_slot_change(at - 3) |
                 memo_slot_change(at - 4)))
      return false;
  while (at > first)
    if (unlikely(memo_slot_change(--at))) return false;
  return true;
}

HT_INLINE bool stack_memo_checks_hold(const struct stack_memo *memo) {
  for (uint32_t i = memo->top_checks; i > memo->window_checks; i--)
    if (unlikely(*(uintptr_t *)memo->checks[i - 1].address != memo->checks[i - 1].value)) return false;
  return true;
}

// The last stack once more.
HT_INLINE bool stack_memo_again(const struct stack_memo *memo, struct hook_frame frame) {
  return memo->top_slot == frame.slot && memo->top_value == *(uintptr_t *)frame.slot &&
         (memo->top_rbp == frame.rbp || !memo->top_rbp_matters) && memo->version == module_version && !memo->foreign &&
         stack_memo_unchanged(memo) && stack_memo_checks_hold(memo);
}

// What the key of a heap site has besides the stack's hash.
#define STACK_BESIDE_HEAP (HT_KIND_HEAP * STACK_BESIDE_KIND)
#define STACK_BESIDE_KIND 0xA24BAED4963EE407ull

// The last stack once more, and the heap's last site is this stack's: memo->sites[0].
HT_INLINE bool stack_memo_heap_again(const struct stack_memo *memo, struct hook_frame frame) {
  return stack_memo_again(memo, frame) && memo->site_keys[0] == memo->top_hash + STACK_BESIDE_HEAP;
}

// The site of the stack that ends in `frame`. `line_node`: frames of another language that belong into it
// (stack_merge.h), 0: none.
HT_INLINE site_id stack_memo_site(struct stack_memo *memo, struct hook_frame frame, enum ht_kind kind,
                                  uint32_t line_node) {
  uint64_t beside = kind * STACK_BESIDE_KIND + line_node * 0x9FB21C651E98DF25ull;
  int slot = kind != HT_KIND_HEAP;
  if (likely(stack_memo_again(memo, frame) && memo->site_keys[slot] == memo->top_hash + beside))
    return memo->sites[slot];
  return stack_memo_site_other(memo, frame, beside, kind, line_node);
}

#endif
