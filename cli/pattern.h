// Patterns of suppressions, as LeakSanitizer matches them.
#ifndef HT_PATTERN_H
#define HT_PATTERN_H

#include <stdbool.h>

// `*` stands for any text, `^` at the start and `$` at the end anchor the pattern, else it may match anywhere.
bool pattern_matches(const char *pattern, const char *text);

#endif
