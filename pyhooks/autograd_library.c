#include "autograd_library.h"

#include <string.h>

#include "../native/got.h"
#include "../native/library_function.h"

enum { EVALUATE, COMPUTE_DEPENDENCIES, FUNCTIONS };
static const char *const names[FUNCTIONS] = {AUTOGRAD_EVALUATE, AUTOGRAD_COMPUTE_DEPENDENCIES};
static void *real[FUNCTIONS];

extern void evaluate_hook(void) __asm__(AUTOGRAD_EVALUATE) __attribute__((visibility("default")));
extern void dependencies_hook(void) __asm__(AUTOGRAD_COMPUTE_DEPENDENCIES) __attribute__((visibility("default")));
static void (*const hooks[FUNCTIONS])(void) = {evaluate_hook, dependencies_hook};

static void *found(int function) {
  return library_function_behind(&real[function], "libtorch_cpu.so", names[function]);
}

autograd_evaluate autograd_real_evaluate(void) { return (autograd_evaluate)found(EVALUATE); }
autograd_compute_dependencies autograd_real_compute_dependencies(void) {
  return (autograd_compute_dependencies)found(COMPUTE_DEPENDENCIES);
}

void autograd_library_closed(void) {
  for (int i = 0; i < FUNCTIONS; i++) library_function_closed(&real[i]);
}

// ---- bound calls

static void redirections_look(void) {
  for (int i = 0; i < FUNCTIONS; i++) found(i);
}

static bool redirection_find(const char *name, struct got_redirection *redirection) {
  for (int i = 0; name[0] == '_' && i < FUNCTIONS; i++) {
    if (!real[i] || strcmp(name, names[i]) != 0) continue;
    *redirection = (struct got_redirection){(void *)hooks[i], real[i]};
    return true;
  }
  return false;
}

void autograd_library_add_front(void) {
  static const struct got_front front = {redirections_look, redirection_find};
  got_add_front(&front);
}
