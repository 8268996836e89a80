// Preloaded before a shared libpython: the first answer of PyFrame_GetLineNumber that heaptide gets, which is what the
// reader of frames is compared with, is a line off. All others are libpython's own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

static int is_heaptide(void *caller) {
  Dl_info info;
  return dladdr(caller, &info) && strstr(info.dli_fname, "libheaptide");
}

int PyFrame_GetLineNumber(void *frame) {
  static int (*own)(void *);
  static int told;
  if (!own) *(void **)&own = dlsym(RTLD_NEXT, "PyFrame_GetLineNumber");
  int wrong = !told && is_heaptide(__builtin_return_address(0));
  told += wrong;
  return own(frame) + wrong;
}
