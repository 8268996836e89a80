#include "stack_check.h"

#include <dlfcn.h>
#include <string.h>

#include "lock.h"
#include "real.h"
#include "sys.h"

bool stack_check_on;
struct stack_check_counts stack_check_counts;

// libunwind.so exports _Unwind_* and would take C++ exceptions over if it were linked: loaded privately instead.
static int (*unw_backtrace_real)(void **, int);

#define CHECKED_FRAMES 256

bool stack_check_init(const char *library_path) {
  char beside[4096];
  const char *slash = strrchr(library_path, '/');
  size_t folder = slash ? (size_t)(slash - library_path) + 1 : 0;
  void *library = NULL;
  if (folder + sizeof "libunwind.so.8" <= sizeof beside) {
    memcpy(beside, library_path, folder);
    memcpy(beside + folder, "libunwind.so.8", sizeof "libunwind.so.8");
    library = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (library) unw_backtrace_real = (int (*)(void **, int))real_dlsym(library, "unw_backtrace");
  void *warm[4]; // its first call sets up tables
  return stack_check_on = unw_backtrace_real && unw_backtrace_real(warm, 4) >= 0;
}

static void count(uint64_t *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

// libunwind starts inside heaptide: its frames are skipped up to the hook's return address.
HT_NOINLINE void stack_check(const struct stack_memo *memo, struct hook_frame frame) {
  static struct lock check_lock = LOCK_INIT(LOCK_RANK_REPORT); // the buffers would be too large for small stacks
  static uintptr_t mine[CHECKED_FRAMES];
  static void *theirs[CHECKED_FRAMES + 16];
  lock_take(&check_lock);
  uintptr_t entry = *(uintptr_t *)frame.slot;
  int their_count = unw_backtrace_real(theirs, CHECKED_FRAMES + 16), skip = 0;
  while (skip < their_count && (uintptr_t)theirs[skip] != entry) skip++;
  uint32_t my_count = stack_memo_frames(memo, mine, CHECKED_FRAMES), at = 0;
  uint32_t their_rest = (uint32_t)(their_count - skip);
  if (their_rest > stack_depth && my_count == stack_depth) their_rest = stack_depth;
  while (at < my_count && at < their_rest && mine[at] == (uintptr_t)theirs[skip + (int)at]) at++;
  count(&stack_check_counts.stacks);
  if (memo->path) count(&stack_check_counts.by_path);
  if (at == my_count && at == their_rest)
    count(&stack_check_counts.equal);
  else if (at == their_rest)
    count(&stack_check_counts.longer);
  else if (at == my_count)
    count(&stack_check_counts.shorter);
  else
    count(&stack_check_counts.different);
  lock_drop(&check_lock);
}
