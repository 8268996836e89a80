#include "thread_title.h"

#include <string.h>

#include "../native/guard.h"
#include "../native/sys.h"
#include "../native/thread.h"
#include "interpreter_life.h"
#include "object_fields.h"
#include "python_name.h"
#include "string_object.h"

// threading._active, {ident: Thread}: the threads that live, those that C code started included, once they have asked
// for their Thread (Lib/threading.py, 3.9 to 3.14). A borrowed reference: without the GIL it is looked at only where
// faults are caught.
static void *active;
#define ACTIVE_MAX 100000u // entries looked at; what was no dict any more may have no end

// Frames of Python code from the innermost on among which Thread.start is: tools wrap what it calls.
#define STARTER_FRAMES 4u

// ---- one Thread

// Whatever the program put there. A NUL would end the name.
static bool title_read(const void *thread, char *name) {
  const void *string = object_attribute(thread, "_name");
  if (!string || object_sort(string) != SORT_TEXT || !string_object_is_ready(string)) return false;
  size_t bytes = python_string_read(string, name, THREAD_NAME_BYTES - 1);
  for (size_t i = 0; i < bytes; i++)
    if (!name[i]) name[i] = '?';
  name[bytes] = 0;
  return bytes > 0;
}

// A thread that Python did not start is called Dummy-1 and so on: the kernel's name tells more.
static bool title_is_made_up(const void *thread, const char *name) {
  return strncmp(name, "Dummy-", 6) == 0 && strcmp(object_type_name(thread), "_DummyThread") == 0;
}

// ---- threads that begin

// threading.Thread.start, which calls _thread.start_new_thread, or from 3.13 on start_joinable_thread.
static bool is_starter(const char *code) {
  return running_frame_code_is(code, "Thread.start", "start", "threading.py");
}

const char *thread_start_frame(const char *frame) {
  struct running_frame read;
  for (uint32_t frames = 0; frame && frames < STARTER_FRAMES; frame = frame_outside(frame)) {
    if (!running_frame_at(frame, &read)) continue;
    if (is_starter(read.code)) return frame;
    frames++;
  }
  return NULL;
}

static const void *started_by(void *thread_state) {
  const char *frame = thread_start_frame(frame_innermost(&frame_layout, thread_state));
  return frame ? frame_self(frame) : NULL;
}

static bool title_of_new(char name[THREAD_NAME_BYTES]) {
  void *state = interpreter_frames_readable() ? python_thread_state() : NULL;
  const void *thread = state ? started_by(state) : NULL;
  if (!thread) return false;
  if (!active && !python_interpreter_is_other(state)) thread_titles_look();
  return title_read(thread, name);
}

// ---- threads that live

// heaptide's structs, to be found by the kernel's number of the thread.
struct living {
  struct {
    uint32_t tid;
    struct thread *thread;
  } * rows;
  uint32_t count, capacity;
};

static void living_add(struct thread *thread, void *context) {
  struct living *living = context;
  if (thread->state != THREAD_ALIVE || living->count == living->capacity) return;
  living->rows[living->count].tid = thread->tid;
  living->rows[living->count++].thread = thread;
}

static struct thread *living_find(const struct living *living, uint32_t tid) {
  for (uint32_t i = 0; i < living->count; i++)
    if (living->rows[i].tid == tid) return living->rows[i].thread;
  return NULL;
}

// False: none, or not a number of that size.
static bool number_is(const void *object, unsigned long *value) {
  int overflow = 0;
  if (!object || object_sort(object) != SORT_NUMBER) return false;
  *value = (unsigned long)python.PyLong_AsLongLongAndOverflow((void *)object, &overflow);
  return !overflow;
}

static void title_take(const struct living *living, const void *object) {
  unsigned long tid;
  char name[THREAD_NAME_BYTES];
  struct thread *thread =
      number_is(object_attribute(object, "_native_id"), &tid) ? living_find(living, (uint32_t)tid) : NULL;
  if (thread && title_read(object, name) && !title_is_made_up(object, name))
    memcpy(thread->name, name, strlen(name) + 1);
}

static void titles_take(void *context) {
  void *key, *thread;
  ssize_t position = 0;
  if (object_sort(active) != SORT_DICT) return;
  for (uint32_t i = 0; i < ACTIVE_MAX && python.PyDict_Next(active, &position, &key, &thread); i++)
    title_take(context, thread);
}

static bool living_collect(struct living *living) {
  *living = (struct living){.capacity = thread_count_alive()};
  if (!active || !living->capacity) return false;
  living->rows = sys_map(living->capacity * sizeof *living->rows);
  if (living->rows) thread_each(living_add, living);
  return living->rows != NULL;
}

static void living_drop(struct living *living) { sys_unmap(living->rows, living->capacity * sizeof *living->rows); }

// Whoever holds the GIL stands still, perhaps in the midst of a change: then a name may be missed, or be that of
// before.
static void titles_of_living(void) {
  struct living living;
  if (!interpreter_frames_readable() || !living_collect(&living)) return;
  guard_begin();
  guard_run(titles_take, &living);
  guard_end();
  living_drop(&living);
}

// ---- with the GIL

void thread_titles_look(void) {
  active = NULL;
  if (!interpreter_frames_readable()) return;
  void *threading = object_item(python.PyImport_GetModuleDict(), "threading");
  void *found = threading && object_sort(threading) == SORT_MODULE ? object_attribute(threading, "_active") : NULL;
  if (found && object_sort(found) == SORT_DICT) active = found;
}

void thread_titles_keep(void) {
  struct living living;
  thread_titles_look();
  if (!living_collect(&living)) return;
  titles_take(&living);
  living_drop(&living);
}

bool thread_title_of_state(const void *thread_state, char name[THREAD_NAME_BYTES]) {
  unsigned long ident = *(const unsigned long *)((const char *)thread_state + frame_layout.tstate_thread_id), number;
  void *key, *thread;
  ssize_t position = 0;
  while (active && python.PyDict_Next(active, &position, &key, &thread))
    if (number_is(key, &number) && number == ident) return title_read(thread, name);
  return false;
}

void thread_titles_begin_again(void) { active = NULL; }

void thread_titles_start(void) {
  static const struct thread_name_source source = {title_of_new, titles_of_living};
  thread_names_set_source(&source);
}
