#include "process_life.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_SLACK_NS 2000000000ll // a tick of the start time, and clocks that were set meanwhile

// /proc/PID/stat: field 3 is the state, field 20 the number of threads, field 22 the start in clock ticks after boot
// (proc_pid_stat(5)). The name in field 2 may hold spaces and parentheses.
struct stat_line {
  char state; // of the main thread, which may end before the others
  long threads;
  unsigned long long start_ticks;
};

static bool stat_read(uint32_t pid, struct stat_line *stat) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  char *read = fgets(line, sizeof line, file), *name_end = read ? strrchr(line, ')') : NULL;
  fclose(file);
  return name_end &&
         sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
                &stat->state, &stat->threads, &stat->start_ticks) == 3;
}

static bool is_over(const struct stat_line *stat) {
  return (stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1;
}

bool process_has_ended(uint32_t pid) {
  struct stat_line stat;
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) return true;
  return stat_read(pid, &stat) && is_over(&stat); // where /proc hides other users' processes it cannot be read
}

enum process_stop process_stop_of(uint32_t pid) {
  struct stat_line stat;
  if (!stat_read(pid, &stat)) return PROCESS_STOP_UNKNOWN;
  return stat.state == 'T' || stat.state == 't' ? PROCESS_STOPPED : PROCESS_GOES_ON;
}

// Fields of /proc/PID/task/TID/status (proc_pid_status(5)).
static uint64_t task_switches(uint32_t pid, const char *tid) {
  char path[96], line[256];
  unsigned long long switches = 0, sum = 0;
  snprintf(path, sizeof path, "/proc/%u/task/%.16s/status", pid, tid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "voluntary_ctxt_switches: %llu", &switches) == 1 ||
        sscanf(line, "nonvoluntary_ctxt_switches: %llu", &switches) == 1)
      sum += switches;
  if (file) fclose(file);
  return sum;
}

uint64_t process_activity(uint32_t pid) {
  char path[64];
  uint64_t sum = 0;
  snprintf(path, sizeof path, "/proc/%u/task", pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && (entry = readdir(tasks));)
    if (entry->d_name[0] != '.') sum += task_switches(pid, entry->d_name);
  if (tasks) closedir(tasks);
  return sum;
}

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

bool process_lives(uint32_t pid, uint64_t recorded_unix_ns) {
  struct stat_line stat;
  if (!stat_read(pid, &stat) || is_over(&stat)) return false;
  int64_t boot_unix_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
  int64_t start_unix_ns =
      boot_unix_ns + (int64_t)(stat.start_ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK)));
  return start_unix_ns <= (int64_t)recorded_unix_ns + CLOCK_SLACK_NS;
}
