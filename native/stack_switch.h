// Calls a function on another stack: handlers may find themselves on an alternate stack of 2 KiB.
#ifndef HT_STACK_SWITCH_H
#define HT_STACK_SWITCH_H

// `top`: the end of the memory to be used, a multiple of 16.
void stack_switch_call(void (*function)(void *argument), void *argument, void *top);

#endif
