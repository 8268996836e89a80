#include "lock.h"

__thread uint8_t lock_depth __attribute__((tls_model("initial-exec")));

// Spins briefly (the holder is usually done within a microsecond), then sleeps.
#define SPINS 100

void lock_wait(struct lock *lock) {
  for (int i = 0; i < SPINS; i++) {
    int free_state = 0;
    if (__atomic_load_n(&lock->state, __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&lock->state, &free_state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    __builtin_ia32_pause();
  }
  while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE) != 0)
    sys_call4(SYS_futex, (long)&lock->state, FUTEX_WAIT_PRIVATE, 2, 0);
}
