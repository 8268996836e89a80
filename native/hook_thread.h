// Thread births and deaths.
#ifndef HT_HOOK_THREAD_H
#define HT_HOOK_THREAD_H

#include "words.h"

void hook_thread_init(void);
void hook_thread_stop(void); // detach: threads end without telling
// Own memory that holds what threads which are being born were given: roots. The world is parked.
void hook_thread_starts_each(void (*visit)(uintptr_t start, uintptr_t end, void *context), void *context);

#endif
