// What an object's own struct says: its type, and by which name it refers to another object. Read from memory, or by
// functions of the interpreter that return borrowed references and run no code of the program. The caller holds the
// GIL.
#ifndef HT_OBJECT_FIELDS_H
#define HT_OBJECT_FIELDS_H

#include "running_frame.h"

enum object_sort {
  SORT_PLAIN, // an instance of some class, or an object of C code
  SORT_DICT,
  SORT_LIST,
  SORT_TUPLE,
  SORT_SET,
  SORT_CELL,
  SORT_MODULE,
  SORT_TYPE,
  SORT_FUNCTION,
  SORT_GENERATOR, // coroutines too
  SORT_FRAME,
  SORT_TEXT,
  SORT_NUMBER,
};
enum object_sort object_sort(const void *object);

// The type's name without its module.
const char *object_type_name(const void *object);
// That of a type object itself.
const char *object_own_name(const void *type);

// Bytes of the object's own struct, without items that follow.
size_t object_basic_bytes(const void *object);

// Whether `dict` holds the attributes of `owner`: of a module, a type, an instance.
bool object_attributes_are(const void *owner, const void *dict);

// The name of an attribute of `owner` that is not kept in a dict, and whose value is `value`: of an instance whose
// values stand in an array (3.11 on), or of a slot of `__slots__`. A Python string, or C text; both NULL: none.
struct attribute_name {
  void *string;
  const char *text;
};
struct attribute_name object_attribute_of(const void *owner, const void *value);
// The value of a dict's item by a name of ASCII text, a borrowed reference; NULL: none.
void *object_item(void *dict, const char *name);
// The value of an instance's attribute, NULL: none. Nothing of the class is looked at.
void *object_attribute(const void *owner, const char *name);

// The array in which an instance's values stand outside of it (3.11, 3.12): inside a block, not at its start. NULL:
// none.
const void *object_values_block(const void *owner);

// The code object that a function, generator or frame runs; NULL: none.
const char *object_code(const void *object);

// The name (a Python string) of a function's free variable, which lives in `cell`; NULL: none is there.
void *closure_variable_of(const void *function, const void *cell);
// The name of the local variable that holds `value`. `frame`: the interpreter's frame, running in `code`.
void *frame_variable_of(const char *frame, const char *code, const void *value);
// The interpreter's frame of a generator or frame object; NULL: none, or it has ended.
const char *object_frame(const void *object);
// The local variables of a frame: their number and places.
void *const *frame_variables(const char *frame, const char *code, size_t *count);
// The object that a local variable's place holds.
void *frame_variable(void *place);
// The first local variable of a frame of Python code: in a method `self`. NULL: none.
const void *frame_self(const char *frame);

// Whether an object is a Python string of that text.
bool string_is(const void *object, const char *text);

#endif
