// Pointers between Python's objects that are no references, out of the leak scan's sight.
//
// The cyclic collector chains all objects it knows, and a weak reference points to its object without holding it:
// following those, nothing would ever be unreachable. While the world is parked they are made to look like no
// addresses (bit 63 is set), and put right again before anybody runs on.
#ifndef HT_OBJECT_LINKS_H
#define HT_OBJECT_LINKS_H

#include <stdbool.h>

// Both: the world is parked. Hiding does nothing unless the calling thread holds the GIL: then a thread that could
// not be parked might use the links.
void object_links_hide(void);
void object_links_show(void);
// Whether they are hidden now.
bool object_links_hidden(void);

#endif
