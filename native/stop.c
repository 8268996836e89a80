#include "stop.h"

#include <errno.h>

#include "call_resume.h"
#include "core.h"
#include "lock.h"
#include "sys.h"
#include "sys_signal.h"
#include "task.h"
#include "thread.h"

#define DEADLINE_NS 1000000000ull // parking may take this long in all; the rest is left loose, and the report says so
#define GRACE_NS 4000000ull       // after this much silence it is looked up why a thread does not answer
// SIGCANCEL, which only the C library itself can block (nptl/pthread_sigmask.c): while a thread starts, ends, or spawns
// a process. A thread that ends leaves SIGSETXID open (start_thread in nptl/pthread_create.c).
#define C_LIBRARY_SIGNAL sys_signal_bit(32)
#define ROUND_WAIT_NS 2000000l
#define SIGNAL_MAX 64
#define SIGNAL_MIN 35      // 32 and 33 are the C library's own, 34 is SIGRTMIN, which programs use first
#define SPARE_THREADS 256u // slots for threads born while we look; beyond twice the count plus this they stay loose

// All of it belongs to the stopping thread, which holds LOCK_RANK_REPORT; handlers write only their own slot's
// fields and the two counters.
static struct {
  int turn;    // futex, odd while a stop is on; parked threads wait until it moves on
  int answers; // futex, counts handlers that have parked
  int inside;  // handlers that have not left yet
  int signal;
  struct sys_action previous;
  struct stop_thread *threads;
  uint32_t *tids; // the same order, packed: handlers look themselves up here
  uint32_t count, capacity;
  char *directory;
  bool listed;
} stop;

// ---- in the parked thread

static struct stop_thread *own_slot(void) {
  uint32_t tid = (uint32_t)sys_tid(), count = __atomic_load_n(&stop.count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++)
    if (stop.tids[i] == tid) return &stop.threads[i];
  return NULL;
}

// fpstate as the kernel lays it out, arch/x86/include/uapi/asm/sigcontext.h: 512 bytes of FXSAVE, of which bytes 464
// on are `struct _fpx_sw_bytes` {magic1, extended_size, ...}; with the magic there, the XSAVE area goes on.
#define FXSAVE_BYTES 512u
#define FXSAVE_SW_BYTES 464u
#define FXSAVE_MAGIC1 0x46505853u

static void vector_note(struct stop_thread *slot, const void *fpstate) {
  if (!fpstate) return;
  const uint32_t *software = (const uint32_t *)((const char *)fpstate + FXSAVE_SW_BYTES);
  slot->vector_start = (uintptr_t)fpstate;
  slot->vector_end = slot->vector_start + (software[0] == FXSAVE_MAGIC1 ? software[1] : FXSAVE_BYTES);
}

static uintptr_t thread_pointer(void) {
  uintptr_t value;
  __asm__("mov %%fs:0, %0" : "=r"(value)); // tcbhead_t.tcb, sysdeps/x86_64/nptl/tls.h
  return value;
}

static void answer(struct stop_thread *slot, enum stop_state state) {
  __atomic_store_n(&slot->state, state, __ATOMIC_RELEASE);
  __atomic_add_fetch(&stop.answers, 1, __ATOMIC_SEQ_CST);
  sys_call3(SYS_futex, (long)&stop.answers, FUTEX_WAKE_PRIVATE, 1);
}

static void park(struct stop_thread *slot, int turn) {
  slot->thread_pointer = thread_pointer();
  answer(slot, STOP_PARKED);
  while (__atomic_load_n(&stop.turn, __ATOMIC_SEQ_CST) == turn)
    sys_call4(SYS_futex, (long)&stop.turn, FUTEX_WAIT_PRIVATE, turn, 0);
}

// The slot of the calling thread while a stop is on that it has not answered; NULL: nothing to do.
static struct stop_thread *slot_to_park(int *turn) {
  *turn = __atomic_load_n(&stop.turn, __ATOMIC_SEQ_CST);
  struct stop_thread *slot = *turn & 1 ? own_slot() : NULL;
  return slot && slot->state != STOP_PARKED ? slot : NULL;
}

// Right behind a hook: registers that calls preserve are as they were, or on the stack; the others are dead here.
static void park_after_hook(int unused) {
  (void)unused;
  int turn;
  __atomic_add_fetch(&stop.inside, 1, __ATOMIC_SEQ_CST);
  struct stop_thread *slot = slot_to_park(&turn);
  if (slot) {
    uintptr_t *registers = slot->registers;
    __asm__ volatile("movq %%rbx, %0\n movq %%rbp, %1\n movq %%r12, %2\n movq %%r13, %3\n movq %%r14, %4\n"
                     "movq %%r15, %5\n movq %%rsp, %6"
                     : "=m"(registers[REG_RBX]), "=m"(registers[REG_RBP]), "=m"(registers[REG_R12]),
                       "=m"(registers[REG_R13]), "=m"(registers[REG_R14]), "=m"(registers[REG_R15]),
                       "=m"(registers[REG_RSP]));
    slot->stack_pointer = registers[REG_RSP];
    park(slot, turn);
  }
  __atomic_sub_fetch(&stop.inside, 1, __ATOMIC_SEQ_CST);
}

// Within a hook, or with a lock, records are half made, and the report must not see that: the thread parks when the
// hook ends, or is asked again.
static bool at_work(struct stop_thread *slot) {
  struct thread *thread = thread_tls;
  if (thread && ((thread->in_hook && thread->in_hook != THREAD_STOPPED) || thread->moving)) {
    if (!ht_call_after_hook(thread, park_after_hook, 0)) answer(slot, STOP_BUSY);
    return true;
  }
  if (lock_depth != 0) answer(slot, STOP_BUSY);
  return lock_depth != 0;
}

static void stop_handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  int turn;
  __atomic_add_fetch(&stop.inside, 1, __ATOMIC_SEQ_CST);
  struct stop_thread *slot = slot_to_park(&turn);
  ucontext_t *interrupted = context;
  greg_t *registers = interrupted->uc_mcontext.gregs;
  if (!slot) { // it came so late that the stop is over; the call was interrupted all the same
    call_resume(-1, 0, interrupted);
  } else if (!at_work(slot)) {
    for (int i = 0; i < STOP_REGISTERS; i++) slot->registers[i] = (uintptr_t)registers[i];
    slot->stack_pointer = (uintptr_t)registers[REG_RSP];
    vector_note(slot, interrupted->uc_mcontext.fpregs);
    park(slot, turn);
    call_resume(slot->call, slot->call_pc, interrupted);
  }
  __atomic_sub_fetch(&stop.inside, 1, __ATOMIC_SEQ_CST);
}

// ---- what the stopping thread finds out about the others

// What was found out about a thread.
struct finding {
  enum stop_state state;
  uintptr_t stack_pointer; // STOP_ASLEEP
};

static struct finding asleep_or_loose(uint32_t tid) {
  struct task_call call;
  if (!task_call(tid, &call)) return (struct finding){STOP_LOOSE, 0};
  return (struct finding){STOP_ASLEEP, call.stack_pointer};
}

// Signal 0 asks the kernel. A refusal counts as "it is".
static bool is_there(uint32_t tid) { return sys_call3(SYS_tgkill, sys_pid(), tid, 0) != -ESRCH; }

// Why a thread does not answer; STOP_ASKED: no reason found, so that it goes on being waited for.
static struct finding silent_thread(uint32_t tid) {
  struct task_status status;
  if (!task_status(tid, &status)) return (struct finding){is_there(tid) ? STOP_ASKED : STOP_GONE, 0};
  if (status.state == 'Z' || status.state == 'X') return (struct finding){STOP_GONE, 0};
  if (status.state == 'R') return (struct finding){STOP_ASKED, 0};
  if (status.blocked & C_LIBRARY_SIGNAL) return (struct finding){STOP_PASSING, 0};
  bool cannot = status.blocked & sys_signal_bit(stop.signal);
  bool stuck = status.state == 'T' || status.state == 't'; // by job control, by a debugger
  return cannot || stuck ? asleep_or_loose(tid) : (struct finding){STOP_ASKED, 0};
}

// A thread that has not answered in all the time there was.
static struct finding late_thread(uint32_t tid) {
  struct task_status status;
  bool passing = task_status(tid, &status) && status.blocked & C_LIBRARY_SIGNAL;
  return passing ? (struct finding){STOP_PASSING, 0} : asleep_or_loose(tid);
}

// A thread that is still `expected`; its handler may say otherwise at any moment.
static bool thread_settle(struct stop_thread *thread, uint32_t expected, struct finding found) {
  if (!__atomic_compare_exchange_n(&thread->state, &expected, found.state, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  thread->stack_pointer = found.stack_pointer;
  return true;
}

// ---- parking

// A signal whose action is the default, from the top down; 0: none.
static int signal_choose(void) {
  for (int signal = SIGNAL_MAX; signal >= SIGNAL_MIN; signal--) {
    struct sys_action action;
    if (sys_action_set(signal, NULL, &action) == 0 && (void *)action.handler == (void *)SIG_DFL) return signal;
  }
  return 0;
}

static bool known(uint32_t tid) {
  for (uint32_t i = 0; i < stop.count; i++)
    if (stop.tids[i] == tid) return true;
  return false;
}

static void thread_send(struct stop_thread *thread) {
  struct task_call call = {.number = -1};
  task_call(thread->tid, &call);
  thread->call = call.number;
  thread->call_pc = call.pc;
  __atomic_store_n(&thread->state, STOP_ASKED, __ATOMIC_RELEASE);
  long sent = stop.signal ? sys_call3(SYS_tgkill, sys_pid(), thread->tid, stop.signal) : -EPERM;
  if (sent == 0) return;
  thread_settle(thread, STOP_ASKED, sent == -ESRCH ? (struct finding){STOP_GONE, 0} : asleep_or_loose(thread->tid));
}

static void thread_ask(uint32_t tid) {
  struct stop_thread *thread = &stop.threads[stop.count];
  *thread = (struct stop_thread){.tid = tid};
  stop.tids[stop.count] = tid;
  __atomic_store_n(&stop.count, stop.count + 1, __ATOMIC_RELEASE);
  thread_send(thread);
}

static bool is_other(uint32_t tid) { return tid != (uint32_t)sys_tid(); }

static void other_count(uint32_t tid, void *count) { *(uint32_t *)count += is_other(tid); }

static void other_ask_new(uint32_t tid, void *count) {
  if (!is_other(tid) || known(tid) || stop.count == stop.capacity) return;
  thread_ask(tid);
  ++*(uint32_t *)count;
}

static uint32_t silent_count(bool look) {
  uint32_t silent = 0;
  for (uint32_t i = 0; i < stop.count; i++) {
    struct stop_thread *thread = &stop.threads[i];
    if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == STOP_BUSY) thread_send(thread);
    if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) != STOP_ASKED) continue;
    if (look) thread_settle(thread, STOP_ASKED, silent_thread(thread->tid));
    silent += thread->state == STOP_ASKED;
  }
  return silent;
}

static void answers_wait(uint64_t until_ns) {
  uint64_t look_ns = sys_now_ns() + GRACE_NS;
  for (;;) {
    int answers = __atomic_load_n(&stop.answers, __ATOMIC_SEQ_CST);
    uint64_t now_ns = sys_now_ns();
    if (silent_count(now_ns >= look_ns) == 0 || now_ns >= until_ns) return;
    struct timespec wait = {0, ROUND_WAIT_NS};
    sys_call4(SYS_futex, (long)&stop.answers, FUTEX_WAIT_PRIVATE, answers, (long)&wait);
  }
}

struct known_visit {
  void (*visit)(uint32_t tid, void *context);
  void *context;
};

static void known_thread_visit(struct thread *thread, void *context) {
  const struct known_visit *known = context;
  if (thread->state == THREAD_ALIVE && is_there(thread->tid)) known->visit(thread->tid, known->context);
}

// Without /proc: those that have allocated.
static void threads_list(void (*visit)(uint32_t, void *), void *context) {
  stop.listed = stop.listed && task_each(stop.directory, visit, context);
  if (!stop.listed) thread_each(known_thread_visit, &(struct known_visit){visit, context});
}

// Rounds until a look at the list shows nobody new: those who could make new threads are parked by then.
static void threads_park(void) {
  uint64_t until_ns = sys_now_ns() + DEADLINE_NS;
  uint32_t fresh;
  do {
    fresh = 0;
    threads_list(other_ask_new, &fresh);
    answers_wait(until_ns);
  } while (fresh && sys_now_ns() < until_ns);
  for (uint32_t i = 0; i < stop.count; i++) {
    struct stop_thread *thread = &stop.threads[i];
    if (thread->state != STOP_ASKED && thread->state != STOP_BUSY) continue;
    struct finding found = late_thread(thread->tid);
    while (!thread_settle(thread, STOP_ASKED, found) && !thread_settle(thread, STOP_BUSY, found) &&
           thread->state != STOP_PARKED)
      continue;
  }
}

static bool slots_map(void) {
  uint32_t count = 0;
  if (!stop.directory) stop.directory = sys_map(TASK_LIST_BYTES);
  stop.listed = stop.directory;
  threads_list(other_count, &count);
  stop.capacity = count ? 2 * count + SPARE_THREADS : 0;
  if (count == 0) return true;
  stop.threads = sys_map(stop.capacity * sizeof *stop.threads);
  stop.tids = sys_map(stop.capacity * sizeof *stop.tids);
  stop.listed &= stop.threads && stop.tids;
  return stop.threads && stop.tids;
}

static void slots_unmap(void) {
  if (stop.threads) sys_unmap(stop.threads, stop.capacity * sizeof *stop.threads);
  if (stop.tids) sys_unmap(stop.tids, stop.capacity * sizeof *stop.tids);
  stop.threads = NULL;
  stop.tids = NULL;
  stop.count = 0;
}

void stop_begin(void) {
  stop.count = 0;
  if (!slots_map()) slots_unmap();
  if (!stop.threads) return;
  stop.signal = signal_choose();
  struct sys_action action = {.handler = stop_handler, .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK, .mask = ~0ull};
  if (stop.signal && sys_action_set(stop.signal, &action, &stop.previous) != 0) stop.signal = 0;
  __atomic_add_fetch(&stop.turn, 1, __ATOMIC_SEQ_CST);
  threads_park();
}

// SIG_IGN first: it makes the kernel forget our signal where a thread still blocks it, which later would find the
// default action and kill the process.
static void signal_give_back(void) {
  struct sys_action ignore = {.handler = (void *)SIG_IGN};
  sys_action_set(stop.signal, &ignore, NULL);
  sys_action_put_back(stop.signal, &stop.previous);
}

void stop_end(void) {
  if (!stop.threads) return;
  if (stop.signal) signal_give_back();
  __atomic_add_fetch(&stop.turn, 1, __ATOMIC_SEQ_CST);
  sys_call3(SYS_futex, (long)&stop.turn, FUTEX_WAKE_PRIVATE, INT32_MAX);
  uint64_t until_ns = sys_now_ns() + DEADLINE_NS;
  while (__atomic_load_n(&stop.inside, __ATOMIC_SEQ_CST) != 0 && sys_now_ns() < until_ns) sys_call0(SYS_sched_yield);
  if (__atomic_load_n(&stop.inside, __ATOMIC_SEQ_CST) == 0) slots_unmap();
}

const struct stop_thread *stop_threads(uint32_t *count) {
  *count = stop.count;
  return stop.threads;
}

bool stop_listed(void) { return stop.listed; }
