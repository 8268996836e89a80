// The threads that a report names: those that allocated most; the rest in one row.
#ifndef HT_REPORT_THREADS_H
#define HT_REPORT_THREADS_H

#include "report_tables.h"
#include "words.h"
#include "writer.h"

#define REPORT_THREADS 256u

struct report_threads {
  uint32_t count;
  struct ht_file_thread rows[REPORT_THREADS + 1]; // by allocations, falling; the rest, tid 0, behind
};

// Collects them and their names.
void threads_collect(struct report_threads *threads, struct report_tables *tables);
// The row of thread `tid`; UINT32_MAX: none of its own.
uint32_t threads_index(const struct report_threads *threads, uint32_t tid);
void threads_write(const struct report_threads *threads, struct writer *writer);

#endif
