#include "collector_object.h"

#include <string.h>

#include "../native/sys.h"
#include "object_map.h"
#include "python_api.h"

// PyTypeObject, Include/cpython/object.h: the same offsets in 3.9 to 3.14.
#define TYPE_BASIC_SIZE 32
#define TYPE_FLAGS 168
#define TYPE_TRAVERSE 184
#define TYPE_BASE 256
#define TYPE_IS_GC 328
#define FLAG_HAVE_GC (1ul << 14)        // Py_TPFLAGS_HAVE_GC, Include/object.h
#define FLAG_TYPE_SUBCLASS (1ul << 31)  // Py_TPFLAGS_TYPE_SUBCLASS: instances are types
#define FLAG_MANAGED_DICT (1ul << 4)    // Py_TPFLAGS_MANAGED_DICT, since 3.11
#define FLAG_MANAGED_WEAKREF (1ul << 3) // Py_TPFLAGS_MANAGED_WEAKREF, since 3.12
// Before the head of an object whose dict or weak references are managed (_PyType_PreHeaderSize,
// Include/internal/pycore_object.h; in 3.11 the dict and its values, Objects/typeobject.c).
#define PRE_HEADER_BYTES 16

// Pages outside arenas that the kernel was asked about: page << 1 | whether it can be read.
#define PAGES 1024u
static uintptr_t pages_asked[PAGES];

void collector_object_begin(void) { memset(pages_asked, 0, sizeof pages_asked); }

static bool is_address(uintptr_t value) { return value >= 4096 && !(value & 7) && !(value >> OBJECT_ADDRESS_BITS); }

static bool readable(uintptr_t address) {
  if (!is_address(address)) return false;
  const uint64_t *descriptor = object_descriptor(address, object_page_bits);
  if (descriptor && *descriptor) return true;
  uintptr_t page = address >> 12, *asked = &pages_asked[page % PAGES];
  if (*asked >> 1 != page) *asked = page << 1 | sys_readable(address);
  return *asked & 1;
}

static uintptr_t word(uintptr_t address) { return *(const uintptr_t *)address; }

// Both neighbours in the collector's list point back.
static bool is_linked(uintptr_t head) {
  uintptr_t next = gc_link(head), previous = gc_link(head + 8);
  if (!is_address(next) || !is_address(previous)) return false; // nearly all that is none, without asking the kernel
  return readable(next) && readable(next + 8) && readable(previous) && gc_link(next + 8) == head &&
         gc_link(previous) == head;
}

static bool is_type(uintptr_t type) {
  if (!readable(type + 8) || !readable(type + TYPE_FLAGS) || !readable(type + TYPE_BASE)) return false;
  uintptr_t meta = word(type + 8);
  return readable(meta + TYPE_FLAGS) && word(meta + TYPE_FLAGS) & FLAG_TYPE_SUBCLASS;
}

// Other lists can look like the collector's, so what follows must be an object of a type that has such heads.
static bool is_object(uintptr_t object, size_t size_bytes, bool pre_header) {
  uintptr_t type = word(object + 8);
  if (word(object) == 0 || word(object) >> 32 || !is_type(type)) return false;
  unsigned long flags = word(type + TYPE_FLAGS), managed = 0;
  if (python.minor >= 11) managed |= FLAG_MANAGED_DICT;
  if (python.minor >= 12) managed |= FLAG_MANAGED_WEAKREF;
  return flags & FLAG_HAVE_GC && ((flags & managed) != 0) == pre_header && word(type + TYPE_BASIC_SIZE) <= size_bytes;
}

char *collector_object_in(uintptr_t start, size_t size_bytes) {
  for (size_t before = 0; before <= PRE_HEADER_BYTES; before += PRE_HEADER_BYTES) {
    size_t offset = before + GC_HEAD_BYTES;
    if (size_bytes < offset + sizeof(struct python_object)) return NULL;
    if (is_linked(start + before) && is_object(start + offset, size_bytes - offset, before != 0))
      return (char *)start + offset;
  }
  return NULL;
}

bool collector_object_is_weak_reference(const char *object) {
  for (uintptr_t type = word((uintptr_t)object + 8); type; type = word(type + TYPE_BASE))
    for (size_t i = 0; i < sizeof python.weak_types / sizeof *python.weak_types; i++)
      if (type == (uintptr_t)python.weak_types[i]) return true;
  return false;
}

// PyObject_IS_GC: of some types (type itself) only some objects take part.
bool collector_object_is_container(const char *object) {
  uintptr_t type = word((uintptr_t)object + 8);
  int (*is_container)(const void *) = (int (*)(const void *))word(type + TYPE_IS_GC);
  return word(type + TYPE_FLAGS) & FLAG_HAVE_GC && (!is_container || is_container(object));
}

python_traverse collector_object_traverse(const char *object) {
  return (python_traverse)word(word((uintptr_t)object + 8) + TYPE_TRAVERSE);
}

// Include/object.h: 64 bits up to 3.11, then the lower 32 of them.
int64_t collector_object_references(const char *object) {
  return python.minor >= 12 ? (int64_t) * (const uint32_t *)object : *(const int64_t *)object;
}
