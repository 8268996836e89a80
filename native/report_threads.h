// The threads that a report names: those that allocated most; the rest in one row.
#ifndef HT_REPORT_THREADS_H
#define HT_REPORT_THREADS_H

#include "report_tables.h"
#include "words.h"
#include "writer.h"

// The others are added up in one row, which says how many they are.
#define REPORT_THREADS 1024u

struct report_threads {
  uint32_t count;
  struct ht_file_thread rows[REPORT_THREADS + 1];         // by allocations, falling; the rest, tid 0, behind
  struct ht_file_thread_state states[REPORT_THREADS + 1]; // of one that has ended the tid may be another's by now
};

// Collects them and their names: every thread that lives or has allocated.
void threads_collect(struct report_threads *threads, struct report_tables *tables);
// The same while threads run, for a checkpoint.
void threads_collect_now(struct report_threads *threads, struct report_tables *tables);
// The row of the living thread `tid`; UINT32_MAX: none of its own.
uint32_t threads_index(const struct report_threads *threads, uint32_t tid);
void threads_write(const struct report_threads *threads, struct writer *writer);

#endif
