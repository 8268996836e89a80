// Where a page goes: a file, or stdout.
#ifndef HT_PAGE_FILE_H
#define HT_PAGE_FILE_H

#include <stdbool.h>

#include "page_write.h"

// Writes the page to `path`, `-` being stdout. Under another name first, so that a page that cannot be finished does
// not take an older one's place. False after a line on stderr.
bool page_put(const char *path, const struct page_text *text, const struct page_data *data);

#endif
