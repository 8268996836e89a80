// What a report says about its process: command line, executable, rank, resident memory.
#ifndef HT_PROCESS_INFO_H
#define HT_PROCESS_INFO_H

#include "words.h"

struct process_info {
  const char *exe;  // absolute path, "" when unknown
  const char *argv; // `argc` strings, one behind the other, each with its NUL
  size_t argv_bytes;
  uint32_t argc;
  uint32_t rank; // UINT32_MAX: none
};

// Copies the command line before the program can change it, and reads what else is fixed from the start. `argv` as
// constructors get it; NULL (after attach): read from /proc. `environment`: a first constructor has no `environ` yet.
void process_info_init(int argc, char **argv, char **environment);
const struct process_info *process_info(void);

struct process_memory {
  uint64_t rss_bytes, peak_rss_bytes;
};
// What the next two answer now.
struct process_memory process_memory_now(void);
// In a copy of the process (copy.h): what they answer from now on.
void process_memory_set(const struct process_memory *memory);

uint64_t process_rss_bytes(void);      // now; 0: cannot be read
uint64_t process_peak_rss_bytes(void); // since the last exec, or since the first one where /proc is missing
// Of a text as /proc/PID/status: VmRSS and the pages of the hugetlb pools, which that leaves out.
uint64_t process_resident_in(const char *status);
uint64_t process_own_bytes(void); // of heaptide's own memory, what is resident: most of it is reserved only

#endif
