// Which llvm-symbolizer programs this machine has, the preferred one first.
#ifndef HT_SYMBOLIZER_FIND_H
#define HT_SYMBOLIZER_FIND_H

#include <stdbool.h>
#include <stddef.h>

struct symbolizer_list {
  char **paths;
  size_t count, capacity;
  bool first_is_named; // by HEAPTIDE_SYMBOLIZER
};

// HEAPTIDE_SYMBOLIZER (also when it does not exist: the user is to hear of it), then PATH without and with a version
// suffix (newest first), then ROCm's, then the one in a mojo wheel. symbolizers_free gives the list back.
struct symbolizer_list symbolizers_find(void);
void symbolizers_free(struct symbolizer_list *list);

#endif
