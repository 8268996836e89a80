// build: -shared -fPIC
// A library that Python code calls and that calls Python code back.
#include <stdlib.h>

typedef void (*function)(void);

void *volatile lost;

void lose(size_t bytes) {
  lost = malloc(bytes);
  lost = NULL;
}

void call_back(function back) {
  lose(300);
  back();
}
