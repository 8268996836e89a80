#include "hook_life.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "call_resume.h"
#include "checkpoint.h"
#include "copy.h"
#include "core.h"
#include "hook_exec.h"
#include "hook_signal.h"
#include "loaded_objects.h"
#include "lock.h"
#include "mark.h"
#include "ranges.h"
#include "real.h"
#include "report.h"
#include "report_shared.h"
#include "sampler.h"
#include "snapshot.h"
#include "stack_check.h"
#include "stack_switch.h"
#include "sys.h"
#include "sys_signal.h"

// A forked child that execs before it has allocated this much was only on its way there: no report of its own.
#define FORK_EXEC_BYTES (1u << 20)

static const struct session *session;
static int life_pid; // the process that this memory belongs to: a vfork child has another pid
static bool forked, reported;
static struct scan_origin exit_origin; // where the exiting thread entered exit, or where main returned
static int exit_tid;

bool life_is_ending(void) { return exit_tid != 0; }

// ---- reports

static void report_final(enum ht_reason reason, int signal, const struct scan_origin *origin) {
  if (sys_pid() != life_pid || !thread_recording()) return; // a vfork child, or not traced
  // A signal that ends the process finds the report written, or else it would come between its beginning and its end.
  uint64_t saved_signals = report_signals_block();
  bool first = !__atomic_exchange_n(&reported, true, __ATOMIC_ACQ_REL);
  if (first) {
    struct report_order order = {
        .reason = reason, .signal = signal, .scan = true, .origin = *origin, .before = snapshot_end};
    checkpoint_set(false);
    report_write(&order);
    checkpoint_drop();
  }
  report_signals_restore(saved_signals);
  if (!first) report_wait();
}

static void at_exit(void *unused) {
  (void)unused;
  struct scan_origin here;
  scan_origin_fill(&here, (uintptr_t)__builtin_frame_address(0));
  report_final(HT_REASON_EXIT, 0, exit_tid == sys_tid() ? &exit_origin : &here);
}

static void at_quick_exit_(void *unused) {
  (void)unused;
  struct scan_origin here;
  scan_origin_fill(&here, (uintptr_t)__builtin_frame_address(0));
  report_final(HT_REASON__EXIT, 0, &here);
}

// Of sanitizers (sanitizer/common_interface_defs.h): what they call before they end a process that leaks or errs, by a
// bare system call.
extern void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static void at_sanitizer_death(void) { at_exit(NULL); }

HT_EXPORT void exit(int status) {
  real_ready();
  scan_origin_fill(&exit_origin, (uintptr_t)__builtin_frame_address(0));
  exit_tid = sys_tid();
  real.exit(status);
  __builtin_unreachable();
}

static void exit_now(int status, uintptr_t stack_pointer) {
  real_ready();
  struct scan_origin here;
  scan_origin_fill(&here, stack_pointer);
  report_final(HT_REASON__EXIT, 0, &here);
  real._exit(status);
  __builtin_unreachable();
}

HT_EXPORT void _exit(int status) {
  exit_now(status, (uintptr_t)__builtin_frame_address(0));
  __builtin_unreachable();
}
HT_EXPORT void _Exit(int status) {
  exit_now(status, (uintptr_t)__builtin_frame_address(0));
  __builtin_unreachable();
}

// Not from the constructor: dlopen there would have the C library initialized before its environment is known.
static void stack_check_load(void) {
  struct thread *thread = thread_self();
  if (!thread) return;
  thread->suspended = 1;
  stack_check_init(session->library);
  ht_detours_look();
  thread->suspended = 0;
}

// ---- main: what its frame left on the stack is dead once it returned

typedef int (*main_function)(int, char **, char **);
static main_function program_main;

static int main_and_note(int argc, char **argv, char **environment) {
  int status = program_main(argc, argv, environment);
  scan_origin_fill(&exit_origin, (uintptr_t)__builtin_frame_address(0));
  exit_tid = sys_tid();
  return status;
}

HT_EXPORT int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                                void (*rtld_fini)(void), void *stack_end) {
  real_ready();
  program_main = main;
  if (thread_recording()) {
    main = main_and_note;
    if (session->check_stacks) stack_check_load();
  }
  return real.__libc_start_main(main, argc, argv, init, fini, rtld_fini, stack_end);
}

// ---- fork

// From prepare to parent and child the forking thread holds all locks: its signal handlers must defer. A fork in a
// signal handler inside a hook takes none, since this thread may hold some.
static bool fork_in_hook;

static void fork_prepare(void) {
  struct thread *thread = thread_self();
  fork_in_hook = thread && thread->in_hook;
  if (fork_in_hook) return;
  if (thread) ht_hook_begin(thread);
  thread_locks_take();
}

static void fork_locks_drop(void) {
  if (!fork_in_hook) thread_locks_drop();
}

static void fork_hook_end(void) {
  if (!fork_in_hook && thread_tls) ht_hook_end(thread_tls);
}

static void fork_parent(void) {
  if (thread_recording()) shared_pages_fork_parent();
  fork_locks_drop();
  fork_hook_end();
}

static void fork_child(void) {
  fork_locks_drop();
  loaded_objects_fork_child();
  if (!thread_recording()) return fork_hook_end();
  shared_pages_fork_child(life_pid);
  life_pid = sys_pid();
  forked = true;
  reported = false;
  exit_tid = 0;
  hook_exec_fork_child();
  if (!session->children) thread_recording_set(false);
  site_fork_child();
  ranges_fork_child();
  count_fork_child();
  thread_fork_child();
  ht_fork_hooks_run();
  sampler_fork_child();
  mark_fork_child();
  checkpoint_fork_child();
  snapshot_fork_child();
  report_fork_child();
  report_flags_add(HT_PROCESS_FORKED);
  fork_hook_end();
}

// ---- exec

static uint64_t allocated_bytes(void) {
  uint64_t bytes = 0;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) bytes += count_kind_total(kind).allocated_bytes;
  return bytes;
}

bool exec_prepare(const struct scan_origin *origin) {
  struct report_order order = {.reason = HT_REASON_EXEC, .scan = true, .before = snapshot_end, .origin = *origin};
  if (sys_pid() != life_pid || !thread_recording()) return false;
  checkpoint_set(false);
  bool only_forked = forked && allocated_bytes() < FORK_EXEC_BYTES;
  bool written = only_forked ? !snapshot_end() : report_write(&order);
  checkpoint_drop();
  return written;
}

void exec_failed(bool reported) {
  if (reported) report_withdraw();
  snapshot_go_on();
  checkpoint_set(true);
}

// ---- signals that end a process

// As the kernel would have it: of the default action, with the cause that the first delivery had.
static void die_of(int signal, siginfo_t *info) {
  struct sigaction default_action = {.sa_handler = SIG_DFL};
  real.sigaction(signal, &default_action, NULL);
  int pid = (int)sys_call0(SYS_getpid), tid = (int)sys_call0(SYS_gettid);
  if (!info || sys_call4(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)info) != 0)
    sys_call3(SYS_tgkill, pid, tid, signal);
}

static void unblock(int signal) {
  uint64_t only = sys_signal_bit(signal);
  sys_call4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&only, 0, sizeof only);
}

static void origin_interrupted(struct scan_origin *origin, const void *context) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  origin->stack_pointer = (uintptr_t)registers[REG_RSP];
  for (int i = 0; i < 16; i++) origin->registers[i] = (uintptr_t)registers[i];
}

static struct scan_origin signal_origin;

static void report_and_die(int signal) {
  report_final(HT_REASON_SIGNAL, signal, &signal_origin);
  die_of(signal, NULL);
  unblock(signal);
}

static void on_deadly_signal(int signal, siginfo_t *info, void *context) {
  if (sys_pid() != life_pid) {
    die_of(signal, info);
    return;
  }
  origin_interrupted(&signal_origin, context);
  struct thread *thread = thread_tls;
  if (thread && thread->in_hook)
    ht_call_after_hook(thread, report_and_die, signal);
  else
    report_and_die(signal);
}

// ---- crashes

#define CRASH_REPORT_NS 10000000000ull // a crashed process is kept waiting for its report no longer than this
#define DETACH_REPORT_NS 60000000000ull
#define CRASH_STACK_BYTES (256u * 1024)

static char *crash_stack; // made at start-up: nothing can be counted on later
static int crash_tid;     // atomic; 0: nobody has crashed

struct crash {
  int signal;
  struct scan_origin origin;
};

// By a copy of the process: whatever is broken in here, the report ends in time and the process dies as it would.
static void crash_report(void *of) {
  const struct crash *crash = of;
  if (!thread_recording() || __atomic_exchange_n(&reported, true, __ATOMIC_ACQ_REL)) return;
  uint64_t until_ns = sys_now_ns() + CRASH_REPORT_NS;
  struct report_order order = {.reason = HT_REASON_CRASH,
                               .signal = crash->signal,
                               .scan = true,
                               .origin = crash->origin,
                               .before = snapshot_end};
  checkpoint_set(false);
  int copy = report_copy(&order, until_ns);
  if (copy > 0 && copy_wait(copy, until_ns) == COPY_WRITTEN) checkpoint_drop();
}

// The first thread that crashes takes the process with it; the others wait for that.
static bool crash_is_first(void) {
  int nobody = 0, tid = (int)sys_call0(SYS_gettid);
  if (__atomic_compare_exchange_n(&crash_tid, &nobody, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
  uint64_t until_ns = sys_now_ns() + 2 * CRASH_REPORT_NS;
  while (nobody != tid && sys_now_ns() < until_ns) sys_call3(SYS_nanosleep, (long)&(struct timespec){0, 1000000}, 0, 0);
  return false;
}

// What is pending when the handler returns is delivered before the faulting instruction is tried again, so that a core
// dump shows the thread where it crashed.
static void on_crash(int signal, siginfo_t *info, void *context) {
  bool own = !sys_is_copy() && sys_pid() == life_pid;
  if (own && crash_stack && crash_is_first()) {
    static struct crash crash;
    crash.signal = signal;
    origin_interrupted(&crash.origin, context);
    stack_switch_call(crash_report, &crash, crash_stack + CRASH_STACK_BYTES);
  }
  die_of(signal, info);
}

// ---- requests for a snapshot

// A snapshot's work does not fit an alternate stack that the program chose. One at a time.
static char *request_stack;
static bool request_busy; // atomic

struct request {
  struct scan_origin origin;
};

// Without a request for a snapshot the signal asks for the counters as they stand. Where this thread is at work in
// heaptide, or another one takes a sample, whoever asks will ask again.
static void look_serve(void) {
  if (lock_depth || !lock_try(sampler_lock())) return;
  checkpoint_write_now(sampler_elapsed_ns());
  lock_drop(sampler_lock());
}

static void request_serve(void *of) {
  if (!snapshot_serve(&((struct request *)of)->origin)) look_serve();
}

static void request_after_hook(int unused) {
  (void)unused;
  struct request request;
  scan_origin_fill(&request.origin, (uintptr_t)__builtin_frame_address(0));
  request_serve(&request);
}

// The sender put into `value` which system call it saw the thread asleep in, and where that returns to.
static void call_go_on(const siginfo_t *info, ucontext_t *interrupted) {
  uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
  call_resume((long)(value >> REQUEST_PC_BITS), value & REQUEST_PC_MASK, interrupted);
}

static void request_take(const siginfo_t *info, void *context) {
  struct thread *thread = thread_tls;
  if (info->si_code != SI_QUEUE || sys_pid() != life_pid || !thread_recording()) return;
  if (thread && (thread->in_hook || thread->moving)) {
    ht_call_after_hook(thread, request_after_hook, 0);
  } else if (!__atomic_exchange_n(&request_busy, true, __ATOMIC_ACQUIRE)) {
    static struct request request;
    origin_interrupted(&request.origin, context);
    stack_switch_call(request_serve, &request, request_stack + CRASH_STACK_BYTES);
    __atomic_store_n(&request_busy, false, __ATOMIC_RELEASE);
  }
}

static void on_request(int signal, siginfo_t *info, void *context) {
  (void)signal;
  request_take(info, context);
  call_go_on(info, context);
}

static void watch(uint64_t now_ns) {
  checkpoint_watch(now_ns);
  if (snapshot_watch(now_ns) && thread_tls) ht_call_after_hook(thread_tls, request_after_hook, 0);
}

// ---- start

static void signals_own(void) {
  static const int deadly[] = {SIGTERM, SIGINT, SIGHUP}, faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
    hook_signal_own(deadly[i], on_deadly_signal, SA_RESTART, false);
  crash_stack = sys_map(CRASH_STACK_BYTES);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) hook_signal_own(faults[i], on_crash, SA_ONSTACK, false);
  request_stack = sys_map(CRASH_STACK_BYTES);
  if (request_stack) hook_signal_own(REQUEST_SIGNAL, on_request, SA_RESTART | SA_ONSTACK, true);
}

extern int __cxa_atexit(void (*)(void *), void *, void *);
extern int __cxa_at_quick_exit(void (*)(void *), void *);

// They cannot be taken back, and do nothing while nothing is recorded.
static void handlers_register(void) {
  HT_KEPT static bool done;
  if (done) return;
  done = true;
  // Without a DSO handle: the handler is not run when this library's own destructors are, but last of all.
  __cxa_atexit(at_exit, NULL, NULL);
  __cxa_at_quick_exit(at_quick_exit_, NULL);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(at_sanitizer_death);
  pthread_atfork(fork_prepare, fork_parent, fork_child);
}

void hook_life_init(const struct session *of) {
  session = of;
  life_pid = sys_pid();
  handlers_register();
  checkpoint_init(session);
  snapshot_init(session);
  sampler_on_look(watch);
  signals_own();
}

static int detach_copy; // that writes the last report

void hook_life_detach_begin(void) {
  struct report_order order = {.reason = HT_REASON_DETACH, .scan = true, .before = snapshot_end};
  scan_origin_fill(&order.origin, (uintptr_t)__builtin_frame_address(0));
  checkpoint_set(false);
  detach_copy = report_copy(&order, sys_now_ns() + DETACH_REPORT_NS);
}

int hook_life_detach_end(void) {
  bool written = detach_copy > 0 && copy_wait(detach_copy, sys_now_ns() + DETACH_REPORT_NS) == COPY_WRITTEN;
  checkpoint_drop();
  hook_signal_release();
  return written ? 0 : EIO;
}
