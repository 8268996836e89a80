// Loading and unloading of libraries.
//
// dlopen finds libraries by its caller's RUNPATH, so it is never called from here: the hook jumps on to the real one
// with the caller's return address in place. Only RTLD_DEEPBIND with a path (which no RUNPATH decides) is called,
// since the new library's calls must be redirected afterwards: they bind past every preloaded library. So do all
// libraries after attach.
#include <dlfcn.h>
#include <string.h>

#include "core.h"
#include "got.h"
#include "modules.h"
#include "real.h"
#include "rules.h"

__attribute__((used)) static void *dlopen_deep(const char *file, int flags) {
  void *handle = real.dlopen(file, flags);
  if (handle && thread_recording()) got_redirect_all();
  return handle;
}

__attribute__((used)) static bool dlopen_is_deep(const char *file, int flags) {
  return (flags & RTLD_DEEPBIND || got_is_attached()) && file && strchr(file, '/');
}

// Keeps the arguments, asks, and jumps.
__attribute__((naked)) HT_EXPORT void *dlopen(const char *file __attribute__((unused)),
                                              int flags __attribute__((unused))) {
  __asm__("pushq %rdi\n\t"
          "pushq %rsi\n\t"
          "subq $8, %rsp\n\t"
          "call dlopen_is_deep\n\t"
          "addq $8, %rsp\n\t"
          "popq %rsi\n\t"
          "popq %rdi\n\t"
          "testb %al, %al\n\t"
          "jnz dlopen_deep\n\t"
          "jmp *real_dlopen(%rip)");
}

// What was learnt about code that may be gone is forgotten.
HT_EXPORT int dlclose(void *handle) {
  real_ready();
  int result = real.dlclose(handle);
  if (result == 0 && thread_recording() && module_forget_gone()) rules_forget();
  if (result == 0) ht_close_hooks_run();
  return result;
}
