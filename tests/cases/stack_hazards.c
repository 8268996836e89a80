// Allocates below frames of every odd kind, thousands of times in an order that looks random, so that what the last
// stack looked like is often nearly right: frames of changing size, slots that hold return addresses of old calls,
// tail calls, signal handlers (on a stack of their own, too), fibers that move between threads, code without unwind
// information.
// build: -pthread -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define ROUNDS 4000
#define NOINLINE __attribute__((noinline))

static _Thread_local uint32_t chance = 1;
static uint32_t chance_next(uint32_t below) {
  chance = chance * 1664525u + 1013904223u;
  return (chance >> 16) % below;
}

static NOINLINE void touch(void) {
  void *volatile block = malloc(1 + chance_next(100));
  free(block);
}

static NOINLINE void frame_of_any_size(int depth) {
  volatile char *filler = alloca(8 + chance_next(300));
  filler[0] = 1;
  if (depth) frame_of_any_size(depth - 1);
  touch();
}

// Two ways through frames of one size: the slots are the same, what is in them is not.
static NOINLINE void left(int depth);
static NOINLINE void right(int depth);
static NOINLINE void left(int depth) {
  if (depth) chance_next(2) ? left(depth - 1) : right(depth - 1);
  touch();
}
static NOINLINE void right(int depth) {
  if (depth) chance_next(2) ? right(depth - 1) : left(depth - 1);
  touch();
}

// Leaves its own return addresses below the stack pointer.
static NOINLINE void stale(int depth) {
  if (depth) stale(depth - 1);
  else touch();
}

static NOINLINE __attribute__((optimize("optimize-sibling-calls"))) void tail_call(int depth) {
  if (depth) return tail_call(depth - 1);
  return touch();
}

static NOINLINE __attribute__((optimize("omit-frame-pointer"))) void no_frame_pointer(int depth) {
  volatile char filler[40];
  filler[depth] = 1;
  if (depth) no_frame_pointer(depth - 1);
  touch();
}

// Without unwind information, but with a frame pointer.
__asm__(".text\n.globl no_rules\n.type no_rules, @function\nno_rules:\n"
        "  push %rbp\n  mov %rsp, %rbp\n  call *%rdi\n  pop %rbp\n  ret\n.size no_rules, . - no_rules\n");
void no_rules(void (*function)(void));

static void on_signal(int number) {
  (void)number;
  touch();
}

static void signals_install(void) {
  static char room[64 << 10];
  sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
  sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, NULL);
}

static NOINLINE void step(void) {
  int depth = (int)chance_next(12);
  switch (chance_next(8)) {
    case 0: return frame_of_any_size(depth);
    case 1: return left(depth);
    case 2: return right(depth);
    case 3: return stale(depth);
    case 4: return tail_call(depth);
    case 5: return no_frame_pointer(depth);
    case 6: return no_rules(touch);
    default: raise(depth & 1 ? SIGUSR1 : SIGUSR2);
  }
}

// A fiber gives way in the middle of its calls, and whoever has it next goes on with it.
struct fiber {
  ucontext_t own, *back;
  pthread_mutex_t lock;
  char stack[64 << 10];
};
static struct fiber fibers[4];

static NOINLINE void give_way(struct fiber *fiber, int depth) {
  if (depth) give_way(fiber, depth - 1);
  touch();
  swapcontext(&fiber->own, fiber->back);
  touch();
}

static void fiber_run(int number) {
  for (int depth = 0;; depth = (depth + 1) % 5) give_way(&fibers[number], depth);
}

static void fibers_make(void) {
  for (int i = 0; i < 4; i++) {
    getcontext(&fibers[i].own);
    fibers[i].own.uc_stack.ss_sp = fibers[i].stack;
    fibers[i].own.uc_stack.ss_size = sizeof fibers[i].stack;
    pthread_mutex_init(&fibers[i].lock, NULL);
    makecontext(&fibers[i].own, (void (*)(void))fiber_run, 1, i);
  }
}

static NOINLINE void fiber_step(void) {
  struct fiber *fiber = &fibers[chance_next(4)];
  ucontext_t here;
  pthread_mutex_lock(&fiber->lock);
  fiber->back = &here;
  swapcontext(&here, &fiber->own);
  pthread_mutex_unlock(&fiber->lock);
}

static void *run(void *seed) {
  chance = (uint32_t)(uintptr_t)seed;
  for (int i = 0; i < ROUNDS; i++) chance_next(4) ? step() : fiber_step();
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  signals_install();
  fibers_make();
  run((void *)7);
  for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, (void *)(i + 8));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
