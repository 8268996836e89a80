#include "symbol_version.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "symbols.h"

size_t symbol_version_at(const char *name) {
  size_t length = strlen(name);
  const char *at = strrchr(name, '@');
  if (!at || (!isalpha((unsigned char)at[1]) && at[1] != '_')) return length;
  for (const char *rest = at + 1; *rest; rest++)
    if (!isalnum((unsigned char)*rest) && !strchr("_.-+", *rest)) return length;
  if (at > name && at[-1] == '@') at--;
  return at > name ? (size_t)(at - name) : length;
}

// ---- what was dropped

static const char *base_of(struct symbols *symbols, const char *full) {
  char *text = memory_text(full, symbol_version_at(full));
  const char *base = pool_text(&symbols->texts, text);
  free(text);
  return base;
}

static const struct dropped_version *dropped_find(const struct symbols *symbols, const char *base) {
  for (size_t i = 0; i < symbols->dropped_count; i++)
    if (symbols->dropped[i].base == base) return &symbols->dropped[i];
  return NULL;
}

static void dropped_add(struct symbols *symbols, const char *base, const char *full) {
  symbols->dropped =
      memory_grow(symbols->dropped, symbols->dropped_count, &symbols->dropped_capacity, sizeof *symbols->dropped);
  symbols->dropped[symbols->dropped_count++] = (struct dropped_version){base, full};
}

const char *symbol_version_drop(struct symbols *symbols, const char *name) {
  const char *full = pool_text(&symbols->texts, name);
  if (!full[symbol_version_at(full)]) return full;
  const char *base = base_of(symbols, full);
  const struct dropped_version *known = dropped_find(symbols, base);
  if (known) return known->full == full ? base : full;
  dropped_add(symbols, base, full);
  return base;
}

// ---- all functions

struct versioned {
  const char *base, *full;
  uint32_t module;
  struct symbol_line *line;
  bool shared; // the name without the version is another function's too
};

struct versioned_list {
  struct versioned *items;
  size_t count, capacity;
};

// Texts are pooled, so their addresses will do as an order.
static int pointer_compare(const void *left, const void *right) {
  return ((uintptr_t)left > (uintptr_t)right) - ((uintptr_t)left < (uintptr_t)right);
}

static int versioned_compare(const void *left, const void *right) {
  const struct versioned *a = left, *b = right;
  int order = pointer_compare(a->base, b->base);
  return order ? order : pointer_compare(a->full, b->full);
}

static struct versioned_list versioned_find(struct symbols *symbols) {
  struct versioned_list list = {0};
  for (size_t i = 0; i < symbols->entry_count; i++) {
    const struct symbol *entry = &symbols->entries[i];
    for (uint32_t k = 0; k < entry->line_count; k++) {
      const char *full = entry->lines[k].function;
      if (!full || !full[symbol_version_at(full)]) continue;
      list.items = memory_grow(list.items, list.count, &list.capacity, sizeof *list.items);
      list.items[list.count++] =
          (struct versioned){base_of(symbols, full), full, entry->module, &entry->lines[k], false};
    }
  }
  if (list.count) qsort(list.items, list.count, sizeof *list.items, versioned_compare);
  return list;
}

static size_t group_end(const struct versioned_list *list, size_t first) {
  size_t end = first;
  while (end < list->count && list->items[end].base == list->items[first].base) end++;
  return end;
}

// The first with that base, `count`: none.
static size_t group_find(const struct versioned_list *list, const char *base) {
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (pointer_compare(list->items[middle].base, base) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->count && list->items[low].base == base ? low : list->count;
}

// Functions of a module that have the bare name already, but for those that only lost their version before.
static void bare_names_look(const struct symbols *symbols, struct versioned_list *list) {
  for (size_t i = 0; i < symbols->entry_count; i++) {
    const struct symbol *entry = &symbols->entries[i];
    for (uint32_t k = 0; k < entry->line_count; k++) {
      const char *name = entry->lines[k].function;
      size_t first = name ? group_find(list, name) : list->count;
      if (first == list->count || dropped_find(symbols, name)) continue;
      for (size_t at = first; at < group_end(list, first); at++)
        if (list->items[at].module == entry->module) list->items[first].shared = true;
    }
  }
}

static void group_drop(struct symbols *symbols, struct versioned *items, size_t count) {
  const struct dropped_version *known = dropped_find(symbols, items[0].base);
  bool several = items[0].full != items[count - 1].full || (known && known->full != items[0].full);
  if (several || items[0].shared) return;
  if (!known) dropped_add(symbols, items[0].base, items[0].full);
  for (size_t i = 0; i < count; i++) items[i].line->function = items[i].base;
}

void symbol_versions_drop(struct symbols *symbols) {
  struct versioned_list list = versioned_find(symbols);
  if (list.count) bare_names_look(symbols, &list);
  for (size_t i = 0; i < list.count; i = group_end(&list, i))
    group_drop(symbols, &list.items[i], group_end(&list, i) - i);
  free(list.items);
}
