// The malloc family. Each hook calls the real function first and records what came back; frees the other way round.
// errno is the real function's: nothing here sets it.
#include <errno.h>

#include "core.h"
#include "live.h"
#include "real.h"

static void *allocated(void *block, size_t size_bytes, struct hook_frame frame) {
  if (unlikely(!block)) return NULL;
  struct thread *thread = thread_self();
  if (likely(thread)) ht_alloc(thread, block, size_bytes, frame);
  return block;
}

HT_EXPORT void *malloc(size_t size_bytes) {
  real_ready();
  return allocated(real.malloc(size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *calloc(size_t count, size_t item_bytes) {
  real_ready();
  return allocated(real.calloc(count, item_bytes), count * item_bytes, HOOK_FRAME());
}

HT_EXPORT void free(void *block) {
  if (!block) return;
  real_ready();
  struct thread *thread = thread_self();
  if (likely(thread)) ht_free(thread, block);
  real.free(block);
}

// The old record is taken out before the real call, since the address may be another thread's right after it.
static void *moved(struct thread *thread, void *old, size_t size_bytes, struct hook_frame frame) {
  struct block taken;
  if (!ht_move_begin(thread, old, &taken)) // from before, or a signal handler's inside a hook
    return allocated(real.realloc(old, size_bytes), size_bytes, frame);
  void *block = real.realloc(old, size_bytes);
  if (likely(block || size_bytes == 0)) { // glibc: size 0 frees and returns NULL
    ht_move_end(thread, &taken, block, size_bytes, frame);
  } else {
    ht_move_failed(thread, &taken);
  }
  return block;
}

static void *reallocated(void *old, size_t size_bytes, struct hook_frame frame) {
  real_ready();
  struct thread *thread = thread_self();
  if (!old || !thread || thread_busy(thread)) return allocated(real.realloc(old, size_bytes), size_bytes, frame);
  return moved(thread, old, size_bytes, frame);
}

HT_EXPORT void *realloc(void *old, size_t size_bytes) { return reallocated(old, size_bytes, HOOK_FRAME()); }

HT_EXPORT void *reallocarray(void *old, size_t count, size_t item_bytes) {
  size_t size_bytes;
  if (__builtin_mul_overflow(count, item_bytes, &size_bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return reallocated(old, size_bytes, HOOK_FRAME());
}

HT_EXPORT int posix_memalign(void **block, size_t alignment, size_t size_bytes) {
  real_ready();
  int error = real.posix_memalign(block, alignment, size_bytes);
  if (error == 0) allocated(*block, size_bytes, HOOK_FRAME());
  return error;
}

HT_EXPORT void *aligned_alloc(size_t alignment, size_t size_bytes) {
  real_ready();
  return allocated(real.aligned_alloc(alignment, size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *memalign(size_t alignment, size_t size_bytes) {
  real_ready();
  return allocated(real.memalign(alignment, size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *valloc(size_t size_bytes) {
  real_ready();
  return allocated(real.valloc(size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *pvalloc(size_t size_bytes) { // counts what it is defined to allocate: whole pages
  real_ready();
  return allocated(real.pvalloc(size_bytes), (size_bytes + 4095) & ~4095ul, HOOK_FRAME());
}

// ---- glibc's own names, for programs that stand in front of malloc themselves. Where another allocator lies
// underneath, its blocks are not those of malloc (or malloc counts them already) and pass by.

static void *libc_allocated(void *block, size_t size_bytes, struct hook_frame frame) {
  return real_malloc_is_libc() ? allocated(block, size_bytes, frame) : block;
}

HT_EXPORT void *__libc_malloc(size_t size_bytes) {
  real_ready();
  return libc_allocated(real.__libc_malloc(size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *__libc_calloc(size_t count, size_t item_bytes) {
  real_ready();
  return libc_allocated(real.__libc_calloc(count, item_bytes), count * item_bytes, HOOK_FRAME());
}

HT_EXPORT void __libc_free(void *block) {
  real_ready();
  if (real_malloc_is_libc())
    free(block);
  else
    real.__libc_free(block);
}

HT_EXPORT void *__libc_realloc(void *old, size_t size_bytes) {
  real_ready();
  return real_malloc_is_libc() ? reallocated(old, size_bytes, HOOK_FRAME()) : real.__libc_realloc(old, size_bytes);
}

HT_EXPORT void *__libc_memalign(size_t alignment, size_t size_bytes) {
  real_ready();
  return libc_allocated(real.__libc_memalign(alignment, size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *__libc_valloc(size_t size_bytes) {
  real_ready();
  return libc_allocated(real.__libc_valloc(size_bytes), size_bytes, HOOK_FRAME());
}

HT_EXPORT void *__libc_pvalloc(size_t size_bytes) {
  real_ready();
  return libc_allocated(real.__libc_pvalloc(size_bytes), (size_bytes + 4095) & ~4095ul, HOOK_FRAME());
}

HT_EXPORT size_t malloc_usable_size(void *block) {
  real_ready();
  return real.malloc_usable_size(block);
}

// C23. Where the C library lacks them they are free(), which the standard allows.
HT_EXPORT void free_sized(void *block, size_t size_bytes) {
  (void)size_bytes;
  free(block);
}

HT_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size_bytes) {
  (void)alignment;
  (void)size_bytes;
  free(block);
}

// Gone from glibc 2.26 on for new programs; old ones still bind to it.
HT_EXPORT void cfree(void *block) { free(block); }
