// What the page of `heaptide diff --html` shows: the facts of each pair of processes, all chains of functions as one
// tree, and of every site what both reports say.
#ifndef HT_DIFF_PAGE_H
#define HT_DIFF_PAGE_H

#include "comparison.h"
#include "page_data.h"

// `base`, `new`: the folders' names, as the user gave them.
struct page_data diff_page_make(const struct comparison_list *list, const char *base, const char *new);

#endif
