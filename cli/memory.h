// Memory of the command line tool. There is no way on without it: failing ends the tool with a line and status 2.
#ifndef HT_MEMORY_H
#define HT_MEMORY_H

#include <stddef.h>

// Zeroed memory for `count` items of `item_bytes`; never NULL, also for 0 items.
void *memory_get(size_t count, size_t item_bytes);

// Room for one item more in an array of `count` items, `*capacity` being what it has room for; returns the array.
void *memory_grow(void *items, size_t count, size_t *capacity, size_t item_bytes);

// A copy of the `bytes` bytes at `text`, with a NUL behind them.
char *memory_text(const char *text, size_t bytes);

// Ends the tool for want of memory.
_Noreturn void memory_missing(void);

// printf into new memory.
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
