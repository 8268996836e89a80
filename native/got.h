// Redirects bound calls: global offset table entries that hold a real function get heaptide's instead. For modules
// that symbol interposition does not reach (RTLD_DEEPBIND).
#ifndef HT_GOT_H
#define HT_GOT_H

// In every loaded module but heaptide's own. Takes the loader's lock: never from a hook that an allocator may call.
void got_redirect_all(void);

#endif
