// The executable and the libraries that are loaded, as the loader has them.
#ifndef HT_LOADED_OBJECTS_H
#define HT_LOADED_OBJECTS_H

#include <link.h>
#include <stddef.h>

struct found_object { // struct dl_find_object of <dlfcn.h>, which glibc 2.34 does not have
  unsigned long long flags;
  void *map_start, *map_end;
  struct link_map *link_map;
  void *eh_frame;
  unsigned long long reserved[7];
};
// _dl_find_object, 0: found; lock-free and safe in signal handlers. NULL before glibc 2.35.
extern int (*loaded_object_find)(void *address, struct found_object *found);

void loaded_objects_init(void);

// As dl_iterate_phdr. Outside hooks.
int loaded_objects_each(int (*visit)(struct dl_phdr_info *info, size_t size, void *context), void *context);

// Its dynamic section; NULL: none.
const ElfW(Dyn) * loaded_object_dynamic(const struct dl_phdr_info *info);

// The file's name, of a path or of a name alone.
const char *loaded_object_file_name(const char *path);

// In a forked process: the list is walked without the loader's lock from now on. Another thread of the parent may have
// held it at the fork (in a dlopen, in a dl_iterate_phdr of its own), and here nobody gives it back.
void loaded_objects_fork_child(void);

#endif
