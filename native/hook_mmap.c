// The mmap family. Only anonymous private mappings are blocks; every other mapping matters for what it replaces.
#include <stdarg.h>
#include <sys/mman.h>

#include "core.h"
#include "modules.h"
#include "ranges.h"
#include "real.h"

// A module is noted under a lock, which a signal handler's call must not ask for.
static bool from_second_allocator(struct thread *thread, uintptr_t caller) {
  if (thread_busy(thread)) return false;
  ht_hook_begin(thread);
  uint32_t module = module_of(caller);
  ht_hook_end(thread);
  return module != UINT32_MAX && module_table[module].flags & HT_MODULE_ALLOCATOR;
}

// The allocators' own mappings hold blocks that are counted one by one.
static bool from_allocator(struct thread *thread, struct hook_frame frame) {
  uintptr_t caller = *(uintptr_t *)frame.slot;
  if (from_second_allocator(thread, caller)) return true;
  return caller >= real_allocator_start && caller < real_allocator_end && !real_malloc_is_libc();
}

static void mapped(void *start, size_t size_bytes, int protection, int flags, struct hook_frame frame) {
  struct thread *thread = thread_self();
  if (!thread) return;
  bool anonymous = (flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE;
  if (!anonymous)
    ht_unmap(thread, (uintptr_t)start, size_bytes);
  else if (from_allocator(thread, frame) || thread->in_driver)
    ht_map(thread, (uintptr_t)start, size_bytes, protection, RANGE_ALLOCATOR, frame);
  else if (thread->suspended)
    ht_map(thread, (uintptr_t)start, size_bytes, protection, RANGE_ARENA, frame);
  else
    ht_map(thread, (uintptr_t)start, size_bytes, protection, 0, frame);
}

HT_EXPORT void *mmap(void *hint, size_t size_bytes, int protection, int flags, int fd, off_t offset) {
  real_ready();
  void *start = real.mmap(hint, size_bytes, protection, flags, fd, offset);
  if (start != MAP_FAILED) mapped(start, size_bytes, protection, flags, HOOK_FRAME());
  return start;
}

HT_EXPORT void *mmap64(void *hint, size_t size_bytes, int protection, int flags, int fd, off64_t offset) {
  real_ready();
  void *start = real.mmap(hint, size_bytes, protection, flags, fd, offset);
  if (start != MAP_FAILED) mapped(start, size_bytes, protection, flags, HOOK_FRAME());
  return start;
}

// linux/mm/mmap.c, do_vmi_munmap: what it refuses before it looks at any mapping. The end of the address space is that
// of four page tables' levels; beyond it only the kernel knows.
#define SPACE_END ((1ul << 47) - 4096)
static bool munmap_is_sound(uintptr_t start, size_t size_bytes) {
  return (start & 4095) == 0 && size_bytes != 0 && start <= SPACE_END && size_bytes <= SPACE_END - start;
}

// Recorded before the real call, as free is: other threads may be given the addresses right after it.
HT_EXPORT int munmap(void *start, size_t size_bytes) {
  real_ready();
  struct thread *thread = thread_self();
  bool sound = munmap_is_sound((uintptr_t)start, size_bytes);
  if (thread && sound) ht_unmap(thread, (uintptr_t)start, size_bytes);
  int result = real.munmap(start, size_bytes);
  if (thread && !sound && result == 0) ht_unmap(thread, (uintptr_t)start, size_bytes);
  return result;
}

HT_EXPORT void *mremap(void *old, size_t old_bytes, size_t size_bytes, int flags, ...) {
  real_ready();
  void *fixed = NULL;
  if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) { // the fifth argument is there only then
    va_list arguments;
    va_start(arguments, flags);
    fixed = va_arg(arguments, void *);
    va_end(arguments);
  }
  void *start = real.mremap(old, old_bytes, size_bytes, flags, fixed);
  struct thread *thread = start == MAP_FAILED ? NULL : thread_self();
  if (!thread) return start;
  if (flags & MREMAP_DONTUNMAP)
    ht_map(thread, (uintptr_t)start, size_bytes, PROT_READ, 0, HOOK_FRAME());
  else
    ht_remap(thread, (uintptr_t)old, old_bytes, (uintptr_t)start, size_bytes, HOOK_FRAME());
  return start;
}

HT_EXPORT int mprotect(void *start, size_t size_bytes, int protection) {
  real_ready();
  int result = real.mprotect(start, size_bytes, protection);
  struct thread *thread = result == 0 && size_bytes ? thread_self() : NULL;
  if (thread && !thread->suspended) ht_protect(thread, (uintptr_t)start, size_bytes, protection, HOOK_FRAME());
  return result;
}

HT_EXPORT int madvise(void *start, size_t size_bytes, int advice) {
  real_ready();
  int result = real.madvise(start, size_bytes, advice);
  bool gives_back = advice == MADV_DONTNEED || advice == MADV_FREE;
  struct thread *thread = result == 0 && size_bytes && gives_back ? thread_self() : NULL;
  if (thread) ht_discard(thread, (uintptr_t)start, size_bytes);
  return result;
}
