// What a unit test asserts. It goes on after a failure, and ends with `return failures != 0`.
#ifndef HT_EXPECT_H
#define HT_EXPECT_H

#include <stdio.h>

static int failures;

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (condition) break;                                                                                              \
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                            \
    failures++;                                                                                                        \
  } while (0)

#endif
