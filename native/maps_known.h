// The memory map where /proc is not mounted: what is known of modules and threads.
#ifndef HT_MAPS_KNOWN_H
#define HT_MAPS_KNOWN_H

#include "maps.h"

// Segments of the modules, the threads' stacks and the main thread's thread-local block, by address; what else is
// mapped is unknown. After module_refresh, between stop_begin and stop_end. False: no memory. Dropped by maps_drop.
bool maps_of_known(struct maps *maps);

#endif
