#include "thread_name.h"

#include <string.h>
#include <sys/prctl.h>

#include "sys.h"
#include "text.h"

static const struct thread_name_source *source; // NULL: none

void thread_names_set_source(const struct thread_name_source *given) { source = given; }

void thread_name_of_new(char name[THREAD_NAME_BYTES]) {
  if (!source || !source->of_new(name)) name[0] = 0;
}

void thread_names_of_living(void) {
  if (source) source->of_living();
}

// The kernel cuts a longer name wherever its bytes end.
static void kernel_name_end(char *name, size_t bytes) {
  name[bytes < THREAD_NAME_KERNEL_BYTES - 1 ? bytes : text_whole_characters(name, bytes)] = 0;
}

void thread_name_own(char name[THREAD_NAME_BYTES]) {
  name[0] = name[THREAD_NAME_KERNEL_BYTES - 1] = 0;
  sys_call3(SYS_prctl, PR_GET_NAME, (long)name, 0);
  kernel_name_end(name, strlen(name));
}

// By the process's number, since in a copy of it /proc/self is the copy's.
void thread_name_of_tid(uint32_t tid, char name[THREAD_NAME_BYTES]) {
  char path[64];
  size_t bytes;
  struct text text;
  text_start(&text, path, sizeof path);
  text_add(&text, "/proc/");
  text_add_decimal(&text, (uint64_t)sys_pid());
  text_add(&text, "/task/");
  text_add_decimal(&text, tid);
  text_add(&text, "/comm");
  if (!sys_read_all(path, name, THREAD_NAME_BYTES, &bytes)) bytes = 0;
  if (bytes && name[bytes - 1] == '\n') bytes--;
  if (bytes >= THREAD_NAME_KERNEL_BYTES) bytes = THREAD_NAME_KERNEL_BYTES - 1;
  kernel_name_end(name, bytes);
}
