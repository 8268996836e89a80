// A server of N threads that hand each other blocks, beside four that do nothing but start short-lived threads and wait
// for them. On `pause` all of them stop with nothing of their own in hand, on `go` they go on; the answer is the same
// word. Ends when its input does, with the number of things that went wrong.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static bool paused, ended;
static int waiting;
static std::atomic<int> wrong{0};
static std::atomic<std::string *> shelf[64];

// False: it is over.
static bool may_go_on() {
  std::unique_lock<std::mutex> lock(mutex);
  if (paused) {
    waiting++;
    changed.notify_all();
    changed.wait(lock, [] { return !paused; });
    waiting--;
  }
  return !ended;
}

static __attribute__((noinline)) std::string *make(unsigned number) {
  return new std::string(100 + number % 900, char('a' + number % 26)); // made
}

static void drop(std::string *text) {
  if (text) wrong += text->front() != text->back() || text->find(text->front() == 'z' ? 'a' : '~') != std::string::npos;
  delete text;
}

// Blocks go from thread to thread over the shelf, and die where they come to.
static void work(unsigned number) {
  while (may_go_on()) {
    for (int i = 0; i < 20; i++) {
      number = number * 1103515245 + 12345;
      drop(shelf[number / 65536 % 64].exchange(make(number >> 8)));
      std::vector<std::unique_ptr<int>> own;
      for (int n = 0; n < 10; n++) own.push_back(std::make_unique<int>(n));
      for (int n = 0; n < 10; n++) wrong += *own[n] != n;
    }
    usleep(1000);
  }
}

struct Late {
  std::vector<char> bytes;
  ~Late() { bytes.assign(3000, 'x'); } // allocates on its thread's way out
};
static thread_local Late late;

static void be_born(unsigned number) {
  while (may_go_on()) {
    std::thread([&] {
      late.bytes.push_back(1);
      drop(make(number++));
    }).join();
  }
}

static void pause_all(size_t threads) {
  std::unique_lock<std::mutex> lock(mutex);
  paused = true;
  changed.wait(lock, [&] { return waiting == int(threads); });
  for (auto &place : shelf) drop(place.exchange(nullptr));
  malloc_trim(0);
}

static void let_go(bool for_good) {
  std::unique_lock<std::mutex> lock(mutex);
  paused = false;
  ended = for_good;
  changed.notify_all();
}

int main(int argc, char **argv) {
  mallopt(M_ARENA_MAX, 1); // many would go on growing for minutes
  std::vector<std::thread> threads;
  for (int i = 0; i < atoi(argv[1]); i++) threads.emplace_back(work, i);
  for (int i = 0; i < 4; i++) threads.emplace_back(be_born, i);
  puts("ready");
  fflush(stdout);
  for (char word[16]; scanf("%15s", word) == 1;) {
    if (!strcmp(word, "pause"))
      pause_all(threads.size());
    else
      let_go(false);
    puts(word);
    fflush(stdout);
  }
  let_go(true);
  for (auto &thread : threads) thread.join();
  for (auto &place : shelf) drop(place.exchange(nullptr));
  printf("%d\n", wrong.load());
  return argc != 2;
}
