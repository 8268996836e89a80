// What would have shown more: a note on how a program was built or recorded.
#ifndef HT_ADVICE_H
#define HT_ADVICE_H

#include "model.h"
#include "symbols.h"

// A sentence, to be freed with free(); NULL: nothing to say. `symbols` are resolved, `symbol_modules`: by the report's
// module.
char *advice_make(const struct report *report, const struct symbols *symbols, const uint32_t *symbol_modules);

#endif
