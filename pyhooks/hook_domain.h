// What the hooks of Python's allocators share: the domain they stand in, and the long way of each.
#ifndef HT_HOOK_DOMAIN_H
#define HT_HOOK_DOMAIN_H

#include "../native/core.h"
#include "python_api.h"

// The context of a hook.
struct domain {
  struct python_allocator below;
  bool is_raw;
};

// The hooks as they are whatever the interpreter is about (hook_python.c).
void *hook_malloc(void *context, size_t bytes);
void *hook_calloc(void *context, size_t count, size_t bytes);
void *hook_realloc(void *context, void *old, size_t bytes);
void hook_free(void *context, void *block);
// The second half of hook_malloc for a domain that is not RAW: the block is there, NULL: the call failed.
void hook_note(struct thread *thread, void *block, size_t bytes);

// The hooks of small objects, in `mine`: they take a short way while nothing is out of the ordinary (hook_object.c).
// Called when the layout of frames is known.
struct python_allocator hook_object_hooks(struct domain *mine);

#endif
