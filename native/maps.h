// The process's memory map as /proc/self/maps gives it, read once into own memory.
#ifndef HT_MAPS_H
#define HT_MAPS_H

#include "words.h"

#define MAPS_READ 1u
#define MAPS_WRITE 2u
#define MAPS_EXEC 4u
#define MAPS_SHARED 8u

struct mapping {
  uintptr_t start, end;
  const char *path;       // NUL-terminated, "" for anonymous memory; "[heap]" and the like as the kernel names them
  uint32_t flags;         // MAPS_*
  uint64_t offset, inode; // in and of the file; 0: no file, or not known
};

struct maps {
  struct mapping *table; // by address
  uint32_t count;
  char *text;
  size_t text_bytes, table_bytes; // as mapped
};

// False: /proc is not there, or no memory. Takes LOCK_RANK_SYS. `maps` is dropped with maps_drop in either case.
bool maps_read(struct maps *maps);
void maps_drop(struct maps *maps);

// Whether the file is the dynamic loader.
bool maps_path_is_loader(const char *path);

// The mapping that holds `address`; NULL: none.
const struct mapping *maps_find(const struct maps *maps, uintptr_t address);

#endif
