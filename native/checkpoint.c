#include "checkpoint.h"

#include <fcntl.h>

#include "report.h"
#include "site.h"
#include "sys.h"
#include "writer.h"

#define PERIOD_NS 100000000ull // the default sampling period; a finer one has no finer checkpoints
#define TIME_SHARE 200         // writing them may take half a percent of the time
#define FIRST_SHARE 20         // but the first one a twentieth: a program may be killed early
#define SITE_GUESS_NS 400      // what a site costs, before the first was written (`import numpy`: 15,000 sites, 6 ms)

// Under the sampler's lock, but for `off`, which is set without it, and once that is set.
static struct {
  const struct session *session;
  bool off;
  bool registered;
  int slot, slots_used;
  uint64_t due_ns;
  char path[WRITER_PATH_BYTES]; // not on a stack: hooks run on small ones
} checkpoint;

void checkpoint_init(const struct session *session) { checkpoint.session = session; }

static bool slot_path(int slot) {
  int pid = sys_pid();
  return writer_path(checkpoint.path, checkpoint.session->out, true, pid, session_image(checkpoint.session, pid),
                     checkpoint_suffixes[slot]);
}

// Empty: what an earlier process of the same number left is not this one's.
static void slot_register(void) {
  if (!slot_path(0)) return;
  int fd = sys_open(checkpoint.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  if (fd >= 0) sys_close(fd);
}

static void slot_write(uint64_t now_ns) {
  uint64_t begin_ns = sys_now_ns();
  report_checkpoint(checkpoint.slot);
  uint64_t rest_ns = (sys_now_ns() - begin_ns) * TIME_SHARE;
  checkpoint.due_ns = now_ns + (rest_ns > PERIOD_NS ? rest_ns : PERIOD_NS);
  checkpoint.slot = !checkpoint.slot;
  checkpoint.slots_used += checkpoint.slots_used < 2;
}

// A short program that has many sites from its start (Python's imports) would mostly write its checkpoint.
static bool first_is_worth(uint64_t now_ns) {
  return checkpoint.slots_used > 0 || now_ns >= (uint64_t)site_count * SITE_GUESS_NS * FIRST_SHARE;
}

void checkpoint_watch(uint64_t now_ns) {
  if (__atomic_load_n(&checkpoint.off, __ATOMIC_RELAXED)) return;
  if (!checkpoint.registered) {
    checkpoint.registered = true;
    checkpoint.due_ns = now_ns + PERIOD_NS;
    slot_register();
  } else if (now_ns >= checkpoint.due_ns && first_is_worth(now_ns)) {
    slot_write(now_ns);
  }
}

void checkpoint_write_now(uint64_t now_ns) {
  if (__atomic_load_n(&checkpoint.off, __ATOMIC_RELAXED)) return;
  if (!checkpoint.registered) slot_register();
  checkpoint.registered = true;
  slot_write(now_ns);
}

void checkpoint_set(bool on) { __atomic_store_n(&checkpoint.off, !on, __ATOMIC_RELAXED); }

void checkpoint_drop(void) {
  if (!checkpoint.registered) return;
  for (int slot = 0; slot < 2; slot++)
    if (slot <= checkpoint.slots_used && slot_path(slot)) sys_call3(SYS_unlinkat, AT_FDCWD, (long)checkpoint.path, 0);
  checkpoint_fork_child();
}

void checkpoint_fork_child(void) {
  checkpoint.registered = false;
  checkpoint.slot = checkpoint.slots_used = 0;
}
