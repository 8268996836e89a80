#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "copy.h"
#include "report.h"
#include "sampler.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#define LABELLED_NS 10000000000ull // the program's end waits so long for a copy that writes into a folder of its own
#define CALL_NS 60000000000ull     // and so long does ht_snapshot

static const struct session *session;
static bool ended; // no more copies; with the turn to write a report (report_order.before)
static bool busy;  // atomic: somebody is at what follows
static struct {
  int copy; // 0: none
  bool asked, labelled;
  uint64_t due_ns; // of the next without a request; UINT64_MAX: never
  char label[REQUEST_LABEL_BYTES];
  char ask[WRITER_PATH_BYTES];
} state;

static bool claim(void) { return !__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE); }
static void release(void) { __atomic_store_n(&busy, false, __ATOMIC_RELEASE); }

static uint64_t due_after(uint64_t now_ns) {
  uint64_t period_ns = session->snapshot_s * 1000000000ull;
  return period_ns ? (now_ns / period_ns + 1) * period_ns : UINT64_MAX;
}

void snapshot_init(const struct session *of) {
  session = of;
  ended = false;
  state.due_ns = due_after(0);
}

// ---- requests

static bool ask_path(void) {
  int pid = sys_pid();
  return writer_path(state.ask, session->out, true, pid, session_image(session, pid), REQUEST_SUFFIX);
}

static bool is_asked(void) { return ask_path() && sys_call3(SYS_faccessat, AT_FDCWD, (long)state.ask, F_OK) == 0; }

// A folder's name, and none that leads elsewhere.
static bool label_is_good(const char *label) {
  return label[0] != '.' && !strchr(label, '/') && strlen(label) < REQUEST_LABEL_BYTES;
}

static void label_set(const char *label) {
  state.labelled = label && label[0];
  memcpy(state.label, state.labelled ? label : "", state.labelled ? strlen(label) + 1 : 1);
}

static bool ask_read(void) {
  char label[REQUEST_LABEL_BYTES];
  size_t bytes;
  if (!ask_path() || !sys_read_all(state.ask, label, sizeof label, &bytes)) return false;
  label_set(label_is_good(label) ? label : NULL);
  return true;
}

// ---- copies; all with the claim

static bool copy_is_running(void) {
  if (state.copy && copy_look(state.copy) != COPY_RUNS) state.copy = 0;
  return state.copy != 0;
}

// In the copy.
static void ask_answer(bool written) {
  (void)written; // where not, a file says why (writer.h)
  if (state.asked) sys_call3(SYS_unlinkat, AT_FDCWD, (long)state.ask, 0);
}

static bool may_begin(void) { return !ended; }

// Who wants a snapshot: `heaptide snapshot`, by a file; the program, by a call; --snapshot-every.
enum cause { ASKED, CALLED, DUE };

// Where no copy can be forked, the report is written at once and without the scan, which would take too long.
// 0: begun or done; -EBUSY: another report is in the way; -EIO.
static int begin(enum cause cause, const struct scan_origin *origin) {
  struct report_order order = {.reason = HT_REASON_SNAPSHOT,
                               .label = state.labelled ? state.label : NULL,
                               .scan = true,
                               .periodic = cause == DUE,
                               .origin = *origin,
                               .before = may_begin,
                               .copy = &state.copy,
                               .after = ask_answer};
  state.asked = cause == ASKED;
  int copy = report_copy(&order, sys_now_ns());
  if (copy > 0 || copy == -EBUSY) return copy > 0 ? 0 : copy;
  order.scan = false;
  bool written = report_write(&order);
  ask_answer(written);
  return written ? 0 : -EIO;
}

bool snapshot_watch(uint64_t now_ns) {
  if (!claim()) return false;
  bool wanted = !copy_is_running() && (now_ns >= state.due_ns || is_asked());
  release();
  return wanted;
}

static bool begin_wanted(const struct scan_origin *origin, uint64_t now_ns) {
  bool asked = ask_read(), wanted = asked || now_ns >= state.due_ns;
  if (!asked) label_set(NULL);
  if (wanted) begin(asked ? ASKED : DUE, origin);
  return wanted;
}

bool snapshot_serve(const struct scan_origin *origin) {
  if (!claim()) return true;
  uint64_t now_ns = sampler_elapsed_ns();
  bool begun = copy_is_running() || begin_wanted(origin, now_ns);
  if (now_ns >= state.due_ns) state.due_ns = due_after(now_ns);
  release();
  return begun;
}

// The claim is not waited for: whoever has it is about to be parked, or is this thread, interrupted.
bool snapshot_end(void) {
  ended = true;
  if (!state.copy) return true;
  if (state.labelled)
    copy_wait(state.copy, sys_now_ns() + LABELLED_NS);
  else
    copy_kill(state.copy);
  state.copy = 0;
  return true;
}

void snapshot_go_on(void) { ended = false; }

void snapshot_fork_child(void) {
  busy = ended = false;
  state.copy = 0;
  state.due_ns = due_after(0);
}

// ---- by call

static int call_now(const char *label, const struct scan_origin *origin) {
  uint64_t until_ns = sys_now_ns() + CALL_NS;
  if (!claim()) return EAGAIN;
  if (state.copy) copy_wait(state.copy, until_ns);
  state.copy = 0;
  label_set(label);
  int error = -begin(CALLED, origin);
  if (!error && state.copy && copy_wait(state.copy, until_ns) != COPY_WRITTEN) error = EIO;
  state.copy = 0;
  release();
  return error == EBUSY ? EAGAIN : error;
}

HT_EXPORT int ht_snapshot(const char *label) {
  struct scan_origin here;
  scan_origin_fill(&here, (uintptr_t)__builtin_frame_address(0));
  struct thread *thread = thread_self();
  if (!thread || !thread_recording() || thread->in_hook) return ENOSYS;
  if (label && !label_is_good(label)) return EINVAL;
  return call_now(label, &here);
}
