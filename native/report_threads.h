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
  struct ht_file_thread rows[REPORT_THREADS + 1]; // by allocations, falling; the rest, tid 0, behind
  bool ended[REPORT_THREADS + 1];                 // its tid may be another thread's by now
};

// Collects them and their names: every thread that lives or has allocated.
void threads_collect(struct report_threads *threads, struct report_tables *tables);
// The row of the living thread `tid`; UINT32_MAX: none of its own.
uint32_t threads_index(const struct report_threads *threads, uint32_t tid);
// The name of a living thread as reports have it, a string ref; 0: it cannot be read.
struct thread;
uint32_t threads_living_name(const struct thread *thread, struct report_tables *tables);
void threads_write(const struct report_threads *threads, struct writer *writer);

#endif
