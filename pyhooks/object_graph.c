#include "object_graph.h"

#include <string.h>

#include "../native/growing.h"
#include "../native/live.h"
#include "collector_object.h"
#include "object_blocks.h"
#include "object_count.h"
#include "object_fields.h"
#include "object_map.h"
#include "object_types.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull
#define LIMIT_NS 2000000000ull
#define NODES_BETWEEN_LOOKS 4096u
#define NODES_MAX (1u << 25)

static struct {
  struct graph_node *nodes; // [1, count); those before `done` were looked into
  uint32_t count, capacity, done;
  uint32_t *seen; // open addressing: node numbers by object
  uint32_t seen_capacity;
  uint32_t *objects, *owners; // by site: the first object met of it, the first object met that owns a block of it
  uint32_t site_count;
  bool stopped;
} graph;

// ---- nodes

static uint32_t *seen_slot(const void *object) {
  uint32_t mask = graph.seen_capacity - 1, at = (uint32_t)(((uintptr_t)object >> 4) * MULTIPLIER >> 32) & mask;
  while (graph.seen[at] && graph.nodes[graph.seen[at]].object != object) at = (at + 1) & mask;
  return &graph.seen[at];
}

static bool seen_reserve(void) {
  if (graph.count * 2ul < graph.seen_capacity) return true;
  uint32_t capacity = graph.seen_capacity ? graph.seen_capacity * 2 : 1u << 16, *old = graph.seen;
  uint32_t *larger = sys_map(capacity * sizeof *larger);
  if (!larger) return false;
  size_t old_bytes = graph.seen_capacity * sizeof *old;
  graph.seen = larger;
  graph.seen_capacity = capacity;
  for (uint32_t i = 1; i < graph.count; i++) *seen_slot(graph.nodes[i].object) = i;
  if (old) sys_unmap(old, old_bytes);
  return true;
}

static void node_add(struct graph_node node) {
  if (graph.stopped || !node.object) return;
  bool room = graph.count < NODES_MAX && seen_reserve() &&
              growing_reserve((void **)&graph.nodes, &graph.capacity, graph.count + 1, sizeof *graph.nodes);
  if (!room) {
    graph.stopped = true;
    return;
  }
  uint32_t *slot = seen_slot(node.object);
  if (*slot) return;
  *slot = graph.count;
  graph.nodes[graph.count++] = node;
}

// ---- whose site a node's memory is

static void site_note(uint32_t *nodes, site_id site, uint32_t node) {
  if (site.value < graph.site_count && !nodes[site.value]) nodes[site.value] = node;
}

// `owner`'s node is `node`; 0: it has none.
static void owned_note(const struct block *block, const void *owner, uint32_t node) {
  site_note(graph.owners, block->site, node);
  object_types_add_buffer(block, owner);
}

static void buffers_note(const void *object, uint32_t node) { object_buffers_each(object, owned_note, node); }

// ---- edges

// Most objects refer to no others: one of each site will do. Each is counted when it is met first.
static bool is_one_of_many(const void *object) {
  if (collector_object_is_container(object)) return false;
  if (!object_types_first((uintptr_t)object)) return true;
  site_id site = object_types_add_object(object);
  if (!site.value || site.value >= graph.site_count || !graph.objects[site.value]) return false;
  buffers_note(object, 0);
  return true;
}

static int visit(void *object, void *parent) {
  if (object && is_one_of_many(object)) return 0;
  node_add((struct graph_node){.object = object, .parent = (uint32_t)(uintptr_t)parent});
  return 0;
}

static void frame_visit(const char *frame, uint32_t node) {
  size_t count;
  void *const *variables = frame_variables(frame, frame_read(&frame_layout, frame).code, &count);
  for (size_t i = 0; i < count; i++) visit(frame_variable(variables[i]), (void *)(uintptr_t)node);
}

// Types visit the items of a list or a tuple from its end; the first of equal ones is what one looks for.
static void items_visit(const void *object, uint32_t node) {
  enum object_sort sort = object_sort(object);
  void *sequence = (void *)object;
  if (sort != SORT_LIST && sort != SORT_TUPLE) return;
  ssize_t count = sort == SORT_LIST ? python.PyList_Size(sequence) : python.PyTuple_Size(sequence);
  for (ssize_t i = 0; i < count; i++)
    visit(sort == SORT_LIST ? python.PyList_GetItem(sequence, i) : python.PyTuple_GetItem(sequence, i),
          (void *)(uintptr_t)node);
}

static void node_look(uint32_t index) {
  const struct graph_node node = graph.nodes[index];
  if (node.kind == GRAPH_FRAME) return frame_visit(node.object, index);
  bool container = collector_object_is_container(node.object);
  site_note(graph.objects,
            container ? object_types_add_object(node.object) : object_block_at((uintptr_t)node.object).site, index);
  items_visit(node.object, index); // what else such an object refers to comes after
  python_traverse traverse = container ? collector_object_traverse(node.object) : NULL;
  if (traverse) traverse((void *)node.object, visit, (void *)(uintptr_t)index);
  buffers_note(node.object, index); // last: what is an object of its own has been met by now
}

static void reach_all(uint64_t deadline_ns) {
  for (; graph.done < graph.count && !graph.stopped; graph.done++) {
    node_look(graph.done);
    if (graph.done % NODES_BETWEEN_LOOKS == 0 && sys_tick_ns() > deadline_ns) graph.stopped = true;
  }
}

// ---- roots

// The program's own module first: what several modules name is called by that one's name.
static void modules_add(void) {
  void *modules = python.PyImport_GetModuleDict(), *key, *module;
  for (int pass = 0; modules && pass < 2; pass++)
    for (ssize_t position = 0; python.PyDict_Next(modules, &position, &key, &module);)
      if (string_is(key, "__main__") == (pass == 0) && object_sort(module) == SORT_MODULE)
        node_add((struct graph_node){.object = module, .kind = GRAPH_MODULE});
}

static void frames_add(void *thread_state) {
  struct running_frame read;
  for (const char *frame = frame_innermost(&frame_layout, thread_state); frame; frame = frame_outside(frame))
    if (running_frame_at(frame, &read))
      node_add((struct graph_node){.object = frame, .thread = thread_state, .kind = GRAPH_FRAME});
}

// PyThreadState.dict, Include/cpython/pystate.h. From 3.13 on a threading.local holds the dicts of all threads itself;
// before, each is in an object `_thread._localdummy` (localdict, Modules/_threadmodule.c) in the thread's dict.
static uint16_t thread_dict_offset(void) { return python.minor <= 10 ? 152 : python.minor == 11 ? 128 : 112; }
#define DUMMY_DICT 16

static void thread_dicts_add(void *thread_state) {
  void *dict = python.minor <= 12 ? field_pointer(thread_state, thread_dict_offset()) : NULL, *key, *value;
  for (ssize_t position = 0; dict && python.PyDict_Next(dict, &position, &key, &value);)
    if (strcmp(object_type_name(value), "_localdummy") == 0)
      node_add((struct graph_node){.object = field_pointer(value, DUMMY_DICT), .kind = GRAPH_THREAD_DICT});
}

static void threads_each(void (*visit_thread)(void *thread_state)) {
  struct python_thread_links *mine = python.thread_state(), *state;
  for (state = mine; state; state = state->next) visit_thread(state);
  for (state = mine ? mine->previous : NULL; state; state = state->previous) visit_thread(state);
}

bool object_graph_walk(void) {
  object_graph_drop();
  object_types_begin();
  uint64_t deadline_ns = sys_tick_ns() + LIMIT_NS;
  graph.count = graph.done = 1; // 0: no node
  graph.site_count = site_count;
  graph.objects = sys_map(graph.site_count * sizeof *graph.objects);
  graph.owners = sys_map(graph.site_count * sizeof *graph.owners);
  if (!graph.objects || !graph.owners) return false;
  modules_add();
  reach_all(deadline_ns);
  threads_each(frames_add);
  threads_each(thread_dicts_add);
  reach_all(deadline_ns);
  return graph.nodes != NULL;
}

bool object_graph_complete(void) { return !graph.stopped; }

uint32_t object_graph_of_site(site_id site) {
  if (site.value >= graph.site_count) return 0;
  return graph.objects[site.value] ? graph.objects[site.value] : graph.owners[site.value];
}

uint32_t object_graph_end(void) { return graph.count; }
const struct graph_node *object_graph_node(uint32_t node) { return &graph.nodes[node]; }

void object_graph_drop(void) {
  object_types_drop();
  if (graph.nodes) sys_unmap(graph.nodes, graph.capacity * sizeof *graph.nodes);
  if (graph.seen) sys_unmap(graph.seen, graph.seen_capacity * sizeof *graph.seen);
  if (graph.objects) sys_unmap(graph.objects, graph.site_count * sizeof *graph.objects);
  if (graph.owners) sys_unmap(graph.owners, graph.site_count * sizeof *graph.owners);
  memset(&graph, 0, sizeof graph);
}
