// g++ -g -pthread tls_dtor.cc -o tls_dtor     (nothing leaks)
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <vector>
static pthread_key_t key;
static int rounds(void *p) { return *static_cast<int *>(p); }
static void dtor(void *p) {                       // runs up to 4 rounds, allocates each time
  int n = rounds(p); free(p);
  if (n < 4) { int *q = static_cast<int *>(malloc(64 + n)); *q = n + 1; pthread_setspecific(key, q); }
}
struct Late { std::vector<char> v; ~Late() { v.assign(5000, 'x'); } };   // allocates in its dtor
static thread_local Late late;
int main() {
  pthread_key_create(&key, dtor);
  for (int i = 0; i < 500; i++)
    std::thread([] { late.v.push_back(1); int *p = static_cast<int *>(malloc(64)); *p = 1;
                     pthread_setspecific(key, p); }).join();
}
