// Thread-local objects with destructors, values of keys with and without one, in threads that ended, in one that
// lives, and in the main thread: what a destructor loses is lost, what none has freed is lost with its thread.
// build: -pthread
// expect direct 888 in 4 at @loser
// expect direct 150 in 3 at @plain
// expect direct 240 in 3 at @value
// expect direct 198 in 6 at @again
// expect direct 270 in 3 at @kept
#include "planted.h"
#include <pthread.h>
#include <string>
#include <vector>

#define zeroed(bytes) calloc(1, bytes) // nothing stale in it that looks like a pointer

struct Holder {
  void *block = zeroed(111);
  ~Holder() { free(block); }
};

struct Loser {
  void *block;
  Loser() {
    block = zeroed(222); // @loser
  }
  ~Loser() { block = nullptr; }
};

static thread_local Holder holder;
static thread_local Loser loser;
static thread_local std::vector<std::string> words;
static thread_local void *plain;
static pthread_key_t key_freeing, key_losing, key_without;
static pthread_barrier_t both;

static void value_lost(void *) {
  static thread_local int rounds;
  if (rounds++ < 2) pthread_setspecific(key_losing, zeroed(33)); // @again
}

static void *work(void *unused) {
  *(char *)holder.block = *(char *)loser.block = 0;
  for (int i = 0; i < 10; i++) words.push_back(std::string(100, 'x'));
  plain = zeroed(50); // @plain
  pthread_setspecific(key_freeing, zeroed(70));
  pthread_setspecific(key_losing, zeroed(80));  // @value
  pthread_setspecific(key_without, zeroed(90)); // @kept
  return unused;
}

static void *stay(void *unused) {
  work(unused);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  return unused;
}

int main() {
  pthread_t id;
  pthread_barrier_init(&both, nullptr, 2);
  pthread_key_create(&key_freeing, free);
  pthread_key_create(&key_losing, value_lost);
  pthread_key_create(&key_without, nullptr);
  for (int i = 0; i < 3; i++) {
    pthread_create(&id, nullptr, work, nullptr);
    pthread_join(id, nullptr);
  }
  pthread_create(&id, nullptr, stay, nullptr);
  pthread_barrier_wait(&both);
  work(nullptr);
  stack_scrub();
  return 0;
}
