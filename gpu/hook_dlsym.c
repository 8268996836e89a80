// dlsym and dlvsym: programs that load HIP themselves get the wrappers.
//
// RTLD_NEXT and RTLD_DEFAULT go by the caller, and what is not found has to stay so: for every name but HIP's the hook
// jumps on to the C library's own with the caller's return address in place. For HIP's, too, when the caller wants
// the next one behind itself (a library that sits between the program and HIP).
#include <dlfcn.h>

#include "../native/real.h"
#include "hip_library.h"

// Asked on every dlsym of the program: three comparisons for most names. Behind the program comes this library, unless
// it was loaded late.
__attribute__((used)) static bool dlsym_is_ours(void *handle, const char *name, void *caller) {
  real_ready();
  if (name[0] != 'h' || name[1] != 'i' || name[2] != 'p' || hip_function_named(name) < 0) return false;
  return handle != RTLD_NEXT || (hip_caller_is_program(caller) && !got_is_attached());
}

// A wrapper was found where the scope begins with this library: then it says nothing about what else is there. Nothing
// was found by default: there may be something in the caller's own scope, which was not looked into from here.
static void *found_for(void *found, void *handle, const char *name, const char *version, void *caller) {
  if (found ? hip_is_wrapper(found) : handle == RTLD_DEFAULT) found = hip_visible(name, version, caller);
  return hip_wrapped(name, found);
}

__attribute__((used)) static void *dlsym_found(void *handle, const char *name, void *caller) {
  return found_for(real_dlsym(handle, name), handle, name, NULL, caller);
}

__attribute__((used)) static void *dlvsym_found(void *handle, const char *name, const char *version, void *caller) {
  return found_for(real_dlvsym(handle, name, version), handle, name, version, caller);
}

// Keeps the arguments, asks, and jumps.
__attribute__((naked)) HT_EXPORT void *dlsym(void *handle __attribute__((unused)),
                                             const char *name __attribute__((unused))) {
  __asm__("pushq %rdi\n\t"
          "pushq %rsi\n\t"
          "subq $8, %rsp\n\t"
          "movq 24(%rsp), %rdx\n\t"
          "call dlsym_is_ours\n\t"
          "addq $8, %rsp\n\t"
          "popq %rsi\n\t"
          "popq %rdi\n\t"
          "movq (%rsp), %rdx\n\t"
          "testb %al, %al\n\t"
          "jnz dlsym_found\n\t"
          "jmp *real_dlsym(%rip)");
}

__attribute__((naked)) HT_EXPORT void *dlvsym(void *handle __attribute__((unused)),
                                              const char *name __attribute__((unused)),
                                              const char *version __attribute__((unused))) {
  __asm__("pushq %rdi\n\t"
          "pushq %rsi\n\t"
          "pushq %rdx\n\t"
          "movq 24(%rsp), %rdx\n\t"
          "call dlsym_is_ours\n\t"
          "popq %rdx\n\t"
          "popq %rsi\n\t"
          "popq %rdi\n\t"
          "movq (%rsp), %rcx\n\t"
          "testb %al, %al\n\t"
          "jnz dlvsym_found\n\t"
          "jmp *real_dlvsym(%rip)");
}
