#include "object_fields.h"

#include <string.h>

#include "python_name.h"
// Offsets, one line a version: PyThreadState is not needed here.
//   PyCodeObject   Include/cpython/code.h. To 3.10 varnames, freevars, cellvars: tuples; from 3.11 localsplusnames: one
//                  tuple, the free variables being the last of it, and nlocalsplus, nfreevars: ints
//   frame          localsplus: Include/cpython/frameobject.h (to 3.10), Include/internal/pycore_frame.h
//   PyGenObject    Include/cpython/genobject.h: gi_frame (to 3.10), gi_iframe and gi_frame_state
//   PyFrameObject  from 3.11 f_frame, Include/internal/pycore_frame.h
//   PyHeapTypeObject  Include/cpython/object.h: ht_cached_keys
struct fields {
  uint16_t minor;
  uint16_t varnames, freevars, cellvars;
  uint16_t localsplusnames, nlocalsplus, nfreevars;
  uint16_t frame_variables, generator_frame, generator_state, frame_object_frame, cached_keys;
};
static const struct fields all_fields[] = {
    {9, 72, 80, 88, 0, 0, 0, 360, 16, 0, 0, 864},   {10, 72, 80, 88, 0, 0, 0, 352, 16, 0, 0, 872},
    {11, 0, 0, 0, 96, 76, 92, 72, 80, 75, 24, 872}, {12, 0, 0, 0, 96, 72, 88, 72, 72, 67, 24, 880},
    {13, 0, 0, 0, 96, 72, 88, 72, 72, 67, 24, 880}, {14, 0, 0, 0, 96, 72, 88, 80, 72, 67, 24, 880},
};
static const struct fields *fields(void) { return &all_fields[python.minor - all_fields[0].minor]; }

// PyTypeObject, Include/cpython/object.h: the same offsets in 3.9 to 3.14.
#define TYPE_NAME 24
#define TYPE_BASIC_SIZE 32
#define TYPE_FLAGS 168
#define TYPE_DICT 264
#define TYPE_DICT_OFFSET 288
#define VAR_SIZE 16 // PyVarObject.ob_size
// Py_TPFLAGS_*, Include/object.h.
#define FLAG_LONG (1ul << 24)
#define FLAG_LIST (1ul << 25)
#define FLAG_TUPLE (1ul << 26)
#define FLAG_UNICODE (1ul << 28)
#define FLAG_DICT (1ul << 29)
#define FLAG_TYPE (1ul << 31)
#define FLAG_HEAP_TYPE (1ul << 9)
#define FLAG_MANAGED_DICT (1ul << 4)  // since 3.11
#define FLAG_INLINE_VALUES (1ul << 2) // since 3.13

static void *pointer_at(const void *base, ssize_t offset) { return *(void *const *)((const char *)base + offset); }
static const char *type_of(const void *object) { return ((const struct python_object *)object)->type; }
static unsigned long type_flags(const char *type) { return *(const unsigned long *)(type + TYPE_FLAGS); }
static ssize_t type_number(const char *type, size_t offset) { return *(const ssize_t *)(type + offset); }

static enum object_sort sort_of_flags(unsigned long flags) {
  return flags & FLAG_DICT      ? SORT_DICT
         : flags & FLAG_LIST    ? SORT_LIST
         : flags & FLAG_TUPLE   ? SORT_TUPLE
         : flags & FLAG_UNICODE ? SORT_TEXT
         : flags & FLAG_LONG    ? SORT_NUMBER
         : flags & FLAG_TYPE    ? SORT_TYPE
                                : SORT_PLAIN;
}

enum object_sort object_sort(const void *object) {
  const void *type = type_of(object);
  enum object_sort sort = sort_of_flags(type_flags(type));
  if (sort != SORT_PLAIN) return sort;
  if (type == python.module_type) return SORT_MODULE;
  if (type == python.function_type) return SORT_FUNCTION;
  if (type == python.cell_type) return SORT_CELL;
  if (type == python.frame_type) return SORT_FRAME;
  for (int i = 0; i < 2; i++)
    if (type == python.set_types[i]) return SORT_SET;
  for (int i = 0; i < 3; i++)
    if (type == python.generator_types[i]) return SORT_GENERATOR;
  return SORT_PLAIN;
}

const char *object_own_name(const void *type) {
  const char *name = pointer_at(type, TYPE_NAME), *dot = strrchr(name, '.');
  return dot ? dot + 1 : name;
}
const char *object_type_name(const void *object) { return object_own_name(type_of(object)); }

size_t object_basic_bytes(const void *object) {
  ssize_t bytes = type_number(type_of(object), TYPE_BASIC_SIZE);
  return bytes > 0 ? (size_t)bytes : 0;
}

static bool is_string(const void *object) { return object && type_flags(type_of(object)) & FLAG_UNICODE; }

bool string_is(const void *object, const char *text) { return is_string(object) && python_string_is(object, text); }

// ---- attributes

// The dict of an instance: at the type's offset, or before the object (3.11 on; 3.12 sets bit 0 of what is no dict).
static void *instance_dict(const void *owner) {
  const char *type = type_of(owner);
  if (python.minor >= 11 && type_flags(type) & FLAG_MANAGED_DICT) {
    uintptr_t dict = (uintptr_t)pointer_at(owner, -3 * (ssize_t)sizeof(void *));
    return dict & 1 ? NULL : (void *)dict;
  }
  ssize_t offset = type_number(type, TYPE_DICT_OFFSET);
  return offset > 0 ? pointer_at(owner, offset) : NULL;
}

bool object_attributes_are(const void *owner, const void *dict) {
  switch (object_sort(owner)) {
  case SORT_MODULE:
    return python.PyModule_GetDict((void *)owner) == dict;
  case SORT_TYPE:
    return pointer_at(owner, TYPE_DICT) == dict;
  default:
    return instance_dict(owner) == dict;
  }
}

// The array of an instance's values, with as many names in the type's keys (PyDictKeysObject and PyDictValues,
// Include/internal/pycore_dict.h; _PyObject_InlineValues, Include/internal/pycore_object.h). NULL: it has none.
static void *const *instance_values(const void *owner) {
  const char *type = type_of(owner);
  unsigned long flags = type_flags(type);
  if (python.minor < 11 || !(flags & FLAG_MANAGED_DICT) || !(flags & FLAG_HEAP_TYPE)) return NULL;
  if (python.minor == 11) return pointer_at(owner, -4 * (ssize_t)sizeof(void *));
  if (python.minor == 12) {
    uintptr_t values = (uintptr_t)pointer_at(owner, -3 * (ssize_t)sizeof(void *));
    return values & 1 ? (void *const *)(values + 1) : NULL;
  }
  const uint8_t *inlined = (const uint8_t *)owner + sizeof(struct python_object);
  bool valid = flags & FLAG_INLINE_VALUES && inlined[3]; // capacity, size, embedded, valid; then the values
  return valid ? (void *const *)(inlined + sizeof(void *)) : NULL;
}

const void *object_values_block(const void *owner) { return python.minor <= 12 ? instance_values(owner) : NULL; }

#define KEYS_INDEX_BYTES 9 // dk_log2_index_bytes
#define KEYS_COUNT 24      // dk_nentries
#define KEYS_INDICES 32

static size_t instance_names(const void *owner, void *const **entries) {
  const char *keys = pointer_at(type_of(owner), fields()->cached_keys);
  if (!keys) return 0;
  *entries = (void *const *)(keys + KEYS_INDICES + ((size_t)1 << (uint8_t)keys[KEYS_INDEX_BYTES])); // (key, value) each
  return *(const size_t *)(keys + KEYS_COUNT);
}

// PyMemberDef, Include/descrobject.h; those of __slots__ follow the type (PyHeapType_GET_MEMBERS).
struct member {
  const char *name;
  int type;
  ssize_t offset;
  int flags;
  const char *doc;
};
#define MEMBER_OBJECT 16 // T_OBJECT_EX

static const char *slot_name(const void *owner, const void *value) {
  for (const char *type = type_of(owner); type; type = pointer_at(type, 256)) { // tp_base
    if (!(type_flags(type) & FLAG_HEAP_TYPE)) return NULL;
    const struct member *members = (const struct member *)(type + type_number(type_of(type), TYPE_BASIC_SIZE));
    for (ssize_t i = 0; i < *(const ssize_t *)(type + VAR_SIZE); i++)
      if (members[i].type == MEMBER_OBJECT && pointer_at(owner, members[i].offset) == value) return members[i].name;
  }
  return NULL;
}

struct attribute_name object_attribute_of(const void *owner, const void *value) {
  void *const *values = instance_values(owner), *const * names;
  size_t count = values ? instance_names(owner, &names) : 0;
  for (size_t i = 0; i < count; i++)
    if (values[i] == value) return (struct attribute_name){names[2 * i], NULL};
  return (struct attribute_name){NULL, slot_name(owner, value)};
}

void *object_item(void *dict, const char *name) {
  ssize_t position = 0;
  for (void *key, *value; python.PyDict_Next(dict, &position, &key, &value);)
    if (string_is(key, name)) return value;
  return NULL;
}

void *object_attribute(const void *owner, const char *name) {
  void *const *values = instance_values(owner), *const * names;
  size_t count = values ? instance_names(owner, &names) : 0;
  for (size_t i = 0; i < count; i++)
    if (values[i] && string_is(names[2 * i], name)) return values[i];
  void *dict = object_sort(owner) == SORT_MODULE ? python.PyModule_GetDict((void *)owner) : instance_dict(owner);
  return dict ? object_item(dict, name) : NULL;
}

// ---- variables

const char *object_frame(const void *object) {
  bool is_generator = object_sort(object) == SORT_GENERATOR;
  if (python.minor <= 10) return is_generator ? pointer_at(object, fields()->generator_frame) : object;
  if (!is_generator) return pointer_at(object, fields()->frame_object_frame);
  bool ended = ((const int8_t *)object)[fields()->generator_state] > 0; // FRAME_COMPLETED, FRAME_CLEARED
  return ended ? NULL : (const char *)object + fields()->generator_frame;
}

const char *object_code(const void *object) {
  if (object_sort(object) == SORT_FUNCTION) return python.PyFunction_GetCode((void *)object);
  const char *frame = object_frame(object);
  return frame ? frame_read(&frame_layout, frame).code : NULL;
}

static size_t tuple_count(const char *code, uint16_t offset) {
  return (size_t)python.PyTuple_Size(field_pointer(code, offset));
}

static size_t int_at(const char *code, uint16_t offset) { return (size_t) * (const int *)(code + offset); }

void *const *frame_variables(const char *frame, const char *code, size_t *count) {
  const struct fields *at = fields();
  *count = python.minor >= 11
               ? int_at(code, at->nlocalsplus)
               : tuple_count(code, at->varnames) + tuple_count(code, at->cellvars) + tuple_count(code, at->freevars);
  return (void *const *)(frame + at->frame_variables);
}

void *frame_variable(void *place) { return python.minor >= 14 ? (void *)((uintptr_t)place & ~FRAME_TAG_BITS) : place; }

const void *frame_self(const char *frame) {
  size_t count;
  void *const *variables = frame_variables(frame, frame_read(&frame_layout, frame).code, &count);
  return count ? frame_variable(variables[0]) : NULL;
}

// To 3.10 the variables are those of three tuples in a row.
static void *variable_name(const char *code, size_t index) {
  const struct fields *at = fields();
  if (python.minor >= 11) return python.PyTuple_GetItem(field_pointer(code, at->localsplusnames), (ssize_t)index);
  const uint16_t tuples[] = {at->varnames, at->cellvars, at->freevars};
  for (size_t i = 0; i < 3; i++) {
    size_t count = tuple_count(code, tuples[i]);
    if (index < count) return python.PyTuple_GetItem(field_pointer(code, tuples[i]), (ssize_t)index);
    index -= count;
  }
  return NULL;
}

void *frame_variable_of(const char *frame, const char *code, const void *value) {
  size_t count;
  void *const *variables = frame_variables(frame, code, &count);
  for (size_t i = 0; i < count; i++)
    if (frame_variable(variables[i]) == value) return variable_name(code, i);
  return NULL;
}

void *closure_variable_of(const void *function, const void *cell) {
  const char *code = object_code(function);
  void *closure = python.PyFunction_GetClosure((void *)function);
  size_t count = closure ? (size_t)python.PyTuple_Size(closure) : 0;
  size_t before = python.minor >= 11 ? int_at(code, fields()->nlocalsplus) - int_at(code, fields()->nfreevars)
                                     : tuple_count(code, fields()->varnames) + tuple_count(code, fields()->cellvars);
  for (size_t i = 0; i < count; i++)
    if (python.PyTuple_GetItem(closure, (ssize_t)i) == cell) return variable_name(code, before + i);
  return NULL;
}
