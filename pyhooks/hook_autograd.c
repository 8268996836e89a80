#include "hook_autograd.h"

#include "../native/core.h"
#include "autograd_library.h"
#include "backward.h"
#include "behalf_lines.h"

static bool following;

void hook_autograd_start(void) { following = true; }

// ---- a piece of work begins and ends

// A C++ exception that leaves evaluate_followed ends the work too: this is that function's personality routine
// ("Itanium C++ ABI: Exception Handling", 1.6.2 and 2.5.2), which catches nothing.
enum { UNWIND_CONTINUE = 8, UNWIND_CLEANUP_PHASE = 2 }; // _URC_CONTINUE_UNWIND, _UA_CLEANUP_PHASE
int evaluate_left(int version, int actions, uint64_t class, void *exception, void *context) __asm__("evaluate_left");
HT_HIDDEN int evaluate_left(int version, int actions, uint64_t class, void *exception, void *context) {
  (void)version, (void)class, (void)exception, (void)context;
  struct behalf_chain *chain = &thread_tls->behalf;
  if (actions & UNWIND_CLEANUP_PHASE && chain->work) chain->work = chain->work->outer;
  return UNWIND_CONTINUE;
}

// A detach and an attach in between make threads as new: then the work is not there to end.
static HT_NOINLINE void evaluate_followed(autograd_evaluate real, void *engine, void *const *task, void *node,
                                          void *inputs, void *queue) {
  __asm__ volatile(".cfi_personality 0x1b, evaluate_left"); // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  struct behalf_chain *chain = &thread_tls->behalf;
  struct behalf_work work = {.object = node, .group = *task, .outer = chain->work};
  chain->work = &work;
  real(engine, task, node, inputs, queue);
  if (chain->work == &work) chain->work = work.outer;
}

void evaluate(void *engine, void *const *task, void *node, void *inputs, void *queue) __asm__(AUTOGRAD_EVALUATE);
HT_EXPORT void evaluate(void *engine, void *const *task, void *node, void *inputs, void *queue) {
  autograd_evaluate real = autograd_real_evaluate();
  if (!real) return;
  if (following && thread_self())
    evaluate_followed(real, engine, task, node, inputs, queue);
  else
    real(engine, task, node, inputs, queue);
}

// ---- a pass begins: in the thread that asks for it, before any other works for it

static void pass_begins(const void *task) {
  struct thread *thread = thread_self();
  if (!thread || thread_busy(thread)) return;
  ht_hook_begin(thread);
  backward_asked(task, thread->tid, behalf_lines_here());
  ht_hook_end(thread);
}

void compute_dependencies(void *engine, void *root, void *task,
                          uint64_t minimum) __asm__(AUTOGRAD_COMPUTE_DEPENDENCIES);
HT_EXPORT void compute_dependencies(void *engine, void *root, void *task, uint64_t minimum) {
  autograd_compute_dependencies real = autograd_real_compute_dependencies();
  if (!real) return;
  if (following) pass_begins(task);
  real(engine, root, task, minimum);
}
