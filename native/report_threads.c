#include "report_threads.h"

#include <string.h>

#include "ended_threads.h"
#include "sys.h"
#include "text.h"
#include "thread.h"

struct collection {
  struct report_threads *threads;
  struct report_tables *tables;
  uint64_t rest_threads, rest_allocations;
};

// The kernel's name of a living thread; "" when it cannot be read. By the process's number, since in a copy of it
// /proc/self is the copy's.
static void name_read(uint32_t tid, char name[16]) {
  char path[64];
  size_t bytes;
  struct text text;
  text_start(&text, path, sizeof path);
  text_add(&text, "/proc/");
  text_add_decimal(&text, (uint64_t)sys_pid());
  text_add(&text, "/task/");
  text_add_decimal(&text, tid);
  text_add(&text, "/comm");
  char line[32];
  if (!sys_read_all(path, line, sizeof line, &bytes)) bytes = 0;
  if (bytes && line[bytes - 1] == '\n') bytes--;
  if (bytes > 15) bytes = 15;
  memcpy(name, line, bytes);
  name[bytes] = 0;
}

uint32_t threads_living_name(const struct thread *thread, struct report_tables *tables) {
  char name[16];
  if (thread->is_main) return tables_string(tables, "main");
  name_read(thread->tid, name);
  return tables_string(tables, name);
}

static void rest_add(struct collection *collection, uint64_t threads, uint64_t allocations) {
  collection->rest_threads += threads;
  collection->rest_allocations += allocations;
}

static void row_move(struct report_threads *threads, uint32_t from, uint32_t to) {
  threads->rows[to] = threads->rows[from];
  threads->ended[to] = threads->ended[from];
}

static void row_insert(struct collection *collection, struct ht_file_thread row, bool ended) {
  struct report_threads *threads = collection->threads;
  if (threads->count == REPORT_THREADS) {
    const struct ht_file_thread *last = &threads->rows[REPORT_THREADS - 1];
    rest_add(collection, 1, last->allocations < row.allocations ? last->allocations : row.allocations);
    if (last->allocations >= row.allocations) return;
    threads->count--;
  }
  uint32_t at = threads->count++;
  for (; at > 0 && threads->rows[at - 1].allocations < row.allocations; at--) row_move(threads, at - 1, at);
  threads->rows[at] = row;
  threads->ended[at] = ended;
}

static void ended_insert(struct collection *collection, uint32_t tid, const char *name, uint64_t allocations) {
  if (allocations)
    row_insert(collection, (struct ht_file_thread){tid, tables_string(collection->tables, name), allocations}, true);
}

static void thread_collect(struct thread *thread, void *context) {
  struct collection *collection = context;
  uint64_t allocations = thread_allocations(thread);
  if (thread->state == THREAD_ALIVE)
    row_insert(collection,
               (struct ht_file_thread){thread->tid, threads_living_name(thread, collection->tables), allocations},
               false);
  else
    ended_insert(collection, thread->tid, thread->is_main ? "main" : thread->name, allocations);
}

static void rest_insert(const struct collection *collection) {
  char name[64];
  struct text text;
  text_start(&text, name, sizeof name);
  text_add_decimal(&text, collection->rest_threads);
  text_add(&text, collection->rest_threads == 1 ? " other thread" : " other threads");
  struct report_threads *threads = collection->threads;
  threads->rows[threads->count++] =
      (struct ht_file_thread){0, tables_string(collection->tables, name), collection->rest_allocations};
}

void threads_collect(struct report_threads *threads, struct report_tables *tables) {
  struct collection collection = {threads, tables, ended_threads.rest_threads, ended_threads.rest_allocations};
  thread_each(thread_collect, &collection);
  for (uint32_t i = 0; i < ended_threads.count; i++) {
    const struct ended_thread *thread = &ended_threads.rows[i];
    ended_insert(&collection, thread->tid, thread->name, thread->allocations);
  }
  if (collection.rest_allocations) rest_insert(&collection);
}

uint32_t threads_index(const struct report_threads *threads, uint32_t tid) {
  for (uint32_t i = 0; i < threads->count; i++)
    if (threads->rows[i].tid == tid && !threads->ended[i]) return i;
  return UINT32_MAX;
}

void threads_write(const struct report_threads *threads, struct writer *writer) {
  writer_section(writer, HT_SECTION_THREADS);
  writer_add(writer, threads->rows, threads->count * sizeof *threads->rows);
  writer_section_end(writer);
}
