// `heaptide snapshot`: has every traced process of a folder write its report now.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "memory.h"
#include "options.h"
#include "problem.h"
#include "process_life.h"
#include "snapshot_request.h"
#include "traced.h"

#define LIMIT_MS 60000
#define LOOK_MS 5
#define WAKE_FIRST_MS 150 // until then the process may have looked by itself
#define WAKE_AGAIN_MS 1000

struct snapshot {
  const char *folder, *label; // label NULL: none
  struct traced_list processes;
  struct asked *asked; // one for each process
};

enum answer { ANSWER_WAITS, ANSWER_WRITTEN, ANSWER_ENDED, ANSWER_FAILED };

struct asked {
  char ask[PATH_MAX], report[PATH_MAX];
  struct stat before; // of the report, all 0: there was none
  enum answer answer;
  int64_t wake_ms; // when to wake it next
};

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

// ---- asking

static void ask_name(const struct snapshot *snapshot, const struct traced *process, struct asked *asked) {
  const char *label = snapshot->label;
  snprintf(asked->ask, sizeof asked->ask, "%s/.%s%s", snapshot->folder, process->stem, REQUEST_SUFFIX);
  snprintf(asked->report, sizeof asked->report, "%s/%s%s%s.bin", snapshot->folder, label ? label : "", label ? "/" : "",
           process->stem);
  if (stat(asked->report, &asked->before) != 0) asked->before = (struct stat){0};
}

// Under another name first: the process must not read half of it. It may run as another user.
static bool ask_put(const struct snapshot *snapshot, const struct asked *asked) {
  char *temporary = memory_format("%s.%d", asked->ask, (int)getpid());
  const char *label = snapshot->label ? snapshot->label : "";
  int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool put = fd >= 0 && write(fd, label, strlen(label)) == (ssize_t)strlen(label);
  if (fd >= 0) put &= close(fd) == 0;
  put = put && rename(temporary, asked->ask) == 0;
  int error = errno;
  if (!put) unlink(temporary);
  free(temporary);
  errno = error;
  return put;
}

// ---- waiting

static bool is_new(const struct asked *asked) {
  struct stat now;
  if (stat(asked->report, &now) != 0) return false;
  return now.st_ino != asked->before.st_ino || now.st_mtim.tv_sec != asked->before.st_mtim.tv_sec ||
         now.st_mtim.tv_nsec != asked->before.st_mtim.tv_nsec;
}

static void asked_look(struct asked *asked, pid_t pid) {
  if (access(asked->ask, F_OK) != 0) {
    asked->answer = is_new(asked) ? ANSWER_WRITTEN : ANSWER_FAILED;
  } else if (process_has_ended((uint32_t)pid)) {
    unlink(asked->ask);
    asked->answer = ANSWER_ENDED;
  } else if (now_ms() >= asked->wake_ms) {
    traced_wake(pid);
    asked->wake_ms = now_ms() + WAKE_AGAIN_MS;
  }
}

static size_t waiting_count(const struct snapshot *snapshot) {
  size_t waiting = 0;
  for (size_t i = 0; i < snapshot->processes.count; i++) waiting += snapshot->asked[i].answer == ANSWER_WAITS;
  return waiting;
}

static void answers_wait(struct snapshot *snapshot) {
  int64_t until_ms = now_ms() + LIMIT_MS;
  while (waiting_count(snapshot) && now_ms() < until_ms) {
    for (size_t i = 0; i < snapshot->processes.count; i++)
      if (snapshot->asked[i].answer == ANSWER_WAITS) asked_look(&snapshot->asked[i], snapshot->processes.table[i].pid);
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
  }
}

// ---- saying

static unsigned answers_say(const struct snapshot *snapshot) {
  unsigned written = 0;
  for (size_t i = 0; i < snapshot->processes.count; i++) {
    const struct asked *asked = &snapshot->asked[i];
    int pid = (int)snapshot->processes.table[i].pid;
    written += asked->answer == ANSWER_WRITTEN || asked->answer == ANSWER_ENDED;
    if (asked->answer == ANSWER_WAITS) {
      unlink(asked->ask);
      complain("%d: no snapshot within %d s: it is stopped, or blocks signals and does not allocate; try again later",
               pid, LIMIT_MS / 1000);
    } else if (asked->answer == ANSWER_FAILED) {
      complain("%d: its snapshot could not be written; look for room and rights in %s", pid, snapshot->folder);
    }
  }
  return written;
}

static int snapshot_finish(const struct snapshot *snapshot) {
  unsigned written = answers_say(snapshot);
  const char *label = snapshot->label;
  if (written)
    complain("snapshot of %u process%s -> %s%s%s", written, written == 1 ? "" : "es", snapshot->folder,
             label ? "/" : "", label ? label : "");
  return written == snapshot->processes.count ? STATUS_OK : STATUS_FINDING;
}

static int snapshot_take(struct snapshot *snapshot) {
  snapshot->asked = memory_get(snapshot->processes.count, sizeof *snapshot->asked);
  for (size_t i = 0; i < snapshot->processes.count; i++) {
    struct asked *asked = &snapshot->asked[i];
    ask_name(snapshot, &snapshot->processes.table[i], asked);
    asked->wake_ms = now_ms() + WAKE_FIRST_MS;
    if (!ask_put(snapshot, asked)) {
      complain("%s: cannot be written: %s; check its rights", snapshot->folder, strerror(errno));
      return STATUS_ERROR;
    }
  }
  answers_wait(snapshot);
  return snapshot_finish(snapshot);
}

static bool label_is_good(const char *folder, const char *label) {
  char *path = memory_format("%s/%s", folder, label);
  bool bad = label[0] == '.' || strchr(label, '/') || strlen(label) >= REQUEST_LABEL_BYTES;
  bool taken = !bad && access(path, F_OK) == 0;
  free(path);
  if (bad) complain("snapshot: --label '%s': cannot be a folder's name; give a plain word", label);
  if (taken) complain("%s/%s: is there already; choose another --label", folder, label);
  return !bad && !taken;
}

int command_snapshot(int argc, char **argv) {
  struct snapshot snapshot = {0};
  const struct option options[] = {{.name = "--label", .kind = OPTION_TEXT, .into = &snapshot.label}, {0}};
  int operands = options_parse("snapshot", options, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands != 1) {
    complain("snapshot: %s; heaptide snapshot DIR [--label NAME]",
             operands ? "more than one folder" : "no folder given");
    return STATUS_ERROR;
  }
  snapshot.folder = argv[1];
  if (!traced_find(snapshot.folder, &snapshot.processes)) {
    complain("%s: %s; name the folder of a run that goes on", snapshot.folder, strerror(errno));
    return STATUS_ERROR;
  }
  int status = STATUS_ERROR;
  if (snapshot.processes.count == 0)
    complain("%s: no traced process runs there; name the folder of a run that goes on", snapshot.folder);
  else if (!snapshot.label || label_is_good(snapshot.folder, snapshot.label))
    status = snapshot_take(&snapshot);
  free(snapshot.asked);
  traced_free(&snapshot.processes);
  return status;
}
