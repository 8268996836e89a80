#include "graphs.h"

#include "../native/lock.h"
#include "streams.h"

// By number, and not by the handle: that may be another graph's as soon as this one is destroyed, and executables keep
// its memory longer.
static uintptr_t graphs_numbered;

static uintptr_t graph_number_locked(uintptr_t graph) {
  const struct gpu_block *known = block_find_locked(SPACE_GRAPH, graph);
  if (known) return known->owner;
  struct gpu_block object = {.key = graph, .owner = ++graphs_numbered, .space = SPACE_GRAPH, .kind = GPU_NOT_COUNTED};
  struct gpu_block memory = {.key = graphs_numbered, .space = SPACE_GRAPH_MEMORY, .kind = GPU_NOT_COUNTED};
  memory.references = 1;
  block_put_locked(&object);
  block_put_locked(&memory);
  return object.owner;
}

void made_in_graph(struct hip_call *call, void *pointer, uint64_t size_bytes, void *graph, int device) {
  if (!size_bytes || !graph || !call_record_begin(call)) return;
  lock_take(thread_front_lock());
  uintptr_t number = graph_number_locked((uintptr_t)graph);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
  account_add(call, (struct gpu_block){.key = (uintptr_t)pointer,
                                       .size_bytes = size_bytes,
                                       .owner = number,
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
  uintptr_t number;
  uintptr_t found_key; // of a block of its
};

static bool graph_block_look(struct gpu_block *block, void *context) {
  struct graph_end *end = context;
  bool is_its = block->space == SPACE_POINTER && (block->flags & GPU_BLOCK_GRAPH) && block->owner == end->number;
  if (is_its && !end->found_key) end->found_key = block->key;
  return true;
}

static void graph_blocks_end_locked(struct thread *thread, uintptr_t number) {
  struct graph_end end = {.number = number};
  do {
    end.found_key = 0;
    block_each_locked(graph_block_look, &end);
    if (end.found_key) account_remove_locked(thread, block_find_locked(SPACE_POINTER, end.found_key), false);
  } while (end.found_key);
}

static void graph_drop_locked(struct thread *thread, uintptr_t number) {
  struct gpu_block *memory = block_find_locked(SPACE_GRAPH_MEMORY, number);
  if (!memory || --memory->references) return;
  block_remove_locked(memory);
  graph_blocks_end_locked(thread, number);
}

// A graph or an executable: it holds the memory no more.
static void object_end_locked(struct thread *thread, enum gpu_space space, const void *handle) {
  struct gpu_block *object = block_find_locked(space, (uintptr_t)handle);
  if (!object) return;
  uintptr_t number = object->owner;
  block_remove_locked(object);
  graph_drop_locked(thread, number);
}

static void object_ended(struct hip_call *call, enum gpu_space space, const void *handle) {
  if (!handle || !call_record_begin(call)) return;
  lock_take(thread_front_lock());
  object_end_locked(call->thread, space, handle);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

void graph_ended(struct hip_call *call, void *graph) { object_ended(call, SPACE_GRAPH, graph); }
void graph_exec_ended(struct hip_call *call, void *exec) { object_ended(call, SPACE_GRAPH_EXEC, exec); }

static void exec_add_locked(uintptr_t exec, uintptr_t number) {
  struct gpu_block made = {.key = exec, .owner = number, .space = SPACE_GRAPH_EXEC, .kind = GPU_NOT_COUNTED};
  struct gpu_block *memory = block_find_locked(SPACE_GRAPH_MEMORY, number);
  if (memory && block_put_locked(&made)) block_find_locked(SPACE_GRAPH_MEMORY, number)->references++;
}

void graph_instantiated(struct hip_call *call, void *exec, void *graph) {
  if (!exec || !graph || !call_record_begin(call)) return;
  lock_take(thread_front_lock());
  object_end_locked(call->thread, SPACE_GRAPH_EXEC, exec); // one whose end was not seen
  const struct gpu_block *object = block_find_locked(SPACE_GRAPH, (uintptr_t)graph);
  if (object) exec_add_locked((uintptr_t)exec, object->owner);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

// ---- captured streams

struct capture {
  uint32_t stream;
  uintptr_t number;
  bool any;
};

static bool is_captured(const struct gpu_block *block, const struct capture *capture) {
  return block->space == SPACE_POINTER && (block->flags & GPU_BLOCK_GRAPH) && !block->owner &&
         block->stream == capture->stream;
}

static bool capture_look(struct gpu_block *block, void *context) {
  struct capture *capture = context;
  capture->any |= is_captured(block, capture);
  return true;
}

static bool capture_give(struct gpu_block *block, void *context) {
  const struct capture *capture = context;
  if (is_captured(block, capture)) block->owner = capture->number;
  return true;
}

// To `graph`; to none, and it is gone.
static void capture_end_locked(struct thread *thread, struct capture *capture, uintptr_t graph) {
  block_each_locked(capture_look, capture);
  if (!capture->any) return;
  capture->number = graph ? graph_number_locked(graph) : ++graphs_numbered;
  block_each_locked(capture_give, capture);
  if (!graph) graph_blocks_end_locked(thread, capture->number);
}

void capture_settled(struct hip_call *call, hip_status status, void *stream, void *const *graph) {
  bool over = status == HIP_SUCCESS || status == HIP_CAPTURE_INVALIDATED;
  if (!over || !call_record_begin(call)) return;
  lock_take(thread_front_lock());
  struct capture capture = {.stream = stream_find_locked(stream, gpu_current_device)};
  gpu_streams[capture.stream - 1].capturing = false;
  capture_end_locked(call->thread, &capture, status == HIP_SUCCESS ? (uintptr_t)*graph : 0);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}
