// The functions that heaptide stands in front of: what the program would have called without it.
#ifndef HT_REAL_H
#define HT_REAL_H

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "words.h"

// One table; X(result, name, arguments).
#define REAL_FUNCTIONS(X)                                                                                              \
  X(void *, malloc, (size_t))                                                                                          \
  X(void, free, (void *))                                                                                              \
  X(void *, calloc, (size_t, size_t))                                                                                  \
  X(void *, realloc, (void *, size_t))                                                                                 \
  X(void *, reallocarray, (void *, size_t, size_t))                                                                    \
  X(int, posix_memalign, (void **, size_t, size_t))                                                                    \
  X(void *, aligned_alloc, (size_t, size_t))                                                                           \
  X(void *, memalign, (size_t, size_t))                                                                                \
  X(void *, valloc, (size_t))                                                                                          \
  X(void *, pvalloc, (size_t))                                                                                         \
  X(void *, __libc_malloc, (size_t))                                                                                   \
  X(void, __libc_free, (void *))                                                                                       \
  X(void *, __libc_calloc, (size_t, size_t))                                                                           \
  X(void *, __libc_realloc, (void *, size_t))                                                                          \
  X(void *, __libc_memalign, (size_t, size_t))                                                                         \
  X(void *, __libc_valloc, (size_t))                                                                                   \
  X(void *, __libc_pvalloc, (size_t))                                                                                  \
  X(size_t, malloc_usable_size, (void *))                                                                              \
  X(void *, mmap, (void *, size_t, int, int, int, long))                                                               \
  X(int, munmap, (void *, size_t))                                                                                     \
  X(void *, mremap, (void *, size_t, size_t, int, ...))                                                                \
  X(int, mprotect, (void *, size_t, int))                                                                              \
  X(int, madvise, (void *, size_t, int))                                                                               \
  X(int, execve, (const char *, char *const[], char *const[]))                                                         \
  X(int, execvpe, (const char *, char *const[], char *const[]))                                                        \
  X(int, execveat, (int, const char *, char *const[], char *const[], int))                                             \
  X(int, fexecve, (int, char *const[], char *const[]))                                                                 \
  X(int, posix_spawn,                                                                                                  \
    (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],              \
     char *const[]))                                                                                                   \
  X(int, posix_spawnp,                                                                                                 \
    (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],              \
     char *const[]))                                                                                                   \
  X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                             \
  X(void *, dlopen, (const char *, int))                                                                               \
  X(int, dlclose, (void *))                                                                                            \
  X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                                               \
  X(int, setrlimit, (__rlimit_resource_t, const struct rlimit *))                                                      \
  X(int, prlimit, (pid_t, __rlimit_resource_t, const struct rlimit *, struct rlimit *))                                \
  X(void, _exit, (int))                                                                                                \
  X(int, __libc_start_main,                                                                                            \
    (int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *))            \
  X(void, exit, (int))

struct real_functions {
#define X(result, name, arguments) result(*name) arguments;
  REAL_FUNCTIONS(X)
#undef X
};
extern HT_HIDDEN struct real_functions real;
extern void *(*real_dlopen)(const char *, int); // for the jump in hook_dl.c
// The C library's dlsym and dlvsym: heaptide exports its own (gpu/hook_dlsym.c). RTLD_NEXT and RTLD_DEFAULT go by the
// caller, so the hooks jump here with the caller's return address in place.
extern void *(*real_dlsym)(void *, const char *);
extern void *(*real_dlvsym)(void *, const char *, const char *);

// Defined in hook_life.c; no header has it.
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

// The malloc family under the names that glibc exports for who stands in front of it; no header has them.
void *__libc_malloc(size_t size_bytes);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t item_bytes);
void *__libc_realloc(void *old, size_t size_bytes);
void *__libc_memalign(size_t alignment, size_t size_bytes);
void *__libc_valloc(size_t size_bytes);
void *__libc_pvalloc(size_t size_bytes);

// Resolves them all, once. Safe from the first call on: the allocator's come first, so that whatever dlsym itself
// allocates is served.
void real_resolve(void);

// Once more, for a library that was loaded late: what the program's calls lead to now.
void real_resolve_attached(void);

// Another malloc than heaptide's wins in this process (the executable brings its own): no heap block is seen.
bool real_malloc_passes_by(void);
// True when it is the executable itself that brings malloc.
bool real_malloc_is_executable(void);
// True when the program's allocator is the C library's own.
bool real_malloc_is_libc(void);
// [start, end) of the module that the program's malloc comes from.
extern uintptr_t real_allocator_start, real_allocator_end;

HT_INLINE void real_ready(void) {
  if (unlikely(!__atomic_load_n(&real.exit, __ATOMIC_ACQUIRE))) real_resolve();
}

#endif
