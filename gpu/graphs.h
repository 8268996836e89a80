// Memory of graphs. A node that allocates makes a block that lives until a node frees it, or until its graph and all
// executables made of it are gone.
#ifndef HT_GRAPHS_H
#define HT_GRAPHS_H

#include "account.h"

void made_in_graph(struct hip_call *call, void *pointer, uint64_t size_bytes, void *graph, int device);
void ended_in_graph(struct hip_call *call, void *pointer);
// What a node of any kind asks for, and of which device.
uint64_t asked_node(struct hip_call *call, const struct hip_node_parameters *about);
void graph_node_added(struct hip_call *call, void *graph, const struct hip_node_parameters *about);
void graph_instantiated(struct hip_call *call, void *exec, void *graph);
void graph_exec_ended(struct hip_call *call, void *exec);
void graph_ended(struct hip_call *call, void *graph);
// What was allocated on the stream while it was captured belongs to `*graph`; that of a capture that broke a rule is
// gone with it. Refused for another reason the capture goes on.
void capture_settled(struct hip_call *call, hip_status status, void *stream, void *const *graph);

#endif
