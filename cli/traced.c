#include "traced.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "outdir.h"
#include "pid_namespace.h"
#include "process_life.h"
#include "snapshot_request.h"

// ---- who is there

static bool is_listed(const struct traced_list *found, const char *stem) {
  for (size_t i = 0; i < found->count; i++)
    if (strcmp(found->table[i].stem, stem) == 0) return true;
  return false;
}

static void traced_add(struct traced_list *found, const char *folder, const char *file) {
  struct outdir_name name = outdir_name_read(file);
  if (name.kind != OUTDIR_CHECKPOINT) return;
  struct traced traced = {.pid = pid_outside(folder, name.pid)};
  if (!traced.pid || process_has_ended((uint32_t)traced.pid)) return;
  const char *stem = file + 1, *end = strrchr(stem, '.');
  snprintf(traced.stem, sizeof traced.stem, "%.*s", (int)(end - stem), stem);
  if (is_listed(found, traced.stem)) return;
  found->table = memory_grow(found->table, found->count, &found->capacity, sizeof *found->table);
  found->table[found->count++] = traced;
}

static int traced_compare(const void *left, const void *right) {
  const struct traced *a = left, *b = right;
  return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) : strcmp(a->stem, b->stem);
}

bool traced_find(const char *folder, struct traced_list *found) {
  *found = (struct traced_list){0};
  DIR *directory = opendir(folder);
  if (!directory) return false;
  for (struct dirent *entry; (entry = readdir(directory));) traced_add(found, folder, entry->d_name);
  closedir(directory);
  // A folder's order changes with each checkpoint's file.
  if (found->count) qsort(found->table, found->count, sizeof *found->table, traced_compare);
  return true;
}

void traced_free(struct traced_list *found) {
  free(found->table);
  *found = (struct traced_list){0};
}

// ---- waking one

static bool file_read(pid_t pid, const char *tid, const char *name, char *text, size_t capacity) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)pid, tid, name);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  size_t bytes = fread(text, 1, capacity - 1, file);
  fclose(file);
  text[bytes] = 0;
  return bytes > 0;
}

static uint64_t mask_of(const char *status, const char *field) {
  const char *at = strstr(status, field);
  return at ? strtoull(at + strlen(field), NULL, 16) : 0;
}

// How well a thread suits: asleep in a known call, the call goes on untouched; running, it is in none.
enum { SUITS_NOT, SUITS_UNSEEN, SUITS_RUNNING, SUITS_ASLEEP };

// What /proc/PID/task/TID/syscall says, packed as the handler wants it: "number arg0 .. arg5 sp pc", or "running", or
// "-1 sp pc" (proc_pid_syscall(5)).
static int call_look(pid_t pid, const char *tid, uint64_t *value) {
  char text[512];
  long number;
  unsigned long long pc;
  *value = 0;
  if (!file_read(pid, tid, "syscall", text, sizeof text)) return SUITS_UNSEEN;
  if (text[0] == 'r' || text[0] == '-') return SUITS_RUNNING;
  if (sscanf(text, "%ld %*x %*x %*x %*x %*x %*x %*x %llx", &number, &pc) != 2) return SUITS_UNSEEN;
  *value = (uint64_t)number << REQUEST_PC_BITS | (pc & REQUEST_PC_MASK);
  return SUITS_ASLEEP;
}

static int thread_look(pid_t pid, const char *tid, uint64_t *value) {
  char status[4096];
  const uint64_t bit = 1ull << (REQUEST_SIGNAL - 1);
  if (!file_read(pid, tid, "status", status, sizeof status)) return SUITS_NOT;
  bool listens = mask_of(status, "\nSigCgt:") & bit && !(mask_of(status, "\nSigBlk:") & bit);
  return listens ? call_look(pid, tid, value) : SUITS_NOT;
}

static bool signal_send(pid_t pid, pid_t tid, uint64_t value) {
  siginfo_t info = {.si_signo = REQUEST_SIGNAL, .si_code = SI_QUEUE};
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = (void *)(uintptr_t)value;
  return syscall(SYS_rt_tgsigqueueinfo, pid, tid, REQUEST_SIGNAL, &info) == 0;
}

bool traced_wake(pid_t pid) {
  char path[64];
  int best = SUITS_NOT;
  pid_t best_tid = 0;
  uint64_t best_value = 0, value;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && best < SUITS_ASLEEP && (entry = readdir(tasks));) {
    if (entry->d_name[0] == '.') continue;
    int suits = thread_look(pid, entry->d_name, &value);
    if (suits <= best) continue;
    best = suits;
    best_tid = (pid_t)atoi(entry->d_name);
    best_value = value;
  }
  if (tasks) closedir(tasks);
  return best && signal_send(pid, best_tid, best_value);
}
