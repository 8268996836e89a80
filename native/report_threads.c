#include "report_threads.h"

#include <string.h>

#include "ended_threads.h"
#include "lock.h"
#include "text.h"
#include "thread.h"

struct collection {
  struct report_threads *threads;
  struct report_tables *tables;
  uint64_t rest_threads, rest_allocations;
  int64_t rest_net_bytes;
};

// A row while it is being placed.
struct placed {
  struct ht_file_thread row;
  struct ht_file_thread_state state;
};

// Last, and not while the list is locked: a file is read for each.
static void living_names_set(struct report_threads *threads, struct report_tables *tables) {
  char name[THREAD_NAME_BYTES];
  for (uint32_t i = 0; i < threads->count; i++) {
    if (!(threads->states[i].flags & HT_THREAD_LIVES) || threads->rows[i].name) continue;
    thread_name_of_tid(threads->rows[i].tid, name);
    threads->rows[i].name = tables_string(tables, name);
  }
}

static void rest_add(struct collection *collection, const struct placed *placed) {
  collection->rest_threads++;
  collection->rest_allocations += placed->row.allocations;
  collection->rest_net_bytes += placed->state.net_bytes;
}

static struct placed row_at(const struct report_threads *threads, uint32_t at) {
  return (struct placed){threads->rows[at], threads->states[at]};
}

static void row_put(struct report_threads *threads, uint32_t at, const struct placed *placed) {
  threads->rows[at] = placed->row;
  threads->states[at] = placed->state;
}

static void row_move(struct report_threads *threads, uint32_t from, uint32_t to) {
  struct placed placed = row_at(threads, from);
  row_put(threads, to, &placed);
}

static void row_insert(struct collection *collection, const struct placed *placed) {
  struct report_threads *threads = collection->threads;
  uint64_t allocations = placed->row.allocations;
  if (threads->count == REPORT_THREADS) {
    struct placed last = row_at(threads, REPORT_THREADS - 1);
    bool stays = last.row.allocations >= allocations;
    rest_add(collection, stays ? placed : &last);
    if (stays) return;
    threads->count--;
  }
  uint32_t at = threads->count++;
  for (; at > 0 && threads->rows[at - 1].allocations < allocations; at--) row_move(threads, at - 1, at);
  row_put(threads, at, placed);
}

static void ended_insert(struct collection *collection, const struct ended_thread *thread) {
  struct placed placed = {{thread->tid, 0, thread->allocations}, {.net_bytes = thread->net_bytes}};
  if (!thread->allocations) return;
  placed.row.name = tables_string(collection->tables, thread->name);
  row_insert(collection, &placed);
}

static void living_insert(struct collection *collection, const struct thread *thread) {
  bool gone = thread_is_gone(thread);
  struct placed placed = {{thread->tid, 0, thread_allocations(thread)},
                          {.flags = gone ? 0 : HT_THREAD_LIVES, .net_bytes = thread_net_bytes(thread)}};
  const char *name = thread->is_main ? "main" : gone && !thread->name[0] ? thread->first_name : thread->name;
  placed.row.name = tables_string(collection->tables, name);
  row_insert(collection, &placed);
}

static void thread_collect(struct thread *thread, void *context) {
  if (thread->state == THREAD_ALIVE) return living_insert(context, thread);
  struct ended_thread ended = {
      .tid = thread->tid, .allocations = thread_allocations(thread), .net_bytes = thread_net_bytes(thread)};
  memcpy(ended.name, thread->is_main ? "main" : thread->name, thread->is_main ? sizeof "main" : sizeof ended.name);
  ended_insert(context, &ended);
}

static void rest_insert(const struct collection *collection) {
  char name[64];
  struct text text;
  text_start(&text, name, sizeof name);
  text_add_decimal(&text, collection->rest_threads);
  text_add(&text, collection->rest_threads == 1 ? " other thread" : " other threads");
  struct placed placed = {{0, tables_string(collection->tables, name), collection->rest_allocations},
                          {.net_bytes = collection->rest_net_bytes}};
  row_put(collection->threads, collection->threads->count++, &placed);
}

static void rows_collect(struct report_threads *threads, struct report_tables *tables) {
  struct collection collection = {threads, tables, ended_threads.rest_threads, ended_threads.rest_allocations,
                                  ended_threads.rest_net_bytes};
  thread_each(thread_collect, &collection);
  for (uint32_t i = 0; i < ended_threads.count; i++) ended_insert(&collection, &ended_threads.rows[i]);
  if (collection.rest_allocations) rest_insert(&collection);
}

void threads_collect(struct report_threads *threads, struct report_tables *tables) {
  thread_names_of_living();
  rows_collect(threads, tables);
  living_names_set(threads, tables);
}

void threads_collect_now(struct report_threads *threads, struct report_tables *tables) {
  lock_take(thread_list_lock());
  rows_collect(threads, tables);
  lock_drop(thread_list_lock());
  living_names_set(threads, tables);
}

uint32_t threads_index(const struct report_threads *threads, uint32_t tid) {
  for (uint32_t i = 0; i < threads->count; i++)
    if (threads->rows[i].tid == tid && threads->states[i].flags & HT_THREAD_LIVES) return i;
  return UINT32_MAX;
}

void threads_write(const struct report_threads *threads, struct writer *writer) {
  writer_section(writer, HT_SECTION_THREADS);
  writer_add(writer, threads->rows, threads->count * sizeof *threads->rows);
  writer_section_end(writer);
  writer_section(writer, HT_SECTION_THREAD_STATES);
  writer_add(writer, threads->states, threads->count * sizeof *threads->states);
  writer_section_end(writer);
}
