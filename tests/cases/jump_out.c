// A signal handler jumps out of a malloc that it interrupted, at each instruction that the preloaded library takes for a
// known stack in turn (bare: at none). The blocks of the interrupted calls may be lost; all calls after them are to be recorded.
// Writes how many calls were made beside the interrupted ones, and how many of those there were.
#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STEPS = 150, CALLS_BETWEEN = 100 };
#define TRAP_FLAG "0x100"

static uintptr_t library_start, library_end;
static volatile int steps_left;
static sigjmp_buf back;

static int note_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "libheaptide")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_flags & PF_X) {
      library_start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      library_end = library_start + info->dlpi_phdr[i].p_memsz;
    }
  return 0;
}

static void on_step(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (at < library_start || at >= library_end) return;
  if (--steps_left == 0) siglongjmp(back, 1);
}

static __attribute__((noinline)) void *stepped(void) {
  __asm__ volatile("pushfq; orq $" TRAP_FLAG ", (%%rsp); popfq" ::: "cc", "memory");
  void *block = malloc(32);
  __asm__ volatile("pushfq; andq $~" TRAP_FLAG ", (%%rsp); popfq" ::: "cc", "memory");
  return block;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  dl_iterate_phdr(note_library, NULL);
  long jumps = 0, calls = 0;
  for (volatile int turn = 0; turn < 2 * STEPS; turn++) {
    steps_left = turn % 2 ? turn / 2 + 1 : 0; // each second turn; in the others the stack becomes a known one
    if (!sigsetjmp(back, 1)) {
      free(stepped());
      calls++;
    } else {
      jumps++;
    }
    if (turn % 2 == 0) continue;
    for (int i = 0; i < CALLS_BETWEEN; i++) {
      volatile char *block = malloc(100);
      block[0] = 1;
      free((void *)block);
    }
    calls += CALLS_BETWEEN;
  }
  fprintf(stderr, "%ld %ld\n", calls, jumps);
  return 0;
}
