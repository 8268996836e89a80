#include "graphs.h"

#include "../native/lock.h"
#include "streams.h"

static void graph_hold_locked(uintptr_t graph) {
  struct gpu_block object = {.key = graph, .space = SPACE_GRAPH, .kind = GPU_NOT_COUNTED, .references = 1};
  if (graph) block_put_locked(&object); // one that is there stays
}

void made_in_graph(struct hip_call *call, void *pointer, uint64_t size_bytes, void *graph, int device) {
  if (!size_bytes || !call_record_begin(call)) return;
  lock_take(thread_front_lock());
  graph_hold_locked((uintptr_t)graph);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
  account_add(call, (struct gpu_block){.key = (uintptr_t)pointer,
                                       .size_bytes = size_bytes,
                                       .owner = (uintptr_t)graph,
                                       .space = SPACE_POINTER,
                                       .kind = HT_KIND_DEVICE,
                                       .flags = GPU_BLOCK_GRAPH,
                                       .device = device_index(device)});
}

void ended_in_graph(struct hip_call *call, void *pointer) {
  call_take(call, SPACE_POINTER, pointer);
  call_taken_end(call, HIP_SUCCESS);
}

uint64_t asked_node(struct hip_call *call, const struct hip_node_parameters *about) {
  if (about->type != HIP_NODE_ALLOC) return HOST_MEMORY;
  return asked_of(call, about->alloc.pool.device, about->alloc.size_bytes);
}

void graph_node_added(struct hip_call *call, void *graph, const struct hip_node_parameters *about) {
  if (about->type == HIP_NODE_ALLOC)
    made_in_graph(call, about->alloc.pointer, about->alloc.size_bytes, graph, about->alloc.pool.device);
  if (about->type == HIP_NODE_FREE) ended_in_graph(call, about->free_pointer);
}

// ---- the lives of graphs

struct graph_end {
  struct thread *thread;
  uintptr_t graph;
};

static bool graph_block_is(const struct gpu_block *block, uintptr_t graph) {
  return block->space == SPACE_POINTER && (block->flags & GPU_BLOCK_GRAPH) && block->owner == graph;
}

static uintptr_t found_key;

static bool graph_block_look(struct gpu_block *block, void *context) {
  const struct graph_end *end = context;
  if (!found_key && graph_block_is(block, end->graph)) found_key = block->key;
  return true;
}

static void graph_drop_locked(struct thread *thread, uintptr_t graph) {
  struct gpu_block *object = block_find_locked(SPACE_GRAPH, graph);
  if (!object || --object->references) return;
  block_remove_locked(object);
  struct graph_end end = {thread, graph};
  do {
    found_key = 0; // under the lock
    block_each_locked(graph_block_look, &end);
    if (found_key) account_remove_locked(thread, block_find_locked(SPACE_POINTER, found_key), false);
  } while (found_key);
}

void graph_instantiated(struct hip_call *call, void *exec, void *graph) {
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  struct gpu_block *object = block_find_locked(SPACE_GRAPH, (uintptr_t)graph);
  if (object) {
    object->references++;
    struct gpu_block made = {.key = (uintptr_t)exec, .owner = (uintptr_t)graph, .space = SPACE_GRAPH_EXEC};
    made.kind = GPU_NOT_COUNTED;
    if (exec) block_put_locked(&made);
  }
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

void graph_exec_ended(struct hip_call *call, void *exec) {
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  struct gpu_block *object = block_find_locked(SPACE_GRAPH_EXEC, (uintptr_t)exec);
  if (object) {
    uintptr_t graph = object->owner;
    block_remove_locked(object);
    graph_drop_locked(call->thread, graph);
  }
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

void graph_ended(struct hip_call *call, void *graph) {
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  graph_drop_locked(call->thread, (uintptr_t)graph);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

// ---- captured streams

struct capture {
  uint32_t stream;
  uintptr_t graph;
  bool any;
};

static bool capture_give(struct gpu_block *block, void *context) {
  struct capture *capture = context;
  if (block->space == SPACE_POINTER && (block->flags & GPU_BLOCK_GRAPH) && !block->owner &&
      block->stream == capture->stream) {
    block->owner = capture->graph;
    capture->any = true;
  }
  return true;
}

void capture_ended(struct hip_call *call, void *stream, void *graph) {
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  struct capture capture = {stream_find_locked(stream, gpu_current_device), (uintptr_t)graph, false};
  stream_capture_end_locked(&gpu_streams[capture.stream - 1]);
  block_each_locked(capture_give, &capture);
  if (capture.any) graph_hold_locked(capture.graph);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}
