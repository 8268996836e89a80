#include "maps.h"

#include <string.h>

#include "sys.h"

#define TEXT_BYTES_FIRST (256u << 10) // about 3,000 mappings; doubled until the whole text fits
#define TEXT_BYTES_MAX (1ul << 30)

static bool text_read(struct maps *maps) {
  for (size_t bytes = TEXT_BYTES_FIRST; bytes <= TEXT_BYTES_MAX; bytes *= 2) {
    size_t used;
    maps->text = sys_map(bytes);
    maps->text_bytes = bytes;
    if (!maps->text) return false;
    if (!sys_read_all("/proc/self/maps", maps->text, bytes, &used) || used == 0) return false;
    if (used + 1 < bytes) return true;
    sys_unmap(maps->text, bytes);
    maps->text = NULL;
  }
  return false;
}

static uintptr_t hex_read(char **at) {
  uintptr_t value = 0;
  for (;; (*at)++) {
    char c = **at;
    if (c >= '0' && c <= '9')
      value = value * 16 + (uintptr_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + (uintptr_t)(c - 'a' + 10);
    else
      return value;
  }
}

static uint64_t decimal_read(char **at) {
  uint64_t value = 0;
  for (; **at >= '0' && **at <= '9'; (*at)++) value = value * 10 + (uint64_t)(**at - '0');
  return value;
}

static void field_skip(char **at) {
  while (**at && **at != ' ' && **at != '\n') (*at)++;
  while (**at == ' ') (*at)++;
}

// One line: "start-end rwxp offset device inode   path", proc(5). Returns the next line.
static char *line_parse(char *at, struct mapping *mapping) {
  mapping->start = hex_read(&at);
  at += *at == '-';
  mapping->end = hex_read(&at);
  at += *at == ' ';
  mapping->flags = 0;
  for (; *at && *at != ' ' && *at != '\n'; at++)
    mapping->flags |= *at == 'r'   ? MAPS_READ
                      : *at == 'w' ? MAPS_WRITE
                      : *at == 'x' ? MAPS_EXEC
                      : *at == 's' ? MAPS_SHARED
                                   : 0;
  while (*at == ' ') at++;
  mapping->offset = hex_read(&at);
  while (*at == ' ') at++;
  field_skip(&at); // device
  mapping->inode = decimal_read(&at);
  field_skip(&at);
  mapping->path = at;
  while (*at && *at != '\n') at++;
  if (*at) *at++ = 0;
  return at;
}

bool maps_read(struct maps *maps) {
  *maps = (struct maps){0};
  if (!text_read(maps)) return false;
  uint32_t lines = 1;
  for (const char *at = maps->text; *at; at++) lines += *at == '\n';
  maps->table_bytes = lines * sizeof *maps->table;
  maps->table = sys_map(maps->table_bytes);
  if (!maps->table) return false;
  for (char *at = maps->text; *at;) at = line_parse(at, &maps->table[maps->count++]);
  return true;
}

void maps_drop(struct maps *maps) {
  if (maps->table) sys_unmap(maps->table, maps->table_bytes);
  if (maps->text) sys_unmap(maps->text, maps->text_bytes);
  *maps = (struct maps){0};
}

bool maps_path_is_loader(const char *path) {
  const char *name = strrchr(path, '/');
  return name && (strncmp(name, "/ld-linux", 9) == 0 || strncmp(name, "/ld-2", 5) == 0);
}

const struct mapping *maps_find(const struct maps *maps, uintptr_t address) {
  uint32_t low = 0, high = maps->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (maps->table[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < maps->count && maps->table[low].start <= address ? &maps->table[low] : NULL;
}
