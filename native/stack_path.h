// Paths: what lay inside a recorded frame at earlier allocations. Few call paths under the same outer frames take turns
// in most programs; a path that is known need not be walked again, and the record (stack_memo.h) stays as it is.
//
// A path goes from a hook's frame out to a frame of the record, the joint. By the induction of stack_memo.h the walk
// would come to the same frame again when the words on the way (slots of return addresses and what else rules depend
// on) hold what they held; so when the record still has the joint, with the same frames outside of it, and these are
// unchanged, the stack's hash is the path's.
#ifndef HT_STACK_PATH_H
#define HT_STACK_PATH_H

#include "stack_memo.h"

#define PATH_WORDS 10u // even; longer paths are walked
#define PATH_SETS 64u  // of two paths each, 32 KiB a thread
#define PATH_CALLERS 128u

struct memo_word {
  uintptr_t address, value;
};

// Four cache lines; the first decides whether it is this path.
struct memo_path {
  uintptr_t slot, value, rbp; // the innermost frame
  uintptr_t joint_slot, joint_rbp;
  uint64_t joint_sum;    // of all return addresses from the outermost to the joint
  uint64_t hash;         // of the whole stack
  uint32_t joint;        // index in the record; only a frame of a record from the outermost on
  uint8_t words, frames; // the first `frames` of `words` are return addresses, the last of them the joint's
  uint8_t rbp_matters, joint_rbp_matters;
  uint64_t site_key; // of `site`, 0: none known yet
  site_id site;
  uint32_t next;                     // the path that came after this one last time
  struct memo_word word[PATH_WORDS]; // an even number is in use: the last may be there twice
};

// Where a frame's caller has its return address. One function (operator new, a wrapper of malloc) calls malloc for
// all: paths are told apart by who called it, and who called that.
struct memo_caller {
  uintptr_t slot, value, caller_slot;
};

struct memo_paths {
  struct memo_path table[2 * PATH_SETS];
  struct memo_caller callers[PATH_CALLERS];
  struct memo_path *last;      // found or noted last
  uint8_t replaced[PATH_SETS]; // which of the two was written last
  uint32_t credit;             // paths to be noted yet
  uint32_t pause;              // stacks that are neither looked up nor noted
};

// A program whose stacks never come back would only pay: each path found allows for two to be noted, and when nothing
// is left of that, there is a pause.
#define PATH_CREDIT_MOST 64u
#define PATH_CREDIT_FOUND 2u
#define PATH_CREDIT_TRIAL 16u // after a pause
#define PATH_PAUSE 512u

void stack_path_forget(struct memo_paths *paths);
// Notes the path from the innermost recorded frame to frame `joint`. The record was just made.
void stack_path_note(struct stack_memo *memo, uint32_t joint);

#define PATH_HASH(value) ((value)*0x9E3779B97F4A7C15ull >> 40)

HT_INLINE struct memo_caller *path_caller(struct memo_paths *paths, uintptr_t slot, uintptr_t value) {
  return &paths->callers[PATH_HASH(slot << 7 ^ value) & (PATH_CALLERS - 1)];
}

HT_INLINE bool path_caller_is(const struct memo_caller *caller, uintptr_t slot, uintptr_t value) {
  return caller->slot == slot && caller->value == value;
}

// The first of two paths.
HT_INLINE struct memo_path *path_set(struct memo_paths *paths, uintptr_t slot, uintptr_t caller, uintptr_t outer) {
  return &paths->table[2 * (PATH_HASH(slot << 9 ^ caller << 13 ^ outer) & (PATH_SETS - 1))];
}

HT_INLINE bool path_words_hold(const struct memo_path *path) {
  const struct memo_word *word = path->word, *end = word + path->words;
  for (; word < end; word += 2)
    if ((*(uintptr_t *)word[0].address ^ word[0].value) | (*(uintptr_t *)word[1].address ^ word[1].value)) return false;
  return true;
}

HT_INLINE bool path_joins(const struct stack_memo *memo, const struct memo_path *path) {
  const struct memo_info *info = &memo->arrays->infos[path->joint];
  return path->joint < memo->count && memo->frames[path->joint].slot == path->joint_slot &&
         info->sum == path->joint_sum && !info->odd && (!path->joint_rbp_matters || info->rbp == path->joint_rbp);
}

// All frames outside of `frame`. The first four twice rather than up to three one by one.
HT_INLINE bool record_unchanged_outside(const struct stack_memo *memo, uint32_t frame) {
  const struct memo_slot *first = memo->frames, *at = first + frame;
  for (; at - first >= 4; at -= 4)
    if (memo_slot_change(at - 1) | memo_slot_change(at - 2) | memo_slot_change(at - 3) | memo_slot_change(at - 4))
      return false;
  if (frame >= 4) at = at > first ? first + 4 : first;
  if (at - first == 4) {
    if (memo_slot_change(at - 1) | memo_slot_change(at - 2) | memo_slot_change(at - 3) | memo_slot_change(at - 4))
      return false;
    at = first;
  }
  while (at > first)
    if (memo_slot_change(--at)) return false;
  for (uint32_t check = memo->arrays->infos[frame].checks; check > 0; check--)
    if (*(uintptr_t *)memo->checks[check - 1].address != memo->checks[check - 1].value) return false;
  return true;
}

HT_INLINE bool path_is(const struct stack_memo *memo, const struct memo_path *path, struct hook_frame frame,
                       uintptr_t value) {
  return path->slot == frame.slot && path->value == value && (!path->rbp_matters || path->rbp == frame.rbp) &&
         path_joins(memo, path) && path_words_hold(path);
}

HT_INLINE struct memo_path *path_look_up(struct stack_memo *memo, struct hook_frame frame, uintptr_t value) {
  struct memo_paths *paths = memo->arrays->paths;
  const struct memo_caller *caller = path_caller(paths, frame.slot, value);
  if (!path_caller_is(caller, frame.slot, value)) return NULL;
  uintptr_t caller_slot = caller->caller_slot, caller_value = *(uintptr_t *)caller_slot;
  caller = path_caller(paths, caller_slot, caller_value);
  if (!path_caller_is(caller, caller_slot, caller_value)) return NULL;
  struct memo_path *path = path_set(paths, frame.slot, caller_value, *(uintptr_t *)caller->caller_slot);
  for (int way = 0; way < 2; way++, path++)
    if (path_is(memo, path, frame, value)) return path;
  return NULL;
}

// The path of the stack that ends in `frame`; NULL: none is known. Only words of the stack that are in use are read:
// slots further out than the hook's frame.
HT_INLINE struct memo_path *stack_path_find(struct stack_memo *memo, struct hook_frame frame) {
  struct memo_paths *paths = memo->arrays->paths;
  if (paths->pause > 0) return paths->pause--, NULL;
  if (unlikely(!memo->complete || memo->foreign || memo->version != module_version)) return NULL;
  uintptr_t value = *(uintptr_t *)frame.slot;
  struct memo_path *path = &paths->table[paths->last->next];
  if (!path_is(memo, path, frame, value)) path = path_look_up(memo, frame, value);
  if (!path || !record_unchanged_outside(memo, path->joint)) return NULL;
  paths->credit += paths->credit < PATH_CREDIT_MOST ? PATH_CREDIT_FOUND : 0;
  paths->last->next = (uint32_t)(path - paths->table);
  return paths->last = path;
}

#endif
