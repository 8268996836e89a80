#include "object_holder.h"

#include <string.h>

#include "../native/count.h"
#include "../native/report_holders.h"
#include "../native/sys.h"
#include "../native/text.h"
#include "largest_sites.h"
#include "object_fields.h"
#include "object_graph.h"
#include "object_types.h"
#include "python_name.h"
#include "python_report.h"
#include "tensor.h"
#include "thread_title.h"

#define SITES_MAX 256u // sites that get a chain: the largest
#define TEXTS_MAX 12u  // a longer chain is cut
#define WORDS_MAX 512u // bytes of one text
#define KEY_MAX 48u    // bytes shown of a key
#define TEXT_BYTES ((SITES_MAX + TENSORS_MAX) * TEXTS_MAX * 64u)

static char *texts, *texts_end, *texts_at;
static struct held_site held[SITES_MAX];
static const char *held_texts[SITES_MAX][TEXTS_MAX];
static uint32_t held_count;
static struct held_tensor tensor_table[TENSORS_MAX];
static const char *tensor_texts[TENSORS_MAX][TEXTS_MAX];

// ---- words: a text that grows at its front, as the way is followed outwards

struct words {
  char text[WORDS_MAX];
  size_t start; // what was built is text[start..], NUL at its end
};

static void words_clear(struct words *words) {
  words->start = WORDS_MAX - 1;
  words->text[words->start] = 0;
}

static void words_front(struct words *words, const char *text) {
  size_t bytes = strlen(text);
  if (bytes > words->start) return; // what is nearest to the object is what tells most
  words->start -= bytes;
  memcpy(words->text + words->start, text, bytes);
}

static void words_front_string(struct words *words, const void *string) {
  char text[KEY_MAX];
  text[python_string_read(string, text, sizeof text - 1)] = 0;
  words_front(words, text);
}

static void words_front_number(struct words *words, long long value) {
  char buffer[24];
  struct text text;
  text_start(&text, buffer, sizeof buffer);
  text_add_decimal(&text, value < 0 ? -(uint64_t)value : (uint64_t)value);
  words_front(words, buffer);
  if (value < 0) words_front(words, "-");
}

// A key as it stands in the source, as far as that is short.
static void words_front_key(struct words *words, void *key) {
  enum object_sort sort = object_sort(key);
  int overflow = 0;
  words_front(words, "]");
  if (sort == SORT_TEXT) {
    words_front(words, "'");
    words_front_string(words, key);
    words_front(words, "'");
  } else if (sort == SORT_NUMBER) {
    long long value = python.PyLong_AsLongLongAndOverflow(key, &overflow);
    if (overflow)
      words_front(words, "...");
    else
      words_front_number(words, value);
  } else {
    words_front(words, object_type_name(key));
  }
  words_front(words, "[");
}

static void words_front_index(struct words *words, ssize_t index) {
  words_front(words, "]");
  words_front_number(words, index);
  words_front(words, "[");
}

// ---- the chain of one site

struct chain_texts {
  const char **texts;
  uint32_t count;
  struct words words;
};

// What was built becomes the chain's next text.
static void chain_end_text(struct chain_texts *chain) {
  size_t bytes = WORDS_MAX - chain->words.start;
  if (chain->count == TEXTS_MAX || (size_t)(texts_end - texts_at) < bytes) return;
  chain->texts[chain->count++] = memcpy(texts_at, chain->words.text + chain->words.start, bytes);
  texts_at += bytes;
  words_clear(&chain->words);
}

static const struct graph_node *outside(const struct graph_node *node) {
  return node->parent ? object_graph_node(node->parent) : NULL;
}

static bool is_local(const struct graph_node *node) {
  return node && node->kind == GRAPH_OBJECT && strcmp(object_type_name(node->object), "_local") == 0;
}

// A thread's values of a threading.local: from 3.13 on it is found in the object itself.
static bool is_thread_dict(const struct graph_node *node) {
  const struct graph_node *all = outside(node);
  return node->kind == GRAPH_THREAD_DICT || (all && is_local(outside(all)) && object_sort(all->object) == SORT_DICT);
}

static bool is_attribute_dict(const struct graph_node *node) {
  const struct graph_node *owner = outside(node);
  return owner && owner->kind <= GRAPH_MODULE && object_sort(owner->object) != SORT_DICT &&
         object_attributes_are(owner->object, node->object);
}

static void dict_step(struct chain_texts *chain, const struct graph_node *node, const void *value) {
  void *key, *item;
  ssize_t position = 0;
  while (python.PyDict_Next((void *)node->object, &position, &key, &item))
    if (item == value)
      break;
    else
      key = NULL;
  if (!key) return words_front(&chain->words, "[...]"); // it is a key itself
  bool attribute = object_sort(key) == SORT_TEXT && (is_attribute_dict(node) || is_thread_dict(node));
  if (!attribute) return words_front_key(&chain->words, key);
  words_front_string(&chain->words, key);
  words_front(&chain->words, is_thread_dict(node) ? "thread-local " : ".");
}

static void sequence_step(struct chain_texts *chain, const void *sequence, const void *value, bool is_list) {
  ssize_t count = is_list ? python.PyList_Size((void *)sequence) : python.PyTuple_Size((void *)sequence);
  for (ssize_t i = 0; i < count; i++) {
    void *item = is_list ? python.PyList_GetItem((void *)sequence, i) : python.PyTuple_GetItem((void *)sequence, i);
    if (item == value) return words_front_index(&chain->words, i);
  }
}

static void variable_front(struct chain_texts *chain, const void *name) {
  if (!name) return;
  words_front_string(&chain->words, name);
  words_front(&chain->words, ".");
}

// `<lambda>` of `make.<locals>.<lambda>`.
static void code_front(struct chain_texts *chain, const char *code) {
  char text[KEY_MAX];
  size_t bytes = code ? python_string_read(field_pointer(code, frame_layout.code_name), text, sizeof text - 1) : 0;
  text[bytes] = 0;
  const char *dot = strrchr(text, '.');
  words_front(&chain->words, dot ? dot + 1 : text);
}

// A function holds its free variables by a tuple of cells.
static void function_step(struct chain_texts *chain, const void *function, const void *cell) {
  variable_front(chain, closure_variable_of(function, cell));
  code_front(chain, object_code(function));
  chain_end_text(chain);
}

static void frame_step(struct chain_texts *chain, const char *frame, const void *value) {
  const char *code = frame ? frame_read(&frame_layout, frame).code : NULL;
  if (code) variable_front(chain, frame_variable_of(frame, code, value));
  code_front(chain, code);
  chain_end_text(chain);
}

static void owner_step(struct chain_texts *chain, const void *owner, const void *value) {
  struct attribute_name name = object_attribute_of(owner, value);
  if (name.text) words_front(&chain->words, name.text), words_front(&chain->words, ".");
  variable_front(chain, name.string);
  if (object_sort(owner) == SORT_TYPE)
    words_front(&chain->words, object_own_name(owner));
  else
    words_front(&chain->words, object_type_name(owner));
  chain_end_text(chain);
}

static void module_step(struct chain_texts *chain, const void *module) {
  const void *name = object_attribute(module, "__name__");
  if (name)
    words_front_string(&chain->words, name);
  else
    words_front(&chain->words, "module");
  chain_end_text(chain);
}

// The cell or object by which `node` was reached from further in, as its holder knows it.
static void step(struct chain_texts *chain, const struct graph_node *node, const struct graph_node *inner,
                 const struct graph_node *second_inner) {
  const void *object = node->object, *value = inner->object;
  if (node->kind == GRAPH_FRAME) return frame_step(chain, object, value);
  switch (object_sort(object)) {
  case SORT_DICT:
    return dict_step(chain, node, value);
  case SORT_LIST:
  case SORT_TUPLE:
    if (outside(node) && outside(node)->kind == GRAPH_OBJECT && object_sort(outside(node)->object) == SORT_FUNCTION &&
        object_sort(value) == SORT_CELL)
      return;
    return sequence_step(chain, object, value, object_sort(object) == SORT_LIST);
  case SORT_SET:
    return words_front(&chain->words, "{}");
  case SORT_CELL:
    return;
  case SORT_FUNCTION:
    return function_step(chain, object, second_inner ? second_inner->object : NULL);
  case SORT_GENERATOR:
    if (object_sort(value) == SORT_FRAME) return; // 3.10: the frame is an object of its own, and has said it
    return frame_step(chain, object_frame(object), value);
  case SORT_FRAME:
    return frame_step(chain, object_frame(object), value);
  case SORT_MODULE:
    return module_step(chain, object);
  default:
    return owner_step(chain, object, value);
  }
}

// ---- the root

static void frame_root(struct chain_texts *chain, const struct graph_node *node) {
  char name[THREAD_NAME_BYTES];
  words_front(&chain->words, ")");
  words_front(&chain->words, thread_title_of_state(node->thread, name) ? name : "[unnamed]");
  words_front(&chain->words, " (thread ");
  code_front(chain, frame_read(&frame_layout, node->object).code);
  words_front(&chain->words, "stack of ");
  chain_end_text(chain);
}

static uint32_t chain_make(const struct graph_node *node, const char **place) {
  struct chain_texts chain = {.texts = place};
  const struct graph_node *inner = node, *second_inner = NULL;
  words_clear(&chain.words);
  words_front(&chain.words, object_type_name(node->object));
  chain_end_text(&chain);
  if (node->kind == GRAPH_MODULE) module_step(&chain, node->object);
  for (node = outside(node); node; second_inner = inner, inner = node, node = outside(node)) {
    step(&chain, node, inner, second_inner);
    if (is_thread_dict(node) && object_sort(node->object) == SORT_DICT) break;
    if (node->kind == GRAPH_FRAME) frame_root(&chain, node);
  }
  if (chain.words.start < WORDS_MAX - 1) chain_end_text(&chain);
  return chain.count;
}

// ---- the largest sites

// Of those whose objects were met.
static void sites_choose(uint32_t end) {
  site_id sites[SITES_MAX];
  int64_t *live_bytes = sys_map(end * sizeof *live_bytes); // by site
  held_count = 0;
  if (!live_bytes) return;
  count_sites_live(live_bytes, 0, end);
  for (uint32_t id = 1; id < end; id++)
    if (id < SITE_FIRST || !object_graph_of_site((site_id){id})) live_bytes[id] = 0;
  held_count = largest_sites(live_bytes, end, sites, SITES_MAX);
  for (uint32_t i = 0; i < held_count; i++) held[i] = (struct held_site){.site = sites[i]};
  sys_unmap(live_bytes, end * sizeof *live_bytes);
}

static void types_keep(void) {
  site_id sites[SITES_MAX];
  for (uint32_t i = 0; i < held_count; i++) sites[i] = held[i].site;
  object_types_keep(TYPES_OF_LIVE, sites, held_count);
}

// ---- tensors on a GPU

static void tensors_name(void) {
  uint32_t count;
  struct tensor *found = tensors_find(&count);
  for (uint32_t i = 0; i < count; i++) {
    found[i].held.texts = tensor_texts[i];
    found[i].held.text_count = chain_make(object_graph_node(found[i].node), tensor_texts[i]);
    tensor_table[i] = found[i].held;
  }
  holders_tensors_set(tensor_table, count);
}

void object_holders_find(void) {
  if (!texts) texts = sys_map(TEXT_BYTES);
  if (!texts || running_frame_slow || !object_graph_walk()) return;
  texts_at = texts, texts_end = texts + TEXT_BYTES;
  sites_choose(site_count);
  for (uint32_t i = 0; i < held_count; i++) {
    held[i].texts = held_texts[i];
    held[i].count = chain_make(object_graph_node(object_graph_of_site(held[i].site)), held_texts[i]);
  }
  tensors_name();
  types_keep();
  if (!object_graph_complete())
    python_report_note("Who holds Python's objects, and of what types they are, was not searched further after 2 s.");
  object_graph_drop();
  holders_front_set(held, held_count);
}

void object_holders_fork_child(void) {
  holders_front_set(held, held_count = 0);
  holders_tensors_set(tensor_table, 0);
  object_types_fork_child();
}
