// The sites that have the most of something.
#ifndef HT_LARGEST_SITES_H
#define HT_LARGEST_SITES_H

#include "../native/words.h"

// Of the sites [1, end), `bytes` by site, those with the most, falling: at most `max`, and none without any. Returns
// how many.
uint32_t largest_sites(const int64_t *bytes, uint32_t end, site_id *sites, uint32_t max);

#endif
