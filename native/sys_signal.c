#include "sys_signal.h"

__asm__(".text\n"
        ".globl sys_restorer\n"
        ".hidden sys_restorer\n"
        ".type sys_restorer, @function\n"
        "sys_restorer:\n"
        "  movq $15, %rax\n" // SYS_rt_sigreturn
        "  syscall\n"
        ".size sys_restorer, . - sys_restorer\n");

long sys_action_set(int signal, const struct sys_action *new_action, struct sys_action *old) {
  struct sys_action action;
  if (new_action) {
    action = *new_action;
    action.flags |= SYS_SA_RESTORER;
    action.restorer = sys_restorer;
  }
  return sys_call4(SYS_rt_sigaction, signal, (long)(new_action ? &action : NULL), (long)old, sizeof action.mask);
}

long sys_action_put_back(int signal, const struct sys_action *kept) {
  return sys_call4(SYS_rt_sigaction, signal, (long)kept, 0, sizeof kept->mask);
}
