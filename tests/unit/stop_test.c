// sources: native/stop.c native/call_resume.c native/task.c native/sys.c native/sys_signal.c native/lock.c native/text.c
// Threads that sleep in a system call, run, block every signal, or are being born while others are stopped.
#include "../../native/stop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "../../native/core.h"
#include "../../native/sys.h"
#include "../../native/sys_signal.h"
#include "expect.h"

#define SLEEP_MS 300
#define STOP_AFTER_MS 60

// Nobody is within a hook in this program.
__thread struct thread *thread_tls;
void thread_each(void (*visit)(struct thread *, void *), void *context) { (void)visit, (void)context; }
bool ht_call_after_hook(struct thread *thread, void (*function)(int), int argument) {
  (void)thread, (void)function, (void)argument;
  return false;
}

static void pause_ms(int milliseconds) {
  struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000l};
  while (nanosleep(&left, &left) != 0) continue;
}

static const struct stop_thread *stopped_find(uint32_t tid) {
  uint32_t count;
  const struct stop_thread *threads = stop_threads(&count);
  for (uint32_t i = 0; i < count; i++)
    if (threads[i].tid == tid) return &threads[i];
  return NULL;
}

// ---- sleepers: each returns 0 when its call ended as it would have without us

static int sleep_nanosleep(void) { return nanosleep(&(struct timespec){0, SLEEP_MS * 1000000l}, NULL); }
static int sleep_with_rest(void) {
  struct timespec left = {0, SLEEP_MS * 1000000l};
  return nanosleep(&left, &left);
}
static int sleep_clock(void) {
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, SLEEP_MS * 1000000l}, NULL);
}
static int sleep_poll(void) { return poll(NULL, 0, SLEEP_MS); }
static int sleep_select(void) { return select(0, NULL, NULL, NULL, &(struct timeval){0, SLEEP_MS * 1000}); }
static int sleep_epoll(void) {
  int fd = epoll_create1(0);
  struct epoll_event event;
  int result = epoll_wait(fd, &event, 1, SLEEP_MS);
  close(fd);
  return result;
}
static int sleep_semaphore(void) {
  sem_t semaphore;
  struct timespec until;
  sem_init(&semaphore, 0, 0);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += SLEEP_MS * 1000000l;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT ? 0 : -1;
}
static int sleep_sigtimedwait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return sigtimedwait(&set, NULL, &(struct timespec){0, SLEEP_MS * 1000000l}) == -1 && errno == EAGAIN ? 0 : -1;
}

static int (*const sleeps[])(void) = {sleep_nanosleep, sleep_with_rest, sleep_clock,     sleep_poll,
                                      sleep_select,    sleep_epoll,     sleep_semaphore, sleep_sigtimedwait};
#define SLEEPS (sizeof sleeps / sizeof *sleeps)

struct sleeper {
  int (*sleep)(void);
  int result;
  uint64_t slept_ns;
};

static void *sleeper_run(void *argument) {
  struct sleeper *sleeper = argument;
  uint64_t start_ns = sys_now_ns();
  sleeper->result = sleeper->sleep();
  sleeper->slept_ns = sys_now_ns() - start_ns;
  return NULL;
}

static void test_sleepers_are_not_woken_early(void) {
  pthread_t ids[SLEEPS];
  struct sleeper sleepers[SLEEPS];
  for (size_t i = 0; i < SLEEPS; i++) {
    sleepers[i] = (struct sleeper){.sleep = sleeps[i]};
    pthread_create(&ids[i], NULL, sleeper_run, &sleepers[i]);
  }
  pause_ms(STOP_AFTER_MS);
  uint32_t count, parked = 0;
  stop_begin();
  const struct stop_thread *threads = stop_threads(&count);
  for (uint32_t i = 0; i < count; i++) parked += threads[i].state == STOP_PARKED;
  EXPECT(count == SLEEPS && parked == SLEEPS);
  stop_end();
  for (size_t i = 0; i < SLEEPS; i++) {
    pthread_join(ids[i], NULL);
    if (sleepers[i].result != 0 || sleepers[i].slept_ns < SLEEP_MS * 1000000ull)
      fprintf(stderr, "sleeper %zu: %d after %lu us\n", i, sleepers[i].result, sleepers[i].slept_ns / 1000);
    EXPECT(sleepers[i].result == 0 && sleepers[i].slept_ns >= SLEEP_MS * 1000000ull);
  }
}

// ---- what is known of a parked thread

#define MAGIC 0x1234567890abcdeful

static volatile uint32_t spinner_tid;
static volatile int spinner_end;
static uintptr_t spinner_stack, spinner_pointer;

static void *spinner_run(void *unused) {
  int here;
  spinner_stack = (uintptr_t)&here;
  spinner_pointer = (uintptr_t)__builtin_thread_pointer();
  spinner_tid = (uint32_t)sys_tid();
  __asm__ volatile("movq %1, %%r15\n"
                   "1: cmpl $0, %0\n"
                   "je 1b\n"
                   :
                   : "m"(spinner_end), "r"(MAGIC)
                   : "r15", "memory");
  return unused;
}

static void test_registers_and_stack_are_known(void) {
  pthread_t id;
  pthread_create(&id, NULL, spinner_run, NULL);
  while (!spinner_tid) sched_yield();
  pause_ms(10);
  stop_begin();
  const struct stop_thread *thread = stopped_find(spinner_tid);
  bool found = false;
  EXPECT(thread && thread->state == STOP_PARKED);
  for (int i = 0; thread && i < STOP_REGISTERS; i++) found |= thread->registers[i] == MAGIC;
  EXPECT(found);
  EXPECT(thread && thread->thread_pointer == spinner_pointer);
  EXPECT(thread && thread->stack_pointer <= spinner_stack && spinner_stack - thread->stack_pointer < 4096);
  stop_end();
  spinner_end = 1;
  pthread_join(id, NULL);
}

// ---- a thread that blocks every signal

static int blocked_pipe[2];
static volatile uint32_t blocked_tid;

static void *blocked_run(void *unused) {
  sigset_t all;
  char byte;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  blocked_tid = (uint32_t)sys_tid();
  bool read_one = read(blocked_pipe[0], &byte, 1) == 1;
  sigemptyset(&all); // a signal of ours that is still pending would kill the process now
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  return read_one ? unused : (void *)1;
}

static void test_blocked_signals(void) {
  pthread_t id;
  void *result;
  EXPECT(pipe(blocked_pipe) == 0);
  pthread_create(&id, NULL, blocked_run, NULL);
  while (!blocked_tid) sched_yield();
  pause_ms(20);
  uint64_t start_ns = sys_now_ns();
  stop_begin();
  EXPECT(sys_now_ns() - start_ns < 800000000);
  const struct stop_thread *thread = stopped_find(blocked_tid);
  EXPECT(thread && thread->state == STOP_ASLEEP && thread->stack_pointer != 0);
  stop_end();
  EXPECT(write(blocked_pipe[1], "x", 1) == 1);
  pthread_join(id, &result);
  EXPECT(result == NULL);
}

// ---- threads that make threads

// ---- a thread that ends waits for a lock of the C library's, which a parked thread has

static volatile uint32_t ending_tid;
static int ending_pipe[2];

static void *ending_run(void *unused) {
  char byte;
  uint64_t but_setxid = ~sys_signal_bit(33), before; // as start_thread does, nptl/pthread_create.c
  sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&but_setxid, (long)&before, sizeof before);
  ending_tid = (uint32_t)sys_tid();
  bool read_one = read(ending_pipe[0], &byte, 1) == 1;
  sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
  return read_one ? unused : NULL;
}

static void test_a_thread_that_ends_is_not_waited_for(void) {
  pthread_t id;
  EXPECT(pipe(ending_pipe) == 0);
  pthread_create(&id, NULL, ending_run, NULL);
  while (!ending_tid) sched_yield();
  pause_ms(STOP_AFTER_MS);
  stop_begin();
  const struct stop_thread *thread = stopped_find(ending_tid);
  EXPECT(thread && thread->state == STOP_PASSING);
  stop_end();
  EXPECT(write(ending_pipe[1], "x", 1) == 1);
  pthread_join(id, NULL);
}

static volatile int births_end;

static void *born_run(void *unused) { return unused; }

static void *births_run(void *unused) {
  while (!births_end) {
    pthread_t id;
    if (pthread_create(&id, NULL, born_run, NULL) == 0) pthread_join(id, NULL);
  }
  return unused;
}

static volatile uint64_t ticks;

static void *ticks_run(void *unused) {
  while (!births_end) ticks++;
  return unused;
}

static void test_nothing_runs_while_stopped(void) {
  pthread_t births[4], ticker;
  for (int i = 0; i < 4; i++) pthread_create(&births[i], NULL, births_run, NULL);
  pthread_create(&ticker, NULL, ticks_run, NULL);
  for (int round = 0; round < 50; round++) {
    stop_begin();
    EXPECT(stop_listed());
    uint64_t before = ticks;
    usleep(500);
    EXPECT(ticks == before);
    stop_end();
    usleep(500);
  }
  births_end = 1;
  for (int i = 0; i < 4; i++) pthread_join(births[i], NULL);
  pthread_join(ticker, NULL);
}

// ---- the signal is the program's again

// What the program found (nohup and the like ignore some) or set.
static void handlers_read(void (*handlers[65])(int)) {
  for (int signal = 1; signal <= 64; signal++) {
    struct sigaction action;
    if (signal != 32 && signal != 33 && sigaction(signal, NULL, &action) == 0) handlers[signal] = action.sa_handler;
  }
}

static void test_signals_are_given_back(void (*const before[65])(int)) {
  void (*after[65])(int) = {NULL};
  handlers_read(after);
  for (int signal = 1; signal <= 64; signal++) EXPECT(after[signal] == before[signal]);
}

static void test_one_thread_is_not_stopped(void) {
  uint32_t count;
  stop_begin();
  stop_threads(&count);
  EXPECT(stop_listed() && count == 0);
  stop_end();
}

int main(void) {
  void (*handlers[65])(int) = {NULL};
  handlers_read(handlers);
  test_one_thread_is_not_stopped();
  test_sleepers_are_not_woken_early();
  test_registers_and_stack_are_known();
  test_blocked_signals();
  test_a_thread_that_ends_is_not_waited_for();
  test_nothing_runs_while_stopped();
  test_signals_are_given_back(handlers);
  return failures != 0;
}
