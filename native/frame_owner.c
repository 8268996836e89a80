#include "frame_owner.h"

#include "rules.h"
#include "sys.h"

#define FRAMES_MAX 4096u // a deeper stack has no name for its outer part

static bool word_read(uintptr_t at, uintptr_t *value) {
  if (at & 7 || !sys_readable(at)) return false;
  *value = *(const uintptr_t *)at;
  return true;
}

static uintptr_t base_of(uint8_t base, const struct frame_start *frame, uintptr_t cfa) {
  return base == CFI_AT_CFA ? cfa : base == CFI_AT_RSP ? frame->stack_pointer : frame->frame_pointer;
}

static bool cfa_of(const struct frame_start *frame, const struct cfi_rule *rule, uintptr_t *cfa) {
  if (rule->kind != CFI_PLAIN && rule->kind != CFI_GENERAL) return false;
  *cfa = (rule->cfa_from_rbp ? frame->frame_pointer : frame->stack_pointer) + (uintptr_t)(intptr_t)rule->cfa_offset;
  if (rule->cfa_indirect && !word_read(*cfa, cfa)) return false;
  return *cfa > frame->stack_pointer;
}

// To the next frame out.
static bool step_out(struct frame_start *frame, const struct cfi_rule *rule, uintptr_t cfa) {
  struct frame_start out = {.stack_pointer = cfa, .frame_pointer = frame->frame_pointer, .exact = rule->signal_frame};
  uintptr_t return_slot = base_of(rule->return_base, frame, cfa) + (uintptr_t)(intptr_t)rule->return_offset;
  if (rule->kind == CFI_PLAIN) return_slot = cfa - 8;
  uintptr_t saved_slot = base_of(rule->rbp_base, frame, cfa) + (uintptr_t)(intptr_t)rule->rbp_offset;
  if (rule->rbp_base != CFI_SAME && !word_read(saved_slot, &out.frame_pointer)) return false;
  if (!word_read(return_slot, &out.pc) || out.pc == 0) return false;
  *frame = out;
  return true;
}

uintptr_t frame_owner(const struct frame_start *start, uintptr_t word, bool *exact) {
  struct frame_start frame = *start;
  for (uint32_t i = 0; i < FRAMES_MAX; i++) {
    struct cfi_rule rule = rule_expand(rule_lookup(frame.exact ? frame.pc : frame.pc - 1));
    uintptr_t cfa;
    if (!cfa_of(&frame, &rule, &cfa)) return 0;
    *exact = frame.exact;
    if (word < cfa) return frame.pc;
    if (!step_out(&frame, &rule, cfa)) return 0;
  }
  return 0;
}
