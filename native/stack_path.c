#include "stack_path.h"

#include <string.h>

void stack_path_forget(struct memo_paths *paths) {
  memset(paths, 0, sizeof *paths);
  paths->credit = PATH_CREDIT_MOST;
  paths->last = paths->table;
}

static bool worth_noting(struct memo_paths *paths) {
  if (paths->pause > 0) return false;
  if (paths->credit-- > 0) return true;
  paths->credit = PATH_CREDIT_TRIAL;
  paths->pause = PATH_PAUSE;
  return false;
}

static void caller_note(struct memo_paths *paths, const struct memo_slot *frame, const struct memo_slot *caller) {
  *path_caller(paths, frame->slot, frame->value) = (struct memo_caller){frame->slot, frame->value, caller->slot};
}

static struct memo_path *path_replace(const struct stack_memo *memo) {
  struct memo_paths *paths = memo->arrays->paths;
  const struct memo_slot *top = &memo->frames[memo->count - 1], *caller = top - 1, *outer = top - 2;
  caller_note(paths, top, caller);
  caller_note(paths, caller, outer);
  struct memo_path *set = path_set(paths, top->slot, caller->value, outer->value);
  uint32_t way = paths->replaced[(set - paths->table) / 2] ^= 1;
  paths->last->next = (uint32_t)(&set[way] - paths->table);
  return paths->last = &set[way];
}

static void words_copy(struct memo_path *path, const struct stack_memo *memo, uint32_t joint) {
  const struct memo_info *infos = memo->arrays->infos;
  uint32_t top = memo->count - 1, used = 0;
  for (uint32_t i = top; i-- > joint;)
    path->word[used++] = (struct memo_word){memo->frames[i].slot, memo->frames[i].value};
  path->frames = (uint8_t)used;
  for (uint32_t check = infos[top].checks; check-- > infos[joint].checks;)
    path->word[used++] = (struct memo_word){memo->checks[check].address, memo->checks[check].value};
  if (used % 2) path->word[used] = path->word[used - 1], used++;
  path->words = (uint8_t)used;
}

void stack_path_note(struct stack_memo *memo, uint32_t joint) {
  const struct memo_info *infos = memo->arrays->infos;
  uint32_t top = memo->count - 1, words = top - joint + infos[top].checks - infos[joint].checks;
  if (joint == top || top < 2 || words > PATH_WORDS || memo->window_start > 0 || !worth_noting(memo->arrays->paths))
    return;
  struct memo_path *path = path_replace(memo);
  path->slot = memo->top_slot, path->value = memo->top_value, path->rbp = memo->top_rbp;
  path->rbp_matters = memo->top_rbp_matters;
  path->hash = memo->top_hash;
  path->joint = joint;
  path->joint_slot = memo->frames[joint].slot;
  path->joint_sum = infos[joint].sum;
  path->joint_rbp = infos[joint].rbp;
  path->joint_rbp_matters = infos[joint].rbp_matters;
  path->site_key = 0;
  words_copy(path, memo, joint);
}
