// `heaptide run`: starts CMD with the recorder in it and ends as CMD ends.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "gpu_options.h"
#include "hint.h"
#include "library.h"
#include "options.h"
#include "outdir.h"
#include "problem.h"
#include "program_name.h"
#include "relay.h"
#include "run_end.h"
#include "session.h"
#include "session_options.h"
#include "target.h"

#define EVERY_MS_MAX (60 * 60 * 1000)
#define SNAPSHOT_S_MAX (365 * 24 * 60 * 60)

struct run {
  bool py, gpu, per_thread, no_children, overwrite, quiet;
  uint64_t gpu_timeline_parts;                      // HT_GPU_TIMELINE_*
  uint64_t depth, py_depth, every_ms, sample_bytes; // depth 0: not given
  uint64_t snapshot_s;                              // 0: none
  const char *only, *out, *fail_on, *gpu_timeline;
  char **command;
  struct target target;
  struct library library;
};

// What the child tells the launcher. In shared memory: a pipe would need descriptors, and CMD may have few.
struct started {
  struct outdir outdir;
  int exec_errno; // 0: CMD was started, or heaptide itself failed first
};

// False after a complaint.
static bool run_parse(struct run *run, int argc, char **argv) {
  *run = (struct run){.py_depth = 1, .every_ms = EVERY_MS_DEFAULT};
  const struct option options[] = {
      {.name = "--py", .kind = OPTION_FLAG, .into = &run->py},
      {.name = "--py-depth", .kind = OPTION_NUMBER, .into = &run->py_depth, .low = 1, .high = PY_DEPTH_MAX},
      {.name = "--gpu", .kind = OPTION_FLAG, .into = &run->gpu},
      {.name = "--gpu-timeline", .kind = OPTION_TEXT, .into = &run->gpu_timeline},
      {.name = "--per-thread", .kind = OPTION_FLAG, .into = &run->per_thread},
      {.name = "--every", .kind = OPTION_NUMBER, .into = &run->every_ms, .low = 1, .high = EVERY_MS_MAX},
      {.name = "--snapshot-every", .kind = OPTION_NUMBER, .into = &run->snapshot_s, .low = 1, .high = SNAPSHOT_S_MAX},
      {.name = "--no-children", .kind = OPTION_FLAG, .into = &run->no_children},
      {.name = "--only", .kind = OPTION_TEXT, .into = &run->only},
      {.name = "--depth", .kind = OPTION_NUMBER, .into = &run->depth, .low = 1, .high = DEPTH_MAX},
      {.name = "--out", .kind = OPTION_TEXT, .into = &run->out},
      {.name = "--overwrite", .kind = OPTION_FLAG, .into = &run->overwrite},
      {.name = "--fail-on", .kind = OPTION_CHOICE, .into = &run->fail_on, .choices = "any|leaks|growth|none"},
      {.name = "--sample", .kind = OPTION_NUMBER, .into = &run->sample_bytes, .low = 0, .high = UINT32_MAX},
      {.name = "-q", .kind = OPTION_FLAG, .into = &run->quiet},
      {0},
  };
  int operands = options_parse("run", options, true, argc, argv);
  if (operands < 0 || !depth_choose(run->py, &run->depth)) return false;
  if (run->gpu_timeline && !gpu_timeline_parse("run", run->gpu_timeline, &run->gpu_timeline_parts)) return false;
  if (operands == 0) {
    complain("run: no program given; heaptide run [options] [--] CMD [ARG...]");
    return false;
  }
  if (run->only && strlen(run->only) >= SESSION_TEXT_BYTES) {
    complain("run: --only: more than %d bytes; name fewer programs", SESSION_TEXT_BYTES - 1);
    return false;
  }
  run->command = argv + 1;
  return true;
}

// Why CMD cannot be executed, in words that fit the file at hand.
static int refuse_command(const char *command, int error) {
  bool missing = error == ENOENT || error == ENOTDIR;
  char hint[HINT_TEXT];
  hint_program(command, error, hint);
  if (missing)
    complain("%s: not found; %s", command, hint);
  else
    complain("%s: cannot be executed: %s; %s", command, strerror(error), hint);
  return missing ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
}

// Finds and looks at CMD and the library. Returns 0, or the exit status after a complaint.
static int run_look(struct run *run) {
  const char *command = run->command[0];
  int error;
  if (target_find(command, &run->target, &error)) return refuse_command(command, error);
  target_look(&run->target);
  if (run->target.valgrind) {
    complain("%s: runs under Valgrind, which replaces malloc itself; use one of the two", command);
    return STATUS_RUN_FAILED;
  }
  if (!library_find(&run->library)) {
    complain("libheaptide.so: not found beside heaptide nor in ../lib/heaptide; install heaptide again");
    return STATUS_RUN_FAILED;
  }
  if (!library_link(&run->library)) {
    complain("%s: cannot be linked to from a temporary folder: %s; set TMPDIR", run->library.path, strerror(errno));
    return STATUS_RUN_FAILED;
  }
  if (run->target.reason && !run->target.doubtful) complain("%s: %s", command, run->target.reason);
  return 0;
}

static void session_fill(const struct run *run, const struct outdir *outdir, struct session *session) {
  session_default(session);
  session->depth = run->depth;
  session->every_ms = run->every_ms;
  session->py = run->py;
  session->snapshot_s = run->snapshot_s;
  session->py_depth = run->py_depth;
  session->gpu = run->gpu;
  session->gpu_timeline = run->gpu_timeline_parts;
  session->per_thread = run->per_thread;
  session->children = !run->no_children;
  session->sample = run->sample_bytes;
  session->main_pid = (uint64_t)getpid();
  if (run->only) memcpy(session->only, run->only, strlen(run->only) + 1);
  memcpy(session->library, run->library.preload, sizeof session->library);
  memcpy(session->out, outdir->path, sizeof session->out);
}

// Puts the library and the session into this process's environment. False: no memory.
static bool environment_set(const struct run *run, const struct outdir *outdir) {
  static struct session session;
  static char value[SESSION_FORMAT_BYTES];
  session_fill(run, outdir, &session);
  session_format(&session, value, sizeof value);
  if (setenv(SESSION_VARIABLE, value, 1) < 0) return false;
  if (run->gpu && !gpu_pools_off()) return false;
  const char *old = getenv("LD_PRELOAD");
  if (!old || !old[0]) return setenv("LD_PRELOAD", run->library.preload, 1) == 0;
  char *both;
  if (asprintf(&both, "%s:%s", run->library.preload, old) < 0) return false;
  bool done = setenv("LD_PRELOAD", both, 1) == 0;
  free(both);
  return done;
}

// Becomes CMD. Returns only when that failed, with the exit status.
static int run_become(struct run *run, struct started *started) {
  char name[PROGRAM_NAME_BYTES];
  program_name(run->command, name);
  if (!outdir_take(&started->outdir, run->out, name, getpid(), run->overwrite)) return STATUS_RUN_FAILED;
  if (run->target.preload && !environment_set(run, &started->outdir)) {
    complain("run: %s; free some memory", strerror(ENOMEM));
    return STATUS_RUN_FAILED;
  }
  relay_undo();
  // Only a file that is no program at all goes to the shell, as execvp has it; nor is PATH searched twice.
  if (run->target.shell_script)
    execvp(run->command[0], run->command);
  else
    execv(run->target.path, run->command);
  started->exec_errno = errno;
  outdir_drop_empty(&started->outdir);
  if (started->exec_errno == ENOENT) {
    complain("%s: cannot be executed: the interpreter or loader that it names is missing; install it", run->command[0]);
    return STATUS_NOT_FOUND;
  }
  return refuse_command(run->command[0], started->exec_errno);
}

// No process to spare: CMD takes heaptide's place, and nobody is left for the closing line.
static int run_without_fork(struct run *run, struct started *started, int error) {
  complain("run: fork: %s; CMD runs in heaptide's place, without a closing line", strerror(error));
  return run_become(run, started);
}

// Files that heaptide opens from here on must not become its stdin, stdout or stderr.
static void standard_descriptors_fill(void) {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

// What is to be said once CMD has ended by `signal`, 0: by itself.
static void run_say(const struct run *run, const struct outdir *outdir, int signal) {
  if (run->target.doubtful) complain("%s: %s", run->command[0], run->target.reason);
  struct run_end end;
  run_end_read(&end, outdir);
  if (!run->quiet) {
    run_end_line(&end, outdir, signal, run->out != NULL);
    run_end_unseen(&end);
    run_end_running(&end, outdir);
  }
  run_end_losses(&end, outdir, signal, run->target.silent);
  if (!run->out) outdir_drop_empty(outdir); // else `heaptide report` would take it for the newest
}

// CMD has ended with `status`. Returns heaptide's own.
static int run_finish(const struct run *run, const struct started *started, int status) {
  library_unlink(&run->library);
  bool never_started = !started->outdir.path[0] || started->exec_errno;
  if (never_started) return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_RUN_FAILED;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  run_say(run, &started->outdir, signal);
  if (signal) relay_die_of(signal);
  if (WEXITSTATUS(status) == 0 && run->fail_on && strcmp(run->fail_on, "none") != 0)
    return run_end_judge(&started->outdir, run->fail_on);
  return WEXITSTATUS(status);
}

int command_run(int argc, char **argv) {
  static struct run run;
  if (!run_parse(&run, argc, argv)) return STATUS_RUN_FAILED;
  int refused = run_look(&run);
  if (refused) return refused;
  struct started *started = mmap(NULL, sizeof *started, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (started == MAP_FAILED) {
    complain("run: %s; free some memory", strerror(errno));
    return STATUS_RUN_FAILED;
  }
  relay_prepare();
  pid_t child = fork();
  if (child < 0) return run_without_fork(&run, started, errno);
  if (child == 0) _exit(run_become(&run, started));
  int status = relay_wait(child);
  standard_descriptors_fill();
  return run_finish(&run, started, status);
}
