#include "importing_frame.h"

#include <string.h>

#include "frame_chain.h"
#include "python_name.h"

static bool is_of_system(const char *code) {
  const void *file = field_pointer(code, frame_layout.code_filename);
  return python_string_is(file, "<frozen importlib._bootstrap>") ||
         python_string_is(file, "<frozen importlib._bootstrap_external>");
}

// importlib.import_module, through which programs import by a name: the import is its caller's.
static bool is_function_for_it(const char *code) {
  return running_frame_code_is(code, "import_module", "import_module", "importlib/__init__.py");
}

// Whether code objects are the import system's, by address: its own live as long as the interpreter, so that no other
// code takes their address, nor they another's. Bit 0: it is.
#define KNOWN 512u
static uintptr_t known[KNOWN];

bool importing_code(const char *code) {
  uintptr_t address = (uintptr_t)code, *entry = &known[(address >> 4 ^ address >> 13) % KNOWN];
  if (unlikely(!code)) return false;
  if (unlikely((*entry & ~1ul) != address)) *entry = address | (running_frame_is_code(code) && is_of_system(code));
  return *entry & 1;
}

static bool imports(const char *frame) {
  return !frame_is_shim(&frame_layout, frame) && importing_code(frame_read(&frame_layout, frame).code);
}

// ---- the way out

// The frames next to the import system's innermost ones and what they led to. While all of them stand as they did, so
// do those further out, but for a function that imports in vain, called again as deep as before from another import.
#define NEAR 24u
static struct {
  struct chain_link links[NEAR];
  uint32_t count; // 0: nothing is remembered
  bool found;
  struct running_frame importing;
} last;

static void near_take(const char *frame) {
  for (last.count = 0; frame && last.count < NEAR; frame = frame_outside(frame))
    last.links[last.count++] = (struct chain_link){frame, chain_instruction(&frame_layout, frame)};
}

static bool near_is_last(const char *frame) {
  if (!last.count) return false;
  for (uint32_t i = 0; i < last.count; i++, frame = frame_outside(frame))
    if (frame != last.links[i].frame || chain_instruction(&frame_layout, frame) != last.links[i].instruction)
      return false;
  return last.count == NEAR || !frame;
}

// `frame` is the first one outside of the import system's innermost ones.
static bool outermost_find(const char *frame, struct running_frame *importing) {
  const char *outermost = frame;
  bool within = false;
  for (; frame; frame = frame_outside(frame)) {
    if (frame_is_shim(&frame_layout, frame)) continue;
    bool again = imports(frame);
    if (within && !again) outermost = frame;
    within = again;
  }
  for (; outermost; outermost = frame_outside(outermost))
    if (running_frame_at(outermost, importing) && !is_function_for_it(importing->code)) return !imports(outermost);
  return false;
}

bool importing_frame_find(const void *thread_state, struct running_frame *importing) {
  const char *frame = frame_innermost(&frame_layout, thread_state);
  while (frame && !imports(frame)) frame = frame_outside(frame); // one that is still being set up
  while (frame && (frame_is_shim(&frame_layout, frame) || imports(frame))) frame = frame_outside(frame);
  if (!frame) return false;
  if (!near_is_last(frame)) {
    last.found = outermost_find(frame, &last.importing);
    near_take(frame);
  }
  *importing = last.importing;
  return last.found;
}

void importing_begin_again(void) {
  memset(known, 0, sizeof known);
  last.count = 0;
}
