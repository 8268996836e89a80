#include "report_threads.h"

#include <string.h>

#include "sys.h"
#include "text.h"
#include "thread.h"

struct collection {
  struct report_threads *threads;
  struct report_tables *tables;
  uint64_t rest_allocations;
};

// The kernel's name of a living thread; "" when it cannot be read.
static void name_read(uint32_t tid, char name[16]) {
  char path[64];
  size_t bytes;
  struct text text;
  text_start(&text, path, sizeof path);
  text_add(&text, "/proc/self/task/");
  text_add_decimal(&text, tid);
  text_add(&text, "/comm");
  char line[32];
  if (!sys_read_all(path, line, sizeof line, &bytes)) bytes = 0;
  if (bytes && line[bytes - 1] == '\n') bytes--;
  if (bytes > 15) bytes = 15;
  memcpy(name, line, bytes);
  name[bytes] = 0;
}

static uint32_t thread_name(const struct thread *thread, struct report_tables *tables) {
  char name[16];
  if (thread->is_main) return tables_string(tables, "main");
  if (thread->name[0]) return tables_string(tables, thread->name);
  name_read(thread->tid, name);
  return tables_string(tables, name);
}

static void row_insert(struct collection *collection, struct ht_file_thread row) {
  struct report_threads *threads = collection->threads;
  if (threads->count == REPORT_THREADS) {
    struct ht_file_thread *last = &threads->rows[REPORT_THREADS - 1];
    collection->rest_allocations += last->allocations < row.allocations ? last->allocations : row.allocations;
    if (last->allocations >= row.allocations) return;
    threads->count--;
  }
  uint32_t at = threads->count++;
  for (; at > 0 && threads->rows[at - 1].allocations < row.allocations; at--) threads->rows[at] = threads->rows[at - 1];
  threads->rows[at] = row;
}

// A struct that waits for its next thread stands for all that had it before.
static void thread_collect(struct thread *thread, void *context) {
  struct collection *collection = context;
  uint64_t allocations = thread_allocations(thread);
  if (thread->state == THREAD_FREE)
    collection->rest_allocations += allocations;
  else
    row_insert(collection, (struct ht_file_thread){thread->tid, thread_name(thread, collection->tables), allocations});
}

void threads_collect(struct report_threads *threads, struct report_tables *tables) {
  struct collection collection = {threads, tables, 0};
  thread_each(thread_collect, &collection);
  if (collection.rest_allocations == 0) return;
  threads->rows[threads->count++] =
      (struct ht_file_thread){0, tables_string(tables, "other threads"), collection.rest_allocations};
}

uint32_t threads_index(const struct report_threads *threads, uint32_t tid) {
  for (uint32_t i = 0; i < threads->count; i++)
    if (threads->rows[i].tid == tid) return i;
  return UINT32_MAX;
}

void threads_write(const struct report_threads *threads, struct writer *writer) {
  writer_section(writer, HT_SECTION_THREADS);
  writer_add(writer, threads->rows, threads->count * sizeof *threads->rows);
  writer_section_end(writer);
}
