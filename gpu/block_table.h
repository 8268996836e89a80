// The table of GPU blocks: what the HIP runtime handed out, by the name that it is given back by. The live map cannot
// hold them: their addresses are the GPU's, or no addresses at all.
// Pure data, under thread_front_lock().
#ifndef HT_BLOCK_TABLE_H
#define HT_BLOCK_TABLE_H

#include "../native/words.h"

// What a key is. A block is found only in its own space: handles and addresses may be equal.
enum gpu_space {
  SPACE_POINTER = 1,
  SPACE_ARRAY,
  SPACE_HANDLE, // physical memory (hipMemCreate)
  SPACE_MAPPING,
  SPACE_RESERVATION,
  SPACE_REGISTERED,
  SPACE_IPC,
  SPACE_EXTERNAL,
  SPACE_GRAPHICS,
  SPACE_POOL,         // no memory: which device a pool is on, in `owner` of what kind its blocks are
  SPACE_GRAPH,        // no memory: `owner` is its number
  SPACE_GRAPH_EXEC,   // no memory: `owner` is the number of its graph
  SPACE_GRAPH_MEMORY, // by number: `references` of the graph and of its executables
  SPACE_TENSOR,       // a piece of a framework's pool block
};

#define GPU_NOT_COUNTED HT_KIND_COUNT // in `kind`: an object that is no memory

// gpu_block.flags
#define GPU_BLOCK_IMPORTED 1u // another process's or interface's memory: no bytes of this process's
#define GPU_BLOCK_REGISTERED 2u
#define GPU_BLOCK_GRAPH 4u // made by a node of a graph
#define GPU_BLOCK_POOL 8u  // a framework hands out pieces of it

struct gpu_block {
  uintptr_t key; // 0: empty slot
  uint64_t size_bytes;
  uint64_t taken_bytes; // of them counted as pieces (SPACE_TENSOR)
  uintptr_t owner;      // mapping: its handle; graph's block: that one's number; not this process's, piece: its bytes
  site_id site;
  uint32_t stream; // index + 1 in the table of streams, 0: of no stream
  uint32_t references;
  uint8_t space, kind, flags, device;
};

// NULL: not there. The pointer holds until the next put or remove.
struct gpu_block *block_find_locked(enum gpu_space space, uintptr_t key);
// The block that is there under this key, or a new one with `*block`'s values. NULL: no memory.
struct gpu_block *block_put_locked(const struct gpu_block *block);
void block_remove_locked(struct gpu_block *block);
// Calls `visit` for each block; one that it answers false to is removed.
void block_each_locked(bool (*keep)(struct gpu_block *block, void *context), void *context);
// In the fork child: the parent's blocks are not this process's.
void blocks_forget(void);

#endif
