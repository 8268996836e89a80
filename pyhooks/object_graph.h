// The objects that the program reaches, found breadth first from its modules, then from its threads: so that each is
// reached by a shortest way. For each site the first of its blocks that is met is kept, with the way to it.
//
// Uses the types' tp_traverse, as the collector does: C code without side effects. Creates nothing.
#ifndef HT_OBJECT_GRAPH_H
#define HT_OBJECT_GRAPH_H

#include "../native/words.h"

enum graph_kind {
  GRAPH_OBJECT,
  GRAPH_MODULE,      // a root: a module as sys.modules has it
  GRAPH_FRAME,       // a root: a frame that a thread runs
  GRAPH_THREAD_DICT, // a root: a thread's values of one threading.local
};

struct graph_node {
  const void *object;   // GRAPH_FRAME: the interpreter's frame
  const void *thread;   // GRAPH_FRAME: the thread state that runs it
  uint32_t parent : 30; // who refers to it; 0: it is a root
  uint32_t kind : 2;
};

// Walks. The caller holds the GIL, its hooks pass calls through. False: there was no memory, nothing is found.
bool object_graph_walk(void);
// Whether it ended by itself, not by its limits of time and memory.
bool object_graph_complete(void);
// The node whose object is, or owns, the first block met of `site`; 0: none was met.
uint32_t object_graph_of_site(site_id site);
const struct graph_node *object_graph_node(uint32_t node);
uint32_t object_graph_end(void); // nodes are [1, end)
void object_graph_drop(void);

#endif
