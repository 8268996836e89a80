// The processes that are being recorded into a folder, and how they are asked for a snapshot.
#ifndef HT_TRACED_H
#define HT_TRACED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct traced {
  pid_t pid;
  char stem[64]; // heaptide.<pid>[-N]
};

struct traced_list {
  struct traced *table;
  size_t count, capacity;
};

// Those of `folder` that are there, by process number. False: it cannot be read (errno).
bool traced_find(const char *folder, struct traced_list *found);
void traced_free(struct traced_list *found);

// Has `pid` look for requests although none of its threads may allocate: by a signal to a thread where it does no harm
// (native/snapshot_request.h). False: no thread of it takes the signal, and it will look when it allocates.
bool traced_wake(pid_t pid);

#endif
