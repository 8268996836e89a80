// Limits that the program sets on its own memory. The kernel counts heaptide's reservations towards them: they shrink
// first, to what they would be had the limit been there from the start.
#include <sys/resource.h>

#include "core.h"
#include "lock.h"
#include "real.h"
#include "site.h"
#include "stack_table.h"
#include "sys.h"

static void reservations_shrink(size_t limit_bytes) {
  struct thread *thread = thread_self();
  if (!thread || thread_busy(thread)) return; // in a signal handler: the tables may be in use
  size_t share_bytes = sys_share_of(limit_bytes);
  ht_hook_begin(thread);
  lock_take(site_lock());
  site_shrink_locked(share_bytes);
  stack_table_shrink_locked(share_bytes);
  lock_drop(site_lock());
  ht_hook_end(thread);
}

static void limit_coming(int resource, const struct rlimit *limit) {
  if ((resource != RLIMIT_AS && resource != RLIMIT_DATA) || !limit || !sys_readable((uintptr_t)limit)) return;
  if (limit->rlim_cur != RLIM_INFINITY) reservations_shrink(limit->rlim_cur);
}

HT_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  real_ready();
  limit_coming((int)resource, limit);
  return real.setrlimit(resource, limit);
}

HT_EXPORT int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *limit, struct rlimit *old) {
  real_ready();
  if (pid == 0 || pid == sys_pid()) limit_coming((int)resource, limit);
  return real.prlimit(pid, resource, limit, old);
}

// On x86-64 the 64-bit calls are the same.
HT_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  return setrlimit(resource, (const struct rlimit *)limit);
}

HT_EXPORT int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *limit, struct rlimit64 *old) {
  return prlimit(pid, resource, (const struct rlimit *)limit, (struct rlimit *)old);
}
