#include "c10_library.h"

#include <string.h>

#include "../native/library_function.h"

static void *report_function;

extern void hook(void) __asm__(C10_REPORT) __attribute__((visibility("default")));

void *c10_real_report(void) { return library_function_behind(&report_function, "libc10.so", C10_REPORT); }

bool c10_redirection(const char *name, struct got_redirection *found) {
  if (name[0] != '_' || !report_function || strcmp(name, C10_REPORT) != 0) return false;
  *found = (struct got_redirection){(void *)hook, report_function};
  return true;
}

void c10_library_closed(void) { library_function_closed(&report_function); }
