// What the test programs of HIP share. A call that does not do as expected ends the program with its line as status.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE void told(const char *call, int line, int status) {
  printf("line %d: %s: %d\n", line, call, status);
  fflush(stdout);
  _exit(99);
}

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    int status_of_call = (int)(call);                                                                                  \
    if (status_of_call) told(#call, __LINE__, status_of_call);                                                         \
  } while (0)
#define REFUSE(call)                                                                                                   \
  do {                                                                                                                 \
    if ((int)(call) == 0) told(#call, __LINE__, 0);                                                                    \
  } while (0)
