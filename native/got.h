// Redirects bound calls: global offset table entries that hold a real function get heaptide's instead. For modules
// that symbol interposition does not reach (RTLD_DEEPBIND).
#ifndef HT_GOT_H
#define HT_GOT_H

#include "words.h"

// In every loaded module but heaptide's own; pages keep their protection. Without /proc nothing is redirected. Takes
// the loader's lock: never from a hook that an allocator may call.
void got_redirect_all(void);

// Functions of libraries that native does not know. Kept over a detach; each added once, by a constructor.
struct got_redirection {
  void *hook, *real;
};
struct got_front {
  void (*look)(void); // finds the real functions; called without the loader's locks
  // Holding one of them. False: not one of its names, or its library is not there.
  bool (*find)(const char *name, struct got_redirection *found);
};
void got_add_front(const struct got_front *front);

// After the library was loaded late: in every module, the C library itself included, and what each slot held is noted.
void got_attach(void);
bool got_is_attached(void);
// Puts every slot back.
void got_restore(void);

#endif
