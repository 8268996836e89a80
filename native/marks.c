#include "marks.h"

#include <string.h>

// FNV-1a, 32 bits.
static uint32_t name_hash(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)name[i]) * 16777619u;
  return hash;
}

static bool is_name(const struct mark_name *known, const char *name, size_t length) {
  return memcmp(known->text, name, length) == 0 && known->text[length] == 0;
}

static struct mark_name *name_new(struct marks *marks, uint32_t place, const char *name, size_t length) {
  if (marks->name_count == MARK_NAMES) return NULL;
  struct mark_name *fresh = &marks->names[marks->name_count];
  memcpy(fresh->text, name, length);
  fresh->text[length] = 0;
  fresh->count = 0;
  __atomic_store_n(&marks->name_count, marks->name_count + 1, __ATOMIC_RELEASE);
  marks->places[place] = (uint16_t)marks->name_count;
  return fresh;
}

// NULL: there are too many names already.
static struct mark_name *name_find(struct marks *marks, const char *name) {
  size_t length = strnlen(name, MARK_NAME_BYTES - 1);
  uint32_t place = name_hash(name, length) & (MARK_PLACES - 1);
  for (; marks->places[place]; place = (place + 1) & (MARK_PLACES - 1)) {
    struct mark_name *known = &marks->names[marks->places[place] - 1];
    if (is_name(known, name, length)) return known;
  }
  return name_new(marks, place, name, length);
}

static void mark_keep(struct marks *marks, struct mark mark) {
  if (marks->count == MARKS_KEPT) return;
  marks->marks[marks->count] = mark;
  __atomic_store_n(&marks->count, marks->count + 1, __ATOMIC_RELEASE);
}

void marks_add(struct marks *marks, const char *name, uint64_t at_ns, uint64_t live_bytes) {
  struct mark_name *named = name_find(marks, name);
  if (!named) {
    marks->left_out++;
    return;
  }
  if (named->count == 0) named->first_ns = at_ns, named->first_live_bytes = live_bytes;
  named->last_ns = at_ns;
  named->last_live_bytes = live_bytes;
  named->count++;
  mark_keep(marks, (struct mark){(uint32_t)(named - marks->names), 0, at_ns, live_bytes});
}

void marks_clear(struct marks *marks) {
  marks->count = marks->name_count = 0;
  marks->left_out = 0;
  memset(marks->places, 0, sizeof marks->places);
}
