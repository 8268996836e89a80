#include "importing_frame.h"

#include <string.h>

#include "string_object.h"

static const char *const files[] = {"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"};
#define FILES (sizeof files / sizeof *files)

static bool string_is(const void *string, const char *text, size_t skipped) {
  size_t length = strlen(text), i = 0;
  while (i < length && python.PyUnicode_ReadChar((void *)string, (ssize_t)(skipped + i)) == (uint8_t)text[i]) i++;
  return i == length;
}

static bool ends_in(const void *string, const char *text) {
  size_t length = string ? (size_t)python.PyUnicode_GetLength((void *)string) : 0, wanted = strlen(text);
  return length >= wanted && string_is(string, text, length - wanted);
}

static bool is_code(const char *object) { return ((const struct python_object *)object)->type == python.code_type; }

static bool is_of_system(const char *code) {
  const void *string = field_pointer(code, frame_layout.code_filename);
  for (size_t i = 0; string && i < FILES; i++) {
    bool same_length = string_object_length(string) == strlen(files[i]);
    if (same_length && string_is(string, files[i], 0)) return true;
  }
  return false;
}

// importlib.import_module, through which programs import by a name: the import is its caller's.
static bool is_function_for_it(const char *code) {
  const void *name = field_pointer(code, frame_layout.code_name);
  const void *file = field_pointer(code, frame_layout.code_filename);
  return name && ends_in(name, "import_module") && ends_in(file, "importlib/__init__.py");
}

// What is known of code objects, by address. The import system's live as long as the interpreter, so that no other
// code takes their address, nor they another's.
enum importing_kind { IMPORTING_NONE, IMPORTING_SYSTEM, IMPORTING_FUNCTION };
#define KIND_BITS 7ul // below the address of an object
#define KNOWN 512u
static uintptr_t known[KNOWN];

static enum importing_kind kind_of(const char *code) {
  uintptr_t address = (uintptr_t)code, *entry = &known[(address >> 4 ^ address >> 13) % KNOWN];
  if (likely((*entry & ~KIND_BITS) == address)) return (enum importing_kind)(*entry & KIND_BITS);
  enum importing_kind kind = IMPORTING_NONE;
  if (is_code(code)) kind = is_of_system(code) ? IMPORTING_SYSTEM : is_function_for_it(code) ? IMPORTING_FUNCTION : 0;
  *entry = address | kind;
  return kind;
}

bool importing_code(const char *code) { return kind_of(code) == IMPORTING_SYSTEM; }

bool importing_frame_find(const void *thread_state, struct running_frame *importing) {
  const char *outermost = NULL;
  bool within = false;
  for (const char *frame = frame_innermost(&frame_layout, thread_state); frame; frame = frame_outside(frame)) {
    if (frame_is_shim(&frame_layout, frame)) continue;
    enum importing_kind kind = kind_of(frame_read(&frame_layout, frame).code);
    bool imports = kind == IMPORTING_SYSTEM || (within && kind == IMPORTING_FUNCTION);
    if (within && !imports) outermost = frame;
    within = imports;
  }
  for (; outermost; outermost = frame_outside(outermost))
    if (running_frame_at(outermost, importing)) return true;
  return false;
}

void importing_begin_again(void) { memset(known, 0, sizeof known); }
