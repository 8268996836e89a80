// Mojo's heap. Its runtime brings a tcmalloc that no other name leads to: compiled code jumps through two pointers to
// tc_new(alignment, bytes) and tc_delete(block) of libAsyncRTRuntimeGlobals.so, which are bound by name, so that a
// preloaded library's come first (seen on Mojo 1.2.0; C++ mangled, M::AsyncRT::TCMallocGlobals).
//
// The hooks are jumped to, not called: the return address is the Mojo program's.
#include "core.h"
#include "library_function.h"

#define LIBRARY "libAsyncRTRuntimeGlobals.so"
#define TC_NEW _ZN1M7AsyncRT15TCMallocGlobals6tc_newEmm
#define TC_NEW_HINT _ZN1M7AsyncRT15TCMallocGlobals6tc_newEmmm
#define TC_DELETE _ZN1M7AsyncRT15TCMallocGlobals9tc_deleteEPv
#define NAME(symbol) NAME_TEXT(symbol)
#define NAME_TEXT(symbol) #symbol

// tcmalloc has classes of 8, 16 and 24 bytes; the live map takes one block in each of its granules (live.h). Smaller
// blocks are asked for as these; what is recorded is what the program asked for.
#define BLOCK_BYTES_MIN 32u
#define BLOCK_ALIGN_MIN 16u

static struct {
  void *(*new)(size_t, size_t);
  void *(*new_hint)(size_t, size_t, size_t);
  void (*delete)(void *);
} real_tc;

// On first use: the library cannot be missing, since its callers are bound to it. Takes the loader's lock.
static void *found(void *slot, const char *name) { return library_function_behind(slot, LIBRARY, name); }

static size_t at_least(size_t value, size_t least) { return value < least ? least : value; }

static void *recorded(void *block, size_t size_bytes, struct hook_frame frame) {
  struct thread *thread = block ? thread_self() : NULL;
  if (thread) ht_alloc_foreign(thread, block, size_bytes, frame);
  return block;
}

HT_EXPORT void *TC_NEW(size_t alignment, size_t size_bytes);
HT_EXPORT void *TC_NEW(size_t alignment, size_t size_bytes) {
  if (!found(&real_tc.new, NAME(TC_NEW))) return NULL;
  void *block = real_tc.new(at_least(alignment, BLOCK_ALIGN_MIN), at_least(size_bytes, BLOCK_BYTES_MIN));
  return recorded(block, size_bytes, HOOK_FRAME());
}

// The third argument is a hint of tcmalloc's own.
HT_EXPORT void *TC_NEW_HINT(size_t alignment, size_t size_bytes, size_t hint);
HT_EXPORT void *TC_NEW_HINT(size_t alignment, size_t size_bytes, size_t hint) {
  if (!found(&real_tc.new_hint, NAME(TC_NEW_HINT))) return NULL;
  void *block = real_tc.new_hint(at_least(alignment, BLOCK_ALIGN_MIN), at_least(size_bytes, BLOCK_BYTES_MIN), hint);
  return recorded(block, size_bytes, HOOK_FRAME());
}

HT_EXPORT void TC_DELETE(void *block);
HT_EXPORT void TC_DELETE(void *block) {
  if (!block || !found(&real_tc.delete, NAME(TC_DELETE))) return;
  struct thread *thread = thread_self();
  if (likely(thread)) ht_free(thread, block);
  real_tc.delete(block);
}
