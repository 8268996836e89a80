// Where the functions of PyTorch's autograd engine are that the hooks stand in front of: of namespace torch::autograd
// (torch/csrc/autograd/engine.h), called by libtorch_cpu by their names, mangled as in PyTorch 2.13. Another
// version that calls them otherwise is not followed.
#ifndef HT_AUTOGRAD_LIBRARY_H
#define HT_AUTOGRAD_LIBRARY_H

#include "../native/words.h"

// void Engine::evaluate_function(std::shared_ptr<GraphTask> &, Node *, InputBuffer &,
//                                const std::shared_ptr<ReadyQueue> &)
#define AUTOGRAD_EVALUATE                                                                                              \
  "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_"   \
  "INS0_10ReadyQueueEE"
typedef void (*autograd_evaluate)(void *engine, void *const *task, void *node, void *inputs, void *queue);

// void Engine::compute_dependencies(Node *, GraphTask &, uint64_t)
#define AUTOGRAD_COMPUTE_DEPENDENCIES "_ZN5torch8autograd6Engine20compute_dependenciesEPNS0_4NodeERNS0_9GraphTaskEm"
typedef void (*autograd_compute_dependencies)(void *engine, void *root, void *task, uint64_t minimum);

// NULL: nothing has it, so that nothing can have called the hook. At the entry of a hook: takes the loader's lock.
autograd_evaluate autograd_real_evaluate(void);
autograd_compute_dependencies autograd_real_compute_dependencies(void);

// Calls that are bound already are redirected after an attach. Once, by a constructor.
void autograd_library_add_front(void);
// After a dlclose.
void autograd_library_closed(void);

#endif
