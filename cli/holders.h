// Who holds a site's memory, in words.
#ifndef HT_HOLDERS_H
#define HT_HOLDERS_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "stacks.h"
#include "symbols.h"

// The links of a holder from the block outwards, the last being `global NAME`, `thread-local NAME` or `stack of
// FUNCTION (thread NAME)`. `symbol_modules`: by the report's module. Returns the array, *count texts, all in new
// memory.
char **holder_texts(const struct report *report, const struct ht_file_holder *holder, const struct stacks *stacks,
                    struct symbols *symbols, const uint32_t *symbol_modules, size_t *count);

// "FUNCTION FILE:LINE" of a frame as far as they are known, the file without its folders; new memory.
char *frame_words(const struct shown_frame *frame);

// The function's name, else `[module+0xoffset]`; new memory.
char *frame_name(const struct shown_frame *frame);

// The part of a path behind its last slash.
const char *path_name(const char *path);

#endif
