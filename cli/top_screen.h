// `heaptide top` on a terminal.
#ifndef HT_TOP_SCREEN_H
#define HT_TOP_SCREEN_H

#include <stdbool.h>

#include "watch.h"

// The processes of a folder, one of which is watched.
struct top {
  const char *folder;
  struct traced_list processes;
  size_t shown; // index
  struct watch watch;
};

// Until the user ends it. False: nothing is known of this terminal, and nothing was shown.
bool top_screen(struct top *top);

#endif
