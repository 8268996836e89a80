// Thread births and deaths.
#ifndef HT_HOOK_THREAD_H
#define HT_HOOK_THREAD_H

#include "words.h"

void hook_thread_init(void);
void hook_thread_stop(void); // detach: threads end without telling
// Own memory that holds what threads which are being born were given: roots. The world is parked.
void hook_thread_starts_each(void (*visit)(uintptr_t start, uintptr_t end, void *context), void *context);

// Detach, and attach once more: of that memory only what threads wait for that are being born now is kept, and nothing
// in it that belongs to the recording. Nobody records.
void hook_thread_keep_births(void);
// Whether own memory that begins at `start` is such; each piece of it.
bool hook_thread_is_kept(uintptr_t start);
void hook_thread_kept_each(void (*visit)(uintptr_t start, uintptr_t end));

#endif
