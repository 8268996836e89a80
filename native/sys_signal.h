// Signal actions by raw system calls: the program's wrappers, and what it sees when it asks, stay untouched.
#ifndef HT_SYS_SIGNAL_H
#define HT_SYS_SIGNAL_H

#include <signal.h>

#include "sys.h"

// The kernel's struct sigaction (include/linux/signal_types.h), which is not the C library's.
struct sys_action {
  void (*handler)(int signal, siginfo_t *info, void *context);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};
#define SYS_SA_RESTORER 0x04000000ul // arch/x86/include/uapi/asm/signal.h

// What a handler returns to: rt_sigreturn. Debuggers know the two instructions by sight and step through them.
void sys_restorer(void);

// 0 or a negative errno. `new` and `old` may be NULL. In `new`, SYS_SA_RESTORER and the restorer are filled in.
long sys_action_set(int signal, const struct sys_action *new_action, struct sys_action *old);

// Puts back what sys_action_set gave as `old`, to the bit: whoever set it has a restorer of his own, or none.
long sys_action_put_back(int signal, const struct sys_action *kept);

HT_INLINE uint64_t sys_signal_bit(int signal) { return 1ull << (signal - 1); }

#endif
