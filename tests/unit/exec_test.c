// sources: native/hook_exec.c native/exec_look.c native/session.c native/text.c native/libc_symbol.c native/module_symbol.c native/real.c
// What exec and posix_spawn make of the environment, with a recorder that only counts how it is called.
// The hooks are linked into this program; as `show` it prints the two variables that it was started with.
#undef NDEBUG
#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_look.h"
#include "hook_exec.h"
#include "sys.h"

// ---- the stub recorder; its counters are shared, so that a child's calls are seen here

static struct {
  int prepared, failed;
  bool report; // what exec_prepare says
} * recorder;

void scan_origin_fill(struct scan_origin *origin, uintptr_t stack_pointer) {
  *origin = (struct scan_origin){.stack_pointer = stack_pointer};
}

bool exec_prepare(const struct scan_origin *origin) {
  recorder->prepared += origin->stack_pointer != 0;
  return recorder->report;
}

void exec_failed(bool reported) { recorder->failed += reported; }

// ---- helpers

static char own_path[4096], library[4096], folder[32];
static char *const show_argv[] = {"exec_test", "show", NULL};
static char *const no_environment[] = {NULL};

static void session_begin(bool children, bool is_main) {
  static struct session session;
  session_default(&session);
  session.children = children;
  session.main_pid = is_main ? (uint64_t)getpid() : 1;
  strcpy(session.library, library);
  strcpy(session.out, "/some/where");
  hook_exec_init(&session);
  recorder->prepared = recorder->failed = 0;
  recorder->report = false;
}

static char shown[8192]; // what the last child printed: one variable a line
static int pipe_ends[2];

static void output_begin(void) { assert(pipe2(pipe_ends, O_CLOEXEC) == 0); }

static void child_begin(void) { dup2(pipe_ends[1], STDOUT_FILENO); }

// Waits for the child and collects its output; it must have ended with 0.
static void output_end(pid_t child) {
  close(pipe_ends[1]);
  size_t length = 0;
  for (ssize_t bytes; (bytes = read(pipe_ends[0], shown + length, sizeof shown - 1 - length)) > 0;)
    length += (size_t)bytes;
  shown[length] = 0;
  close(pipe_ends[0]);
  int status;
  assert(waitpid(child, &status, 0) == child && status == 0);
}

// Runs `call`, which must exec, in a forked child that the recorder knows of.
static void in_child(void (*call)(void)) {
  output_begin();
  pid_t child = fork();
  if (child == 0) {
    hook_exec_fork_child();
    child_begin();
    call();
    _exit(99);
  }
  output_end(child);
}

static bool shows(const char *text) { return strstr(shown, text) != NULL; }

static bool shows_both(void) {
  char line[5000];
  snprintf(line, sizeof line, "LD_PRELOAD=%s\n", library);
  return shows(line) && shows("HEAPTIDE_SESSION=") && shows("out=/some/where;");
}

static int show(void) {
  for (char **entry = environ; *entry; entry++)
    if (strncmp(*entry, "LD_PRELOAD=", 11) == 0 || strncmp(*entry, "HEAPTIDE_SESSION=", 17) == 0) puts(*entry);
  return 0;
}

// ---- every function, with an empty environment

static void by_execve(void) { execve(own_path, show_argv, no_environment); }
static void by_execve_null(void) { execve(own_path, show_argv, NULL); }
static void by_execv(void) { clearenv(), execv(own_path, show_argv); }
static void by_execvp(void) { clearenv(), execvp(own_path, show_argv); }
static void by_execvpe(void) { execvpe(own_path, show_argv, no_environment); }
static void by_execl(void) { clearenv(), execl(own_path, "exec_test", "show", "3", "4", "5", "6", "7", "8", NULL); }
static void by_execlp(void) { clearenv(), execlp(own_path, "exec_test", "show", NULL); }
static void by_execle(void) { execle(own_path, "exec_test", "show", NULL, no_environment); }
static void by_fexecve(void) { fexecve(open(own_path, O_RDONLY | O_CLOEXEC), show_argv, no_environment); }
static void by_execveat(void) { execveat(AT_FDCWD, own_path, show_argv, no_environment, 0); }
static void by_execveat_descriptor(void) {
  execveat(open(own_path, O_PATH | O_CLOEXEC), "", show_argv, no_environment, AT_EMPTY_PATH);
}
// Searched for: PATH is the caller's.
static void by_search(void) {
  char directory[4096], name[64];
  strcpy(directory, own_path);
  char *slash = strrchr(directory, '/');
  strcpy(name, slash + 1);
  *slash = 0;
  setenv("PATH", directory, 1);
  execvpe(name, show_argv, no_environment);
}

static void an_empty_environment_gets_both(void) {
  void (*const calls[])(void) = {
      by_execve,   by_execve_null,         by_execv, by_execvp, by_execvpe, by_execl, by_execlp, by_execle, by_fexecve,
      by_execveat, by_execveat_descriptor, by_search};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    session_begin(true, true);
    in_child(calls[i]);
    assert(shows_both() && !shows("image"));
    assert(recorder->prepared == 1 && recorder->failed == 0);
  }
}

static void spawn_with(bool search, char *const *environment) {
  output_begin();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t child;
  assert((search ? posix_spawnp : posix_spawn)(&child, own_path, &actions, NULL, show_argv, environment) == 0);
  posix_spawn_file_actions_destroy(&actions);
  output_end(child);
}

static void spawned_children_get_both_and_leave_no_report(void) {
  session_begin(true, true);
  spawn_with(false, no_environment);
  assert(shows_both());
  spawn_with(true, no_environment);
  assert(shows_both() && recorder->prepared == 0);
}

// ---- what was there stays

static void keep_others(void) {
  char preload[5000];
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", "libm.so.6 libdl.so.2");
  execve(own_path, show_argv, (char *const[]){"A=1", preload, "B=2", NULL});
}

static void other_preloads_stay_behind_ours(void) {
  session_begin(true, true);
  in_child(keep_others);
  char line[5000];
  snprintf(line, sizeof line, "LD_PRELOAD=%s:libm.so.6:libdl.so.2\n", library);
  assert(shows(line));
}

static void keep_other_session(void) {
  execve(own_path, show_argv, (char *const[]){"HEAPTIDE_SESSION=out=/else;", NULL});
}

static void another_heaptides_session_is_left_alone(void) {
  session_begin(true, true);
  in_child(keep_other_session);
  assert(shows("HEAPTIDE_SESSION=out=/else;\n"));
}

static void by_many_entries(void) {
  enum { COUNT = 20000 };
  static char *environment[COUNT + 1];
  for (int i = 0; i < COUNT; i++) environment[i] = "X=1";
  execve(own_path, show_argv, environment);
}

static void large_environments_are_rebuilt_too(void) {
  session_begin(true, true);
  in_child(by_many_entries);
  assert(shows_both());
}

// ---- images

static void the_next_image_knows_its_number(void) {
  session_begin(true, true);
  recorder->report = true;
  in_child(by_execve);
  assert(shows("image=1;image_pid=") && recorder->failed == 0);
}

static void a_vfork_child_is_no_image(void) {
  session_begin(true, true);
  recorder->report = true;
  output_begin();
  pid_t child = vfork();
  if (child == 0) {
    child_begin();
    execve(own_path, show_argv, no_environment);
    _exit(99);
  }
  output_end(child);
  assert(shows_both() && !shows("image") && recorder->prepared == 0);
}

// ---- failures

static void a_missing_file_is_no_exec(void) {
  session_begin(true, true);
  recorder->report = true;
  errno = 0;
  assert(execv("/nonexistent", show_argv) == -1 && errno == ENOENT);
  assert(execvp("no-such-program-anywhere", show_argv) == -1 && errno == ENOENT);
  assert(execvp("", show_argv) == -1 && errno == ENOENT);
  assert(execv("/", show_argv) == -1 && errno == EACCES);
  assert(execveat(AT_FDCWD, "/nonexistent", show_argv, environ, 0) == -1 && errno == ENOENT);
  assert(recorder->prepared == 0);
}

static void a_failed_exec_takes_the_report_back(void) {
  session_begin(true, true);
  recorder->report = true;
  size_t bytes = 1 << 20; // one argument may have 128 KiB
  char *huge = malloc(bytes);
  memset(huge, 'x', bytes);
  huge[bytes - 1] = 0;
  assert(execv(own_path, (char *const[]){huge, NULL}) == -1 && errno == E2BIG);
  assert(recorder->prepared == 1 && recorder->failed == 1);
  free(huge);
}

static void access_denied_outlives_the_search(void) {
  char path[64], variable[64];
  snprintf(path, sizeof path, "%s/denied", folder);
  assert(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
  snprintf(variable, sizeof variable, "%s:/nonexistent", folder);
  char *before = strdup(getenv("PATH") ? getenv("PATH") : "");
  setenv("PATH", variable, 1);
  assert(execvp("denied", show_argv) == -1 && errno == EACCES);
  setenv("PATH", before, 1);
  free(before);
  unlink(path);
}

// ---- who is not followed

static void by_execv_inherited(void) {
  char preload[5000];
  snprintf(preload, sizeof preload, "%s:libm.so.6", library);
  setenv("LD_PRELOAD", preload, 1);
  setenv("HEAPTIDE_SESSION", "out=/some/where;", 1);
  execv(own_path, show_argv);
}

static void without_children_only_main_is_followed(void) {
  session_begin(false, true);
  in_child(by_execve); // a child, so not the main process
  assert(!shows("LD_PRELOAD") && !shows("HEAPTIDE_SESSION"));
  in_child(by_execv_inherited);
  assert(strcmp(shown, "LD_PRELOAD=libm.so.6\n") == 0);
  spawn_with(false, no_environment);
  assert(!shown[0]);
}

static void main_execs_itself(void) {
  session_begin(false, true);
  by_execve();
}

static void without_children_main_itself_is_followed(void) { in_child(main_execs_itself), assert(shows_both()); }

// ---- the look at the file

// A copy of this program whose interpreter is a link with musl's name to the real loader.
static void foreign_copy_make(char *copy, char *loader) {
  snprintf(copy, 64, "%s/foreign", folder);
  snprintf(loader, 64, "%s/ld-musl", folder);
  int from = open(own_path, O_RDONLY), to = open(copy, O_CREAT | O_RDWR | O_TRUNC, 0700);
  struct stat status;
  assert(fstat(from, &status) == 0 && ftruncate(to, status.st_size) == 0);
  char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
  assert(bytes != MAP_FAILED && read(from, bytes, (size_t)status.st_size) == status.st_size);
  const Elf64_Ehdr *elf = (Elf64_Ehdr *)bytes;
  const Elf64_Phdr *headers = (Elf64_Phdr *)(bytes + elf->e_phoff);
  for (int i = 0; i < elf->e_phnum; i++)
    if (headers[i].p_type == PT_INTERP) {
      assert(strlen(loader) < headers[i].p_filesz && symlink(bytes + headers[i].p_offset, loader) == 0);
      strcpy(bytes + headers[i].p_offset, loader);
    }
  munmap(bytes, (size_t)status.st_size);
  close(from);
  close(to);
}

static char foreign[64], foreign_loader[64];

static void by_execv_foreign(void) {
  setenv("LD_PRELOAD", library, 1);
  setenv("HEAPTIDE_SESSION", "out=/some/where;", 1);
  execv(foreign, show_argv);
}

static void a_foreign_libc_gets_neither(void) {
  session_begin(true, true);
  foreign_copy_make(foreign, foreign_loader);
  assert(exec_look(AT_FDCWD, foreign, NULL) == LOOK_OTHER_LIBC);
  in_child(by_execv_foreign);
  assert(!shown[0]);
  unlink(foreign);
  unlink(foreign_loader);
}

static enum exec_look look_at_bytes(const void *bytes, size_t count) {
  char path[64];
  snprintf(path, sizeof path, "%s/file", folder);
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0700);
  assert(write(fd, bytes, count) == (ssize_t)count && close(fd) == 0);
  enum exec_look look = exec_look(AT_FDCWD, path, NULL);
  unlink(path);
  return look;
}

static void files_are_what_they_look_like(void) {
  Elf64_Ehdr elf = {.e_ident = ELFMAG, .e_machine = EM_X86_64, .e_type = ET_EXEC};
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  assert(look_at_bytes(&elf, sizeof elf) == LOOK_STATIC);
  elf.e_machine = EM_AARCH64;
  assert(look_at_bytes(&elf, sizeof elf) == LOOK_OTHER_MACHINE);
  elf.e_ident[EI_CLASS] = ELFCLASS32;
  elf.e_machine = EM_386;
  assert(look_at_bytes(&elf, sizeof elf) == LOOK_OTHER_MACHINE);
  assert(look_at_bytes("text", 4) == LOOK_UNKNOWN && look_at_bytes("", 0) == LOOK_UNKNOWN);
  assert(look_at_bytes("#!", 2) == LOOK_UNKNOWN);
  assert(exec_look(AT_FDCWD, "/nonexistent", NULL) == LOOK_UNKNOWN);
  assert(exec_look(AT_FDCWD, own_path, NULL) == LOOK_FINE);
}

static void scripts_are_followed_to_their_interpreter(void) {
  char inner[64], outer[64], interpreter[EXEC_INTERPRETER_BYTES];
  snprintf(inner, sizeof inner, "%s/inner", folder);
  snprintf(outer, sizeof outer, "%s/outer", folder);
  FILE *file = fopen(inner, "w");
  fprintf(file, "#! /bin/sh -e\n"), fclose(file);
  file = fopen(outer, "w");
  fprintf(file, "#!%s\n", inner), fclose(file);
  assert(exec_look(AT_FDCWD, outer, interpreter) == LOOK_FINE && strcmp(interpreter, "/bin/sh") == 0);
  file = fopen(inner, "w");
  fprintf(file, "#!%s\n", outer), fclose(file);
  assert(exec_look(AT_FDCWD, outer, interpreter) == LOOK_UNKNOWN); // each the other's
  unlink(inner);
  unlink(outer);
}

static void setup(void) {
  assert(readlink("/proc/self/exe", own_path, sizeof own_path - 1) > 0);
  Dl_info libc;
  assert(dladdr(dlsym(RTLD_DEFAULT, "qsort"), &libc) && realpath(libc.dli_fname, library)); // loads without a word
  strcpy(folder, "/tmp/htXXXXXX"); // short: see foreign_copy_make
  assert(mkdtemp(folder));
  recorder = mmap(NULL, sizeof *recorder, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert(recorder != MAP_FAILED);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "show") == 0) return show();
  setup();
  an_empty_environment_gets_both();
  spawned_children_get_both_and_leave_no_report();
  other_preloads_stay_behind_ours();
  another_heaptides_session_is_left_alone();
  large_environments_are_rebuilt_too();
  the_next_image_knows_its_number();
  a_vfork_child_is_no_image();
  a_missing_file_is_no_exec();
  a_failed_exec_takes_the_report_back();
  access_denied_outlives_the_search();
  without_children_only_main_is_followed();
  without_children_main_itself_is_followed();
  a_foreign_libc_gets_neither();
  files_are_what_they_look_like();
  scripts_are_followed_to_their_interpreter();
  rmdir(folder);
  puts("exec: ok");
  return 0;
}
