// Talks to llvm-symbolizer: one process answers all addresses of all files.
#ifndef HT_SYMBOLIZER_H
#define HT_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"
#include "problem.h"
#include "symbols.h"

struct symbolizer_query {
  const char *object; // the ELF file to ask
  struct symbol *symbol;
  bool answered;
};

// Asks `program` for queries[0..count), which are sorted by object, and fills their symbols' lines (texts from
// `texts`). `debuginfod`: let it ask the servers of DEBUGINFOD_URLS, for a limited time. Answered queries are skipped,
// so that the next program can go on where one failed. False: `problem` says what went wrong; some queries may be
// answered.
bool symbolizer_run(const char *program, struct symbolizer_query *queries, size_t count, struct pool *texts,
                    bool debuginfod, struct problem *problem);

#endif
