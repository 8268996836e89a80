#include "alt_stack.h"

#include "sys.h"

static long kernel_change(const stack_t *wanted, stack_t *old) {
  return sys_call3(SYS_sigaltstack, (long)wanted, (long)old, 0);
}

void alt_stack_set(void *memory) {
  stack_t now, own = {.ss_sp = memory, .ss_size = ALT_STACK_BYTES};
  if (kernel_change(NULL, &now) == 0 && now.ss_flags & SS_DISABLE) kernel_change(&own, NULL);
}

long alt_stack_change(void *memory, const stack_t *wanted, stack_t *old) {
  stack_t copy, before;
  if (wanted) copy = *wanted; // `old` may be the same memory
  long error = kernel_change(wanted ? &copy : NULL, &before);
  if (error) return error;
  bool was_own = memory && before.ss_sp == memory;
  if (old) *old = was_own ? (stack_t){.ss_flags = SS_DISABLE} : before;
  if (wanted && copy.ss_flags & SS_DISABLE && memory) alt_stack_set(memory);
  return 0;
}
