// `heaptide attach` and `heaptide detach`: the recorder into a process that runs, and out of it again.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach_python.h"
#include "commands.h"
#include "elf_symbols.h"
#include "gpu_options.h"
#include "inject.h"
#include "library.h"
#include "options.h"
#include "outdir.h"
#include "pid_namespace.h"
#include "problem.h"
#include "process_life.h"
#include "process_maps.h"
#include "program_name.h"
#include "session.h"
#include "session_options.h"
#include "traced.h"

#define PYTHON_LOOK_MS 2
#define PYTHON_ENTER_MS 5000
#define PYTHON_LEAVE_MS 60000
#define DETACH_TRIES 400
#define DETACH_AGAIN_NS 5000000l
#define END_LOOKS 50 // half a second
#define END_LOOK_NS 10000000
#define RTLD_NOW_LOCAL 2 // RTLD_NOW, and not RTLD_GLOBAL: bits/dlfcn.h

struct attach {
  pid_t pid;
  bool python, per_thread;                    // --py, --per-thread
  uint64_t depth, python_depth, gpu_timeline; // HT_GPU_TIMELINE_*
  struct library library;
  struct outdir outdir;
  struct inject *inject;
};

// ---- the process

static bool process_program(pid_t pid, char name[256]) {
  char path[PATH_MAX];
  bool known = process_program_path(pid, path);
  const char *slash = strrchr(path, '/');
  snprintf(name, 256, "%s", slash ? slash + 1 : "process");
  return known || errno != ENOENT;
}

// As `heaptide run` names a run: an interpreter by its script.
static void process_name(pid_t pid, char name[PROGRAM_NAME_BYTES]) {
  enum { WORDS = 64 }; // a script comes before its own arguments
  char path[64], program[PROGRAM_NAME_BYTES], line[4096] = "", *words[WORDS + 1] = {program};
  process_program(pid, program);
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
  FILE *file = fopen(path, "re");
  size_t bytes = file ? fread(line, 1, sizeof line - 1, file) : 0;
  if (file) fclose(file);
  int count = 1;
  for (char *at = line + strlen(line) + 1; at < line + bytes && count < WORDS; at += strlen(at) + 1)
    words[count++] = at;
  program_name(words, name);
}

// Effective ids: field 2 of the lines `Uid:` and `Gid:` (proc_pid_status(5)).
static bool process_owner(pid_t pid, uid_t *uid, gid_t *gid) {
  char path[64], line[256];
  unsigned seen = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    seen += (sscanf(line, "Uid: %*u %u", uid) == 1) + (sscanf(line, "Gid: %*u %u", gid) == 1);
  if (file) fclose(file);
  return seen == 2;
}

// True when the process finds the same file or folder under `path` as we do. Who may not look may not attach either,
// and hears that from the step that needs the right.
static bool process_sees(pid_t pid, const char *path) {
  char there[PATH_MAX + 32];
  struct stat own, its;
  snprintf(there, sizeof there, "/proc/%d/root%s", (int)pid, path);
  if (stat(path, &own) != 0) return false;
  if (stat(there, &its) != 0) return errno == EACCES;
  return own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

// The process writes its reports itself, as whoever it runs.
static bool outdir_hand_over(const struct attach *attach) {
  uid_t uid;
  gid_t gid;
  if (!process_sees(attach->pid, attach->outdir.path)) {
    complain("%s: process %d does not see this folder (another container); name one that both see with --out",
             attach->outdir.shown, (int)attach->pid);
    return false;
  }
  if (!pid_namespace_note(attach->outdir.path, attach->pid)) {
    complain("%s: cannot be written: %s; check its rights", attach->outdir.shown, strerror(errno));
    return false;
  }
  if (!process_owner(attach->pid, &uid, &gid) || uid == geteuid()) return true;
  if (chown(attach->outdir.path, uid, gid) == 0) return true;
  complain("%s: cannot be given to the owner of process %d: %s; use sudo", attach->outdir.shown, (int)attach->pid,
           strerror(errno));
  return false;
}

// ---- the library

static bool copy_to(int from, int to) {
  char buffer[65536];
  ssize_t bytes;
  while ((bytes = read(from, buffer, sizeof buffer)) > 0)
    if (write(to, buffer, (size_t)bytes) != bytes) return false;
  return bytes == 0;
}

// A process that does not see the library's file is given its content as memory.
static bool library_hand_over(const struct attach *attach, uint64_t *fd, char path[64], struct problem *problem) {
  uint64_t create = inject_libc(attach->inject, "memfd_create");
  const uint64_t arguments[3] = {inject_put(attach->inject, MEMFD_NAME, sizeof MEMFD_NAME), MFD_CLOEXEC};
  if (!create || !inject_call(attach->inject, create, arguments, fd, problem)) return false;
  snprintf(path, 64, "/proc/%d/fd/%d", (int)attach->pid, (int)*fd);
  int from = open(attach->library.path, O_RDONLY | O_CLOEXEC), to = open(path, O_WRONLY | O_CLOEXEC);
  bool copied = from >= 0 && to >= 0 && copy_to(from, to);
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  snprintf(path, 64, "/proc/self/fd/%d", (int)*fd);
  return copied || problem_set(problem, "see its limits", "the library cannot be handed over to it");
}

static bool library_open(const struct attach *attach, const char *path, struct problem *problem) {
  char why[200];
  uint64_t handle, text;
  const uint64_t arguments[3] = {inject_put(attach->inject, path, strlen(path) + 1), RTLD_NOW_LOCAL};
  if (!inject_call(attach->inject, inject_libc(attach->inject, "dlopen"), arguments, &handle, problem)) return false;
  if (handle) return true;
  const uint64_t none[3] = {0};
  if (!inject_call(attach->inject, inject_libc(attach->inject, "dlerror"), none, &text, problem)) return false;
  inject_string(attach->inject, text, why, sizeof why);
  return problem_set(problem, "start it under heaptide run instead", "the library cannot be loaded into it: %s", why);
}

static bool library_load(const struct attach *attach, struct problem *problem) {
  // It may see the file and not be allowed to load it: another user's folder, a file system without execution.
  if (process_sees(attach->pid, attach->library.path) && library_open(attach, attach->library.path, problem))
    return true;
  char path[64];
  uint64_t fd, closed;
  if (!library_hand_over(attach, &fd, path, problem)) return false;
  bool loaded = library_open(attach, path, problem);
  const uint64_t arguments[3] = {fd};
  inject_call(attach->inject, inject_libc(attach->inject, "close"), arguments, &closed, problem);
  return loaded;
}

static bool library_call(const struct attach *attach, const char *name, const char *text, uint64_t *result,
                         struct problem *problem) {
  uint64_t address = inject_library_symbol(attach->pid, attach->library.path, name);
  const uint64_t arguments[3] = {text ? inject_put(attach->inject, text, strlen(text) + 1) : 0};
  if (!address)
    return problem_set(problem, "restart the process", "the heaptide that was loaded into it is not this one");
  return inject_call(attach->inject, address, arguments, result, problem);
}

// ---- attach

static bool begin(struct attach *attach, struct problem *problem) {
  static struct session session;
  static char text[SESSION_FORMAT_BYTES];
  struct process_module module;
  uint64_t result;
  session_default(&session);
  session.depth = attach->depth;
  session.py = attach->python;
  session.py_depth = attach->python_depth;
  session.per_thread = attach->per_thread;
  session.gpu_timeline = attach->gpu_timeline;
  session.every_ms = EVERY_MS_DEFAULT;
  session.main_pid = (uint64_t)pid_inside(attach->pid);
  memcpy(session.library, attach->library.path, sizeof session.library);
  memcpy(session.out, attach->outdir.path, sizeof session.out);
  session_format(&session, text, sizeof text);
  attach->inject = inject_begin(attach->pid, problem);
  if (!attach->inject) return false;
  if (!inject_library_find(attach->pid, &module) && !library_load(attach, problem)) return false;
  if (!library_call(attach, "ht_attach", text, &result, problem)) return false;
  if (result == ENOTSUP)
    return problem_set(problem, "let that run record it",
                       "it runs under a heaptide run that leaves it out (--no-children)");
  if (result == EALREADY) return problem_set(problem, "see its folder", "it is being recorded already");
  if (result != 0)
    return problem_set(problem, "see its memory limits", "recording could not begin: %s", strerror((int)result));
  if (attach->python && (!library_call(attach, "ht_python_enter", NULL, &result, problem) || result != 0))
    complain("%d: --py: no thread could be started in it; its memory is shown as native code's", (int)attach->pid);
  return true;
}

// ---- Python, whose lock a thread in the process waits for (native/attach_python.h)

// UINT64_MAX: the process has ended.
static uint64_t python_state(const struct attach *attach) {
  int state;
  uint64_t address = inject_library_symbol(attach->pid, attach->library.path, "ht_python_state");
  if (!address || !inject_read(attach->pid, address, &state, sizeof state)) return UINT64_MAX;
  return (uint64_t)state;
}

// The first state that is not one of those between `first` and `last`, or one of those when the time is up.
static uint64_t python_wait(const struct attach *attach, uint64_t first, uint64_t last, int limit_ms) {
  uint64_t state = python_state(attach);
  for (int waited_ms = 0; state >= first && state <= last && waited_ms < limit_ms; waited_ms += PYTHON_LOOK_MS) {
    nanosleep(&(struct timespec){.tv_nsec = PYTHON_LOOK_MS * 1000000}, NULL);
    state = python_state(attach);
  }
  return state;
}

static void python_say(const struct attach *attach) {
  int pid = (int)attach->pid;
  switch (python_wait(attach, PYTHON_ATTACH_WAITING, PYTHON_ATTACH_ENTERING, PYTHON_ENTER_MS)) {
  case PYTHON_ATTACH_WAITING:
  case PYTHON_ATTACH_ENTERING:
    complain("%d: --py: its interpreter is busy in one call; Python's objects are seen as soon as that returns", pid);
    break;
  case PYTHON_ATTACH_ABSENT:
  case PYTHON_ATTACH_UNSUPPORTED:
    complain("%d: --py: no Python that heaptide knows runs in it (CPython 3.9 to 3.14 with a GIL, its symbols "
             "exported); its memory is shown as native code's",
             pid);
    break;
  case PYTHON_ATTACH_DOWN:
    complain("%d: --py: its interpreter is not up; attach again when it is", pid);
    break;
  case PYTHON_ATTACH_OTHER:
    complain("%d: --py: its allocators are not Python's own (tracemalloc, -X dev, PYTHONMALLOC=debug, another "
             "profiler); its memory is shown as native code's",
             pid);
    break;
  case PYTHON_ATTACH_SEVERAL:
    complain("%d: --py: it has several interpreters, which is not supported; its memory is shown as native code's",
             pid);
    break;
  }
}

static int attach_now(struct attach *attach, const char *out) {
  char program[PROGRAM_NAME_BYTES];
  struct problem problem;
  process_name(attach->pid, program);
  if (!outdir_take(&attach->outdir, out, program, (int)attach->pid, false)) return STATUS_ERROR;
  bool begun = false;
  if (outdir_hand_over(attach)) {
    begun = begin(attach, &problem);
    if (attach->inject) inject_end(attach->inject);
    char what[32];
    snprintf(what, sizeof what, "%d", (int)attach->pid);
    if (!begun) problem_print(what, problem.why, problem.todo);
  }
  if (!begun) outdir_drop_empty(&attach->outdir);
  if (begun && attach->python) python_say(attach);
  if (begun)
    complain("attached to %s (pid %d) -> %s (heaptide snapshot, top or detach %s)", program, (int)attach->pid,
             attach->outdir.shown, attach->outdir.shown);
  return begun ? STATUS_OK : STATUS_ERROR;
}

// False after a complaint.
static bool attach_parse(struct attach *attach, const char **out, int argc, char **argv) {
  const char *gpu_timeline = NULL;
  uint64_t pid;
  *attach = (struct attach){.python_depth = 1};
  const struct option options[] = {
      {.name = "--out", .kind = OPTION_TEXT, .into = out},
      {.name = "--py", .kind = OPTION_FLAG, .into = &attach->python},
      {.name = "--py-depth", .kind = OPTION_NUMBER, .into = &attach->python_depth, .low = 1, .high = PY_DEPTH_MAX},
      {.name = "--per-thread", .kind = OPTION_FLAG, .into = &attach->per_thread},
      {.name = "--gpu-timeline", .kind = OPTION_TEXT, .into = &gpu_timeline},
      {0},
  };
  int operands = options_parse("attach", options, false, argc, argv);
  if (operands < 0 || !depth_choose(attach->python, &attach->depth)) return false;
  if (gpu_timeline && !gpu_timeline_parse("attach", gpu_timeline, &attach->gpu_timeline)) return false;
  if (operands != 1 || !options_number(argv[1], 1, INT32_MAX, &pid)) {
    complain("attach: %s; heaptide attach PID [--py] [--out DIR]",
             operands ? "a PID is one whole number" : "no PID given");
    return false;
  }
  attach->pid = (pid_t)pid;
  return true;
}

int command_attach(int argc, char **argv) {
  static struct attach attach;
  const char *out = NULL;
  if (!attach_parse(&attach, &out, argc, argv)) return STATUS_ERROR;
  if (!library_find(&attach.library)) {
    complain("libheaptide.so: not found beside heaptide nor in ../lib/heaptide; install heaptide again");
    return STATUS_ERROR;
  }
  if (process_has_ended((uint32_t)attach.pid)) {
    complain("%d: no such process; look for it with ps", (int)attach.pid);
    return STATUS_ERROR;
  }
  return attach_now(&attach, out);
}

// ---- detach

// Its hooks go out first. The thread that was stopped for the call must go on: it may hold the lock.
static bool python_end(struct attach *attach, struct problem *problem) {
  uint64_t result, state = python_wait(attach, PYTHON_ATTACH_ENTERING, PYTHON_ATTACH_ENTERING, PYTHON_ENTER_MS);
  if (state == PYTHON_ATTACH_OUT || state >= PYTHON_ATTACH_LEFT) return true;
  attach->inject = inject_begin(attach->pid, problem);
  if (!attach->inject || !library_call(attach, "ht_python_leave", NULL, &result, problem)) return false;
  inject_end(attach->inject);
  attach->inject = NULL;
  if (result == ENOENT) return true;
  if (result != 0 && result != EALREADY)
    return problem_set(problem, "see its limits", "no thread could be started in it: %s", strerror((int)result));
  state = python_wait(attach, PYTHON_ATTACH_ENTERING, PYTHON_ATTACH_LEAVING, PYTHON_LEAVE_MS);
  return state == PYTHON_ATTACH_LEFT ||
         problem_set(problem, "detach again later", "its Python interpreter is busy in one call");
}

enum detached {
  DETACHED,
  DETACH_STARTED, // it was not attached to: recorded from its first moment, it stays so to its end
  DETACH_ENDED,   // meanwhile, and has written its report itself
  DETACH_FAILED
};

// A process that is on its way out cannot be looked into any more some moments before it has ended.
static bool ends_now(pid_t pid) {
  bool ended = process_has_ended((uint32_t)pid);
  for (int looks = 0; !ended && looks < END_LOOKS; looks++) {
    nanosleep(&(struct timespec){.tv_nsec = END_LOOK_NS}, NULL);
    ended = process_has_ended((uint32_t)pid);
  }
  return ended;
}

// By another thread, or a little later, where the one that was stopped is in the middle of being recorded.
static bool detach_call(struct attach *attach, uint64_t *result, struct problem *problem) {
  for (int tries = 0; tries < DETACH_TRIES; tries++) {
    attach->inject = inject_begin(attach->pid, problem);
    if (!attach->inject || !library_call(attach, "ht_detach", NULL, result, problem)) return false;
    if (*result != EAGAIN) return true;
    inject_end(attach->inject);
    attach->inject = NULL;
    nanosleep(&(struct timespec){.tv_nsec = DETACH_AGAIN_NS}, NULL);
  }
  return problem_set(problem, "detach again later", "every thread that was stopped was being recorded");
}

static enum detached end(struct attach *attach, const char *folder, struct problem *problem) {
  uint64_t result = EAGAIN;
  if (!python_end(attach, problem) || !detach_call(attach, &result, problem))
    return ends_now(attach->pid) ? DETACH_ENDED : DETACH_FAILED;
  if (result == EINVAL) return DETACH_STARTED;
  if (result != EIO) return DETACHED;
  problem_set(problem, "see its room and rights", "detached, but its report could not be written to %s", folder);
  return DETACH_FAILED;
}

static enum detached detach_one(struct attach *attach, const char *folder) {
  struct problem problem;
  char what[32];
  snprintf(what, sizeof what, "%d", (int)attach->pid);
  enum detached how = end(attach, folder, &problem);
  if (attach->inject) inject_end(attach->inject);
  attach->inject = NULL;
  if (how == DETACHED)
    complain("detached from %s -> %s (heaptide report %s)", what, folder, folder);
  else if (how == DETACH_STARTED)
    complain("%s: it was not attached to: heaptide run, or a process that was, started it; let it come to its end",
             what);
  else if (how == DETACH_FAILED)
    problem_print(what, problem.why, problem.todo);
  return how;
}

// Programs that an attached process started do not keep it from being let go of.
static bool detach_all(struct attach *attach, const struct traced_list *processes, const char *folder) {
  size_t seen[DETACH_FAILED + 1] = {0};
  for (size_t i = 0; i < processes->count; i++) {
    attach->pid = processes->table[i].pid;
    seen[detach_one(attach, folder)]++;
  }
  if (seen[DETACH_ENDED] == processes->count)
    complain("%s: no traced process runs there; name the folder that attach wrote to", folder);
  return seen[DETACHED] && !seen[DETACH_FAILED];
}

int command_detach(int argc, char **argv) {
  static struct attach attach;
  struct traced_list processes;
  const struct option none[] = {{0}};
  int operands = options_parse("detach", none, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands != 1) {
    complain("detach: %s; heaptide detach DIR", operands ? "more than one folder" : "no folder given");
    return STATUS_ERROR;
  }
  if (!library_find(&attach.library) || !traced_find(argv[1], &processes)) {
    complain("%s: %s; name the folder that attach wrote to", argv[1], strerror(errno));
    return STATUS_ERROR;
  }
  bool detached = detach_all(&attach, &processes, argv[1]);
  traced_free(&processes);
  return detached ? STATUS_OK : STATUS_ERROR;
}
