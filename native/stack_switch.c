#include "stack_switch.h"

__attribute__((naked)) void stack_switch_call(void (*function)(void *) __attribute__((unused)),
                                              void *argument __attribute__((unused)),
                                              void *top __attribute__((unused))) {
  __asm__("pushq %rbp\n\t"
          "movq %rsp, %rbp\n\t"
          "movq %rdx, %rsp\n\t"
          "movq %rdi, %rax\n\t"
          "movq %rsi, %rdi\n\t"
          "call *%rax\n\t"
          "movq %rbp, %rsp\n\t"
          "popq %rbp\n\t"
          "ret");
}
