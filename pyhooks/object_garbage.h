// Cyclic garbage: objects that the collector would free if it ran now.
//
// Found as the collector finds it (deduce_unreachable, Modules/gcmodule.c, Python/gc.c): from each object's reference
// count the references that come from other tracked objects are subtracted; what has some left is held from outside,
// and so is all that it leads to. Nothing is written into the objects. This is exact where the leak scan by itself is
// not: a stale pointer in a free list or in a dead stack slot counts for nothing.
#ifndef HT_OBJECT_GARBAGE_H
#define HT_OBJECT_GARBAGE_H

#include "../native/words.h"

// Looks at all tracked objects now. The caller holds the GIL, its hooks pass calls through, the world is parked. Runs
// the types' tp_traverse, which is C code without side effects. False: no memory; then nothing is known to be garbage.
bool object_garbage_find(void);
// Whether the block that starts at `start` is an object of that garbage, or one that only garbage refers to.
bool object_garbage_has(uintptr_t start);
// The large blocks among it: they are not in the live map until object_garbage_drop.
void object_garbage_each_big(bool (*visit)(const struct block *block, void *context), void *context);
// Every tracked object that was looked at, garbage or not, until `visit` returns false. False: there is no such list
// now.
bool object_garbage_each_tracked(bool (*visit)(char *object));
void object_garbage_drop(void);

#endif
