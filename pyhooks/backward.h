// PyTorch's backward passes: for whom, and for what line of the forward pass, a thread of the autograd engine works.
#ifndef HT_BACKWARD_H
#define HT_BACKWARD_H

#include "../native/behalf.h"

// The thread `tid` asks for the pass that the GraphTask `task` stands for, at `lines` (a node of the stack table).
void backward_asked(const void *task, uint32_t tid, uint32_t lines);

// The lines that a piece of work (a torch::autograd::Node, together with others of a GraphTask) is for: those that made
// it in the forward pass, and further out those that asked for the pass, where another thread did, else `outer`.
uint32_t backward_node(const struct behalf_work *work, uint32_t outer);

#endif
