#include "c10_library.h"

#include <dlfcn.h>
#include <string.h>

#include "../native/library_function.h"

static void *report_function;

extern void hook(void) __asm__(C10_REPORT) __attribute__((visibility("default")));

void *c10_real_report(void) {
  void *function = __atomic_load_n(&report_function, __ATOMIC_ACQUIRE);
  if (likely(function != NULL)) return function;
  function = library_function_behind("libc10.so", C10_REPORT);
  __atomic_store_n(&report_function, function, __ATOMIC_RELEASE);
  return function;
}

bool c10_redirection(const char *name, struct got_redirection *found) {
  if (name[0] != '_' || !report_function || strcmp(name, C10_REPORT) != 0) return false;
  *found = (struct got_redirection){(void *)hook, report_function};
  return true;
}

void c10_library_closed(void) {
  Dl_info info;
  if (report_function && !dladdr(report_function, &info)) report_function = NULL;
}
