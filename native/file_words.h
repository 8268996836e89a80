// What a private mapping of a file held before the program changed it: the file itself, looked at again.
#ifndef HT_FILE_WORDS_H
#define HT_FILE_WORDS_H

#include "maps.h"
#include "words.h"

struct file_words {
  const uintptr_t *words; // as many as the mapping has; NULL: not known
  size_t bytes;
};

// Unknown where the mapping has no file, the file is another one by now, or a descriptor is not to be had.
struct file_words file_words_map(const struct mapping *mapping);
void file_words_unmap(struct file_words *file);

#endif
