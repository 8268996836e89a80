#include "chain.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "holders.h"
#include "memory.h"

// ---- names

// gcc's clones (gcc/ipa-*.cc, the names in `clone_function_name`), LLVM's promoted and split functions.
static const char *const appendages[] = {".constprop.", ".isra.", ".part.",  ".cold",
                                         ".lto_priv.",  ".llvm.", ".clone.", " [clone "};

// Rust's legacy mangling ends in a hash of the crate: `::h` and 16 hexadecimal digits.
static size_t rust_hash_start(const char *name, size_t length) {
  enum { HASH_LENGTH = 3 + 16 };
  if (length <= HASH_LENGTH || strncmp(name + length - HASH_LENGTH, "::h", 3) != 0) return length;
  for (size_t i = length - HASH_LENGTH + 3; i < length; i++)
    if (!isxdigit((unsigned char)name[i])) return length;
  return length - HASH_LENGTH;
}

char *function_name_plain(const char *function) {
  size_t length = strlen(function);
  for (size_t i = 0; i < sizeof appendages / sizeof *appendages; i++) {
    const char *at = strstr(function, appendages[i]);
    if (at && at > function && (size_t)(at - function) < length) length = (size_t)(at - function);
  }
  return memory_text(function, rust_hash_start(function, length));
}

static char *native_name(const struct shown_frame *frame, chain_same_build *same_build, const void *context) {
  if (frame->function) return function_name_plain(frame->function);
  if (!frame->module) return memory_format("[unknown]");
  if (!same_build(context, frame->module)) return memory_format("[%s]", path_name(frame->module));
  return memory_format("[%s+0x%llx]", path_name(frame->module), (unsigned long long)frame->offset);
}

// What stands for a frame in its chain. Python's functions with their file, as many are called `__init__`.
static char *link_name(const struct shown_frame *frame, chain_same_build *same_build, const void *context) {
  if (frame->language == LANGUAGE_PYTHON)
    return memory_format("%s:%s", frame->file ? path_name(frame->file) : "", frame->function ? frame->function : "");
  if (frame->language == LANGUAGE_JIT && strncmp(frame->function, "[anonymous code", strlen("[anonymous code")) == 0)
    return memory_format("[anonymous code]"); // its address is another one in each run
  return native_name(frame, same_build, context);
}

static bool is_nameless(const struct shown_frame *frame, chain_same_build *same_build, const void *context) {
  return frame->language == LANGUAGE_NATIVE && !frame->function && !frame->runtime &&
         !(frame->module && same_build(context, frame->module));
}

// ---- chains kept once

static size_t link_place(const struct chains *chains, struct chain_link link) {
  uint64_t hash =
      hash_bytes(hash_bytes(HASH_START, &link.parent, sizeof link.parent), &link.function, sizeof link.function);
  size_t place = hash & (chains->table_capacity - 1);
  for (uint32_t at; (at = chains->table[place]);) {
    if (chains->links[at].parent == link.parent && chains->links[at].function == link.function) break;
    place = (place + 1) & (chains->table_capacity - 1);
  }
  return place;
}

static void table_double(struct chains *chains) {
  free(chains->table);
  chains->table_capacity = chains->table_capacity ? chains->table_capacity * 2 : 4096;
  chains->table = memory_get(chains->table_capacity, sizeof *chains->table);
  for (size_t i = 1; i < chains->count; i++) chains->table[link_place(chains, chains->links[i])] = (uint32_t)i;
}

// The chain `parent` with one function more; the same one where that function stands innermost already.
static uint32_t link_keep(struct chains *chains, uint32_t parent, const char *function,
                          const struct shown_frame *frame) {
  struct chain_link link = {parent, function, frame};
  if (parent && chains->links[parent].function == function) return parent;
  if (chains->count * 2 >= chains->table_capacity) table_double(chains);
  size_t place = link_place(chains, link);
  if (chains->table[place]) return chains->table[place];
  chains->links = memory_grow(chains->links, chains->count, &chains->capacity, sizeof *chains->links);
  chains->links[chains->count] = link;
  chains->table[place] = (uint32_t)chains->count++;
  return chains->table[place];
}

void chains_make(struct chains *chains) {
  *chains = (struct chains){0};
  chains->links = memory_grow(NULL, 0, &chains->capacity, sizeof *chains->links);
  chains->links[chains->count++] = (struct chain_link){0};
}

void chains_free(struct chains *chains) {
  free(chains->links);
  free(chains->table);
  pool_free(&chains->texts);
  *chains = (struct chains){0};
}

// ---- a report's stacks

struct frame_part {
  const char *name; // pooled
  bool nameless;
};

static struct frame_part *frame_parts_make(struct chains *chains, const struct stacks *stacks,
                                           chain_same_build *same_build, const void *context) {
  struct frame_part *parts = memory_get(stacks->frame_count, sizeof *parts);
  for (size_t i = 0; i < stacks->frame_count; i++) {
    char *name = link_name(&stacks->frames[i], same_build, context);
    parts[i] =
        (struct frame_part){pool_text(&chains->texts, name), is_nameless(&stacks->frames[i], same_build, context)};
    free(name);
  }
  return parts;
}

struct stack_chains stack_chains_make(struct chains *chains, const struct stacks *stacks, chain_same_build *same_build,
                                      const void *context) {
  struct stack_chains made = {memory_get(stacks->node_count, sizeof *made.own),
                              memory_get(stacks->node_count, sizeof *made.all),
                              memory_get(stacks->node_count, sizeof *made.nameless)};
  struct frame_part *parts = frame_parts_make(chains, stacks, same_build, context);
  for (size_t i = 1; i < stacks->node_count; i++) { // a parent comes before its children
    const struct shown_node *node = &stacks->nodes[i];
    const struct shown_frame *frame = &stacks->frames[node->frame];
    const struct frame_part *part = &parts[node->frame];
    made.own[i] = made.own[node->parent];
    made.all[i] = made.all[node->parent];
    made.nameless[i] = made.nameless[node->parent] || part->nameless;
    if (frame->language == LANGUAGE_NONE) continue; // `[truncated]` says nothing of the function that stood there
    made.all[i] = link_keep(chains, made.all[i], part->name, frame);
    if (!frame->runtime) made.own[i] = link_keep(chains, made.own[i], part->name, frame);
  }
  free(parts);
  return made;
}

void stack_chains_free(struct stack_chains *stack_chains) {
  free(stack_chains->own);
  free(stack_chains->all);
  free(stack_chains->nameless);
}
