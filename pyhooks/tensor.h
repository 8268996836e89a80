// Tensors of PyTorch and arrays of CuPy that lie on a GPU: the largest of those that the program reaches.
#ifndef HT_TENSOR_H
#define HT_TENSOR_H

#include "../native/report_holders.h"

#define TENSORS_MAX 32u

struct tensor {
  struct held_tensor held; // without its texts
  uint32_t node;           // in the graph of objects
};

// Looks through the graph (object_graph.h). Asks each object for its own attributes, which for these exact types are
// their libraries' own code; a subclass, whose attributes may be the program's, is passed over. Largest first; stays
// until the next call. The caller holds the GIL, its hooks pass calls through.
struct tensor *tensors_find(uint32_t *count);

#endif
