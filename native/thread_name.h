// What threads are called: as their own language has it where a front end knows that, else as the kernel has it.
#ifndef HT_THREAD_NAME_H
#define HT_THREAD_NAME_H

#include "words.h"

#define THREAD_NAME_BYTES 256u       // with the NUL; a front end cuts what is longer between two characters
#define THREAD_NAME_KERNEL_BYTES 16u // TASK_COMM_LEN, include/linux/sched.h: with the NUL

struct thread_name_source {
  // In pthread_create, in the calling thread, outside of hooks: what the new thread will be called. False: not known.
  bool (*of_new)(char name[THREAD_NAME_BYTES]);
  // The other threads are parked, or absent in a copy: sets `name` of those that live (thread.h), where it is known.
  void (*of_living)(void);
};
void thread_names_set_source(const struct thread_name_source *source);

void thread_name_of_new(char name[THREAD_NAME_BYTES]); // "": not known
void thread_names_of_living(void);

// The kernel's name of the calling thread.
void thread_name_own(char name[THREAD_NAME_BYTES]);
// That of another one; "": it cannot be read.
void thread_name_of_tid(uint32_t tid, char name[THREAD_NAME_BYTES]);

#endif
