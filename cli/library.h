// Where libheaptide.so is, and a name of it that LD_PRELOAD can hold.
#ifndef HT_LIBRARY_H
#define HT_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

struct library {
  char path[PATH_MAX];    // the library itself, absolute
  char preload[PATH_MAX]; // what to write into LD_PRELOAD: `path`, or a link to it
  char folder[PATH_MAX];  // the private folder that holds the link; "": none was needed
};

// Finds the library that belongs to this `heaptide`: beside it in a build tree, else in ../lib/heaptide.
bool library_find(struct library *library);

// Sets `preload`. LD_PRELOAD splits at spaces and colons and expands `$` (ld.so(8)): a path with one of these gets a
// link in a private temporary folder. False: that folder cannot be made, errno says why.
bool library_link(struct library *library);

// Removes what library_link made.
void library_unlink(const struct library *library);

#endif
