#include "hook_life.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core.h"
#include "hook_exec.h"
#include "hook_signal.h"
#include "lock.h"
#include "ranges.h"
#include "real.h"
#include "report.h"
#include "sampler.h"
#include "stack_check.h"
#include "sys.h"

// A forked child that execs before it has allocated this much was only on its way there: no report of its own.
#define FORK_EXEC_BYTES (1u << 20)

static const struct session *session;
static int life_pid; // the process that this memory belongs to: a vfork child has another pid
static bool forked, reported;
static struct scan_origin exit_origin; // where the exiting thread entered exit, or where main returned
static int exit_tid;

// Callee-saved registers hold the caller's values; the others are dead at a call.
__attribute__((noinline)) static void origin_take(struct scan_origin *origin, uintptr_t stack_pointer) {
  uintptr_t rbx, r12, r13, r14, r15;
  __asm__ volatile("movq %%rbx, %0\n movq %%r12, %1\n movq %%r13, %2\n movq %%r14, %3\n movq %%r15, %4"
                   : "=m"(rbx), "=m"(r12), "=m"(r13), "=m"(r14), "=m"(r15));
  *origin = (struct scan_origin){.stack_pointer = stack_pointer, .registers = {rbx, r12, r13, r14, r15}};
}

// ---- reports

static void report_final(enum ht_reason reason, int signal, const struct scan_origin *origin) {
  if (sys_pid() != life_pid || !thread_recording()) return; // a vfork child, or not traced
  if (__atomic_exchange_n(&reported, true, __ATOMIC_ACQ_REL)) {
    report_wait();
    return;
  }
  struct report_order order = {.reason = reason, .signal = signal, .scan = true, .origin = *origin};
  report_write(&order);
}

static void at_exit(void *unused) {
  (void)unused;
  struct scan_origin here;
  origin_take(&here, (uintptr_t)__builtin_frame_address(0));
  report_final(HT_REASON_EXIT, 0, exit_tid == sys_tid() ? &exit_origin : &here);
}

static void at_quick_exit_(void *unused) {
  (void)unused;
  struct scan_origin here;
  origin_take(&here, (uintptr_t)__builtin_frame_address(0));
  report_final(HT_REASON__EXIT, 0, &here);
}

// Of sanitizers (sanitizer/common_interface_defs.h): what they call before they end a process that leaks or errs, by a
// bare system call.
extern void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static void at_sanitizer_death(void) { at_exit(NULL); }

HT_EXPORT void exit(int status) {
  real_ready();
  origin_take(&exit_origin, (uintptr_t)__builtin_frame_address(0));
  exit_tid = sys_tid();
  real.exit(status);
  __builtin_unreachable();
}

static void exit_now(int status, uintptr_t stack_pointer) {
  real_ready();
  struct scan_origin here;
  origin_take(&here, stack_pointer);
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
  thread->suspended = 0;
}

// ---- main: what its frame left on the stack is dead once it returned

typedef int (*main_function)(int, char **, char **);
static main_function program_main;

static int main_and_note(int argc, char **argv, char **environment) {
  int status = program_main(argc, argv, environment);
  origin_take(&exit_origin, (uintptr_t)__builtin_frame_address(0));
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
  fork_locks_drop();
  fork_hook_end();
}

static void fork_child(void) {
  fork_locks_drop();
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

bool exec_prepare(void) {
  if (sys_pid() != life_pid || !thread_recording() || (forked && allocated_bytes() < FORK_EXEC_BYTES)) return false;
  struct report_order order = {.reason = HT_REASON_EXEC, .scan = true};
  origin_take(&order.origin, (uintptr_t)__builtin_frame_address(0));
  return report_write(&order);
}

void exec_failed(void) { report_withdraw(); }

// ---- signals that end a process

static void die_of(int signal) {
  struct sigaction default_action = {.sa_handler = SIG_DFL};
  sigset_t only;
  real.sigaction(signal, &default_action, NULL);
  sigemptyset(&only);
  sigaddset(&only, signal);
  sys_call4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&only, 0, 8);
  sys_call3(SYS_tgkill, sys_pid(), sys_tid(), signal);
}

static struct scan_origin signal_origin;

static void report_and_die(int signal) {
  report_final(HT_REASON_SIGNAL, signal, &signal_origin);
  die_of(signal);
}

static void on_deadly_signal(int signal, siginfo_t *info, void *context) {
  (void)info;
  const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  if (sys_pid() != life_pid) {
    die_of(signal);
    return;
  }
  signal_origin.stack_pointer = (uintptr_t)registers[REG_RSP];
  for (int i = 0; i < 16; i++) signal_origin.registers[i] = (uintptr_t)registers[i];
  struct thread *thread = thread_tls;
  if (thread && thread->in_hook)
    ht_call_after_hook(thread, report_and_die, signal);
  else
    report_and_die(signal);
}

// ---- start

extern int __cxa_atexit(void (*)(void *), void *, void *);
extern int __cxa_at_quick_exit(void (*)(void *), void *);

void hook_life_init(const struct session *of) {
  session = of;
  life_pid = sys_pid();
  // Without a DSO handle: the handler is not run when this library's own destructors are, but last of all.
  __cxa_atexit(at_exit, NULL, NULL);
  __cxa_at_quick_exit(at_quick_exit_, NULL);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(at_sanitizer_death);
  pthread_atfork(fork_prepare, fork_parent, fork_child);
  hook_signal_init(on_deadly_signal);
}
