// A symbol of one loaded module, read from its own tables. The loader is not asked: what dlopen opens by itself for the
// first time (RTLD_NOLOAD or not) has its constructors run, once more when the process is past its destructors, too
// early when it is still starting.
#ifndef HT_MODULE_SYMBOL_H
#define HT_MODULE_SYMBOL_H

#include <link.h>
#include <stdint.h>

// What the module itself defines, not what it needs: in `version`, or for NULL the default version, without one the
// first. NULL: nothing of that name, or something that has to be resolved first (an IFUNC). `base`, `dynamic`: l_addr
// and l_ld of its link_map. The module has to stay loaded meanwhile.
void *module_symbol(uintptr_t base, const ElfW(Dyn) * dynamic, const char *name, const char *version);

#endif
