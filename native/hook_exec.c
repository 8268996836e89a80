#include "hook_exec.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec_look.h"
#include "real.h"
#include "sys.h"
#include "text.h"

#define PRELOAD_EQUALS "LD_PRELOAD="
#define SESSION_EQUALS SESSION_VARIABLE "="

// An environment of more entries is rebuilt in a mapping, not on the caller's stack. The mapping goes when the call
// returns; only a vfork child that then succeeds leaves it behind in its parent.
#define STACK_ENTRIES_MAX 4096

// `image=4294967295;image_pid=4294967295;` and the NUL.
#define IMAGE_BYTES 48

// All set once by hook_exec_init, but for `pid` and `image`, which a fork child sets for itself.
static struct {
  bool active;
  bool children; // false: only the process that CMD started is followed
  int pid;       // of the process that owns this memory: a vfork child has another one
  int main_pid;
  uint32_t image; // the number of the image that runs
  const struct session *given;
  char library[SESSION_TEXT_BYTES];
  char session[sizeof SESSION_EQUALS + SESSION_FORMAT_BYTES]; // SESSION_EQUALS and all but the image
  size_t session_bytes;
} own;

enum exec_how { BY_PATH, BY_SEARCH, BY_DIRECTORY, BY_DESCRIPTOR, SPAWN_PATH, SPAWN_SEARCH };

// One call, whichever function it came through.
struct exec_call {
  enum exec_how how;
  const char *file; // NULL: BY_DESCRIPTOR
  int fd;           // BY_DIRECTORY: the folder; BY_DESCRIPTOR: the program
  int flags;        // BY_DIRECTORY
  char *const *argv;
  char *const *envp;
  pid_t *pid; // SPAWN_*, like the next two
  const posix_spawn_file_actions_t *actions;
  const posix_spawnattr_t *attributes;
  const struct scan_origin *origin; // of what replaces the process
};

// What the new environment needs.
struct environment_plan {
  bool with_heaptide;            // false: both variables are left out
  uint32_t image;                // the next image's number, 0: none to tell
  size_t entries;                // of the caller's environment, without the NULL
  const char *preload, *session; // the caller's values, NULL: none
};

static int pid_now(void) { return (int)sys_call0(SYS_getpid); }

static bool is_spawn(const struct exec_call *call) { return call->how == SPAWN_PATH || call->how == SPAWN_SEARCH; }

// True in the process itself, false in a vfork child of it.
static bool is_own_process(void) { return pid_now() == own.pid; }

// glibc has execveat since 2.34.
static int execveat_raw(const struct exec_call *call, char *const *envp) {
  long result = sys_call6(SYS_execveat, call->fd, (long)call->file, (long)call->argv, (long)envp, call->flags, 0);
  errno = (int)-result; // it returns only when it failed
  return -1;
}

static int call_real(const struct exec_call *call, char *const *envp) {
  switch (call->how) {
  case BY_PATH:
    return real.execve(call->file, call->argv, envp);
  case BY_SEARCH:
    return real.execvpe(call->file, call->argv, envp);
  case BY_DIRECTORY:
    return real.execveat ? real.execveat(call->fd, call->file, call->argv, envp, call->flags)
                         : execveat_raw(call, envp);
  case BY_DESCRIPTOR:
    return real.fexecve(call->fd, call->argv, envp);
  case SPAWN_PATH:
    return real.posix_spawn(call->pid, call->file, call->actions, call->attributes, call->argv, envp);
  case SPAWN_SEARCH:
    return real.posix_spawnp(call->pid, call->file, call->actions, call->attributes, call->argv, envp);
  }
  __builtin_unreachable();
}

// ---- the file that will be executed ----

// The value of the entry that begins with `name_equals`, NULL: none.
static const char *entry_value(char *const *envp, const char *name_equals) {
  size_t bytes = strlen(name_equals);
  for (; envp && *envp; envp++)
    if (strncmp(*envp, name_equals, bytes) == 0) return *envp + bytes;
  return NULL;
}

static bool can_execute(int directory_fd, const char *path) {
  struct stat status;
  if (sys_call4(SYS_newfstatat, directory_fd, (long)path, (long)&status, 0) < 0 || !S_ISREG(status.st_mode))
    return false;
  long denied = sys_call4(SYS_faccessat2, directory_fd, (long)path, X_OK, AT_EACCESS);
  if (denied == -ENOSYS) // before Linux 5.8
    denied = sys_call3(SYS_faccessat, directory_fd, (long)path, X_OK);
  return denied == 0;
}

// The file that execvp will take for `file`, as environ(7) and execvp(3) describe the search; false: none.
static bool search_path(const char *file, struct text *found) {
  const char *path = entry_value(environ, "PATH=");
  if (!path) path = "/bin:/usr/bin"; // confstr(_CS_PATH)
  for (;;) {
    size_t bytes = strcspn(path, ":");
    text_start(found, found->bytes, found->capacity);
    text_add_bytes(found, path, bytes);
    if (bytes) text_add(found, "/");
    text_add(found, file);
    if (!found->cut && can_execute(AT_FDCWD, found->bytes)) return true;
    if (!path[bytes]) return false;
    path += bytes + 1;
  }
}

// Writes the path to look at to `path`, with the folder it is relative to. False: the call will fail anyway.
static bool call_target(const struct exec_call *call, struct text *path, int *directory_fd) {
  *directory_fd = AT_FDCWD;
  bool by_fd = call->how == BY_DESCRIPTOR;
  if (call->how == BY_DIRECTORY) {
    by_fd = (call->flags & AT_EMPTY_PATH) && call->file && !call->file[0];
    *directory_fd = by_fd ? AT_FDCWD : call->fd;
  }
  if (by_fd) {
    text_add(path, "/proc/self/fd/");
    text_add_decimal(path, (uint64_t)(unsigned)call->fd);
    return sys_call3(SYS_fcntl, call->fd, F_GETFD, 0) >= 0;
  }
  if (!call->file || !call->file[0]) return false;
  bool search = call->how == BY_SEARCH || call->how == SPAWN_SEARCH;
  if (search && !strchr(call->file, '/')) return search_path(call->file, path);
  text_add(path, call->file);
  return !path->cut && (is_spawn(call) || can_execute(*directory_fd, path->bytes));
}

// ---- the environment that it gets ----

// True when `library` is one of the entries of an LD_PRELOAD value, which are separated by spaces or colons.
static bool preload_has(const char *value, const char *library) {
  size_t bytes = strlen(library);
  for (const char *at = value; *at; at += strspn(at, " :")) {
    size_t entry = strcspn(at, " :");
    if (entry == bytes && memcmp(at, library, bytes) == 0) return true;
    at += entry;
  }
  return false;
}

static bool session_is_own(const char *value) {
  size_t bytes = own.session_bytes - (sizeof SESSION_EQUALS - 1);
  return strncmp(value, own.session + sizeof SESSION_EQUALS - 1, bytes) == 0;
}

static void plan_make(struct environment_plan *plan, const struct exec_call *call, enum exec_look look) {
  *plan = (struct environment_plan){0};
  while (call->envp && call->envp[plan->entries]) plan->entries++;
  plan->preload = entry_value(call->envp, PRELOAD_EQUALS);
  plan->session = entry_value(call->envp, SESSION_EQUALS);
  bool is_main = !is_spawn(call) && pid_now() == own.main_pid;
  plan->with_heaptide = (own.children || is_main) && !exec_look_refuses_preload(look);
}

// False when the caller's environment can be passed on as it is.
static bool plan_changes(const struct environment_plan *plan) {
  bool has_library = plan->preload && preload_has(plan->preload, own.library);
  if (!plan->with_heaptide) return has_library || plan->session;
  return !has_library || !plan->session || plan->image;
}

// Bytes for the two new entries of plan_build.
static size_t plan_string_bytes(const struct environment_plan *plan) {
  size_t old = plan->preload ? strlen(plan->preload) : 0;
  return sizeof PRELOAD_EQUALS + strlen(own.library) + 1 + old + own.session_bytes + IMAGE_BYTES;
}

// Writes LD_PRELOAD with the library at its front, or without it. False: nothing is left to say.
static bool add_preload(const struct environment_plan *plan, struct text *text) {
  text_add(text, PRELOAD_EQUALS);
  const char *old = plan->preload ? plan->preload : "";
  if (plan->with_heaptide && preload_has(old, own.library)) {
    text_add(text, old);
    return true;
  }
  bool any = plan->with_heaptide;
  if (any) text_add(text, own.library);
  for (const char *at = old + strspn(old, " :"); *at; at += strspn(at, " :")) {
    size_t bytes = strcspn(at, " :");
    if (bytes != strlen(own.library) || memcmp(at, own.library, bytes) != 0) {
      text_add(text, any ? ":" : "");
      text_add_bytes(text, at, bytes);
      any = true;
    }
    at += bytes;
  }
  return any;
}

// The session for the next program. One that another heaptide gave is left alone.
static void add_session(const struct environment_plan *plan, struct text *text) {
  if (plan->session && !session_is_own(plan->session)) {
    text_add(text, SESSION_EQUALS);
    text_add(text, plan->session);
    return;
  }
  text_add(text, own.session);
  if (!plan->image) return;
  text_add(text, "image=");
  text_add_decimal(text, plan->image);
  text_add(text, ";image_pid=");
  text_add_decimal(text, (uint64_t)own.pid);
  text_add(text, ";");
}

static bool is_entry_of(const char *entry, const char *name_equals) {
  return strncmp(entry, name_equals, strlen(name_equals)) == 0;
}

// Fills `envp` (entries + 3 pointers) and `strings` (plan_string_bytes).
static void plan_build(const struct environment_plan *plan, char *const *old, char **envp, char *strings) {
  size_t used = 0;
  for (size_t i = 0; i < plan->entries; i++)
    if (!is_entry_of(old[i], PRELOAD_EQUALS) && !is_entry_of(old[i], SESSION_EQUALS)) envp[used++] = old[i];
  size_t capacity = plan_string_bytes(plan);
  struct text text;
  text_start(&text, strings, capacity);
  if (add_preload(plan, &text)) envp[used++] = strings;
  if (plan->with_heaptide) {
    char *session = strings + text.length + 1;
    text_start(&text, session, capacity - text.length - 1);
    add_session(plan, &text);
    envp[used++] = session;
  }
  envp[used] = NULL;
}

// ---- programs that cannot be followed: a mark in the report folder, for the end of the run ----

// `DIR/heaptide.<pid>.unseen`, a link to the program: one system call, and it needs no room on a full disk.
static void mark_path(struct text *path, int pid) {
  text_add(path, own.given->out);
  text_add(path, "/heaptide.");
  text_add_decimal(path, (uint64_t)pid);
  text_add(path, ".unseen");
}

static void mark_set(const char *program, int pid) {
  char buffer[PATH_MAX];
  struct text path;
  text_start(&path, buffer, sizeof buffer);
  mark_path(&path, pid);
  if (!path.cut) sys_call3(SYS_symlinkat, (long)program, AT_FDCWD, (long)path.bytes);
}

static void mark_drop(int pid) {
  char buffer[PATH_MAX];
  struct text path;
  text_start(&path, buffer, sizeof buffer);
  mark_path(&path, pid);
  sys_call3(SYS_unlinkat, AT_FDCWD, (long)path.bytes, 0);
}

// What the user left out by --no-children or --only is not missing.
static bool is_unseen(const struct exec_call *call, const char *path, enum exec_look look) {
  bool is_main = !is_spawn(call) && pid_now() == own.main_pid;
  bool wanted = (own.children || is_main) && session_only_matches(own.given, path);
  return wanted && (look == LOOK_STATIC || exec_look_refuses_preload(look));
}

// ---- the call ----

// Carries the call out with the planned environment. Returns as the real function does, with its errno.
static int call_planned(const struct exec_call *call, const struct environment_plan *plan, int entry_errno) {
  if (!plan_changes(plan)) {
    errno = entry_errno;
    return call_real(call, call->envp);
  }
  size_t entries_bytes = (plan->entries + 3) * sizeof(char *);
  size_t map_bytes = plan->entries > STACK_ENTRIES_MAX ? entries_bytes : 0;
  char **envp = NULL;
  if (map_bytes) {
    long map = sys_call6(SYS_mmap, 0, (long)map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map < 0 && map > -4096) {
      errno = entry_errno;
      return call_real(call, call->envp); // no memory: better untraced than not at all
    }
    envp = (char **)map;
  } else {
    envp = alloca(entries_bytes);
  }
  plan_build(plan, call->envp, envp, alloca(plan_string_bytes(plan)));
  errno = entry_errno;
  int result = call_real(call, envp);
  if (map_bytes) sys_call3(SYS_munmap, (long)envp, (long)map_bytes, 0);
  return result;
}

// The process may write its own report before it becomes another program.
static int call_seen(const struct exec_call *call, struct environment_plan *plan, int entry_errno) {
  bool replaces_itself = !is_spawn(call) && is_own_process();
  bool prepared = replaces_itself && exec_prepare(call->origin);
  if (replaces_itself) plan->image = own.image + prepared; // without a report this image's number is free for the next
  int result = call_planned(call, plan, entry_errno);
  if (replaces_itself) {
    int exec_errno = errno;
    exec_failed(prepared);
    errno = exec_errno;
  }
  return result;
}

static int call_unseen(const struct exec_call *call, const char *program, struct environment_plan *plan,
                       int entry_errno) {
  pid_t pid = pid_now();
  if (!is_spawn(call)) {
    mark_set(program, pid);
    int result = call_seen(call, plan, entry_errno);
    mark_drop(pid);
    return result;
  }
  struct exec_call spawn = *call;
  if (!spawn.pid) spawn.pid = &pid;
  int result = call_seen(&spawn, plan, entry_errno);
  if (result == 0) mark_set(program, *spawn.pid);
  return result;
}

// Every hook ends here.
static int exec_run(const struct exec_call *call) {
  real_ready();
  if (!own.active) return call_real(call, call->envp);
  int entry_errno = errno;
  char buffer[PATH_MAX];
  struct text path;
  text_start(&path, buffer, sizeof buffer);
  int directory_fd;
  if (!call_target(call, &path, &directory_fd)) return call_real(call, call->envp);
  struct environment_plan plan;
  enum exec_look look = exec_look(directory_fd, path.bytes, NULL);
  plan_make(&plan, call, look);
  if (is_unseen(call, path.bytes, look)) return call_unseen(call, path.bytes, &plan, entry_errno);
  return call_seen(call, &plan, entry_errno);
}

void hook_exec_init(const struct session *session) {
  if (!session->library[0]) return;
  own.given = session;
  own.pid = pid_now();
  own.main_pid = (int)session->main_pid;
  own.children = session->children != 0;
  own.image = session_image(session, own.pid);
  memcpy(own.library, session->library, sizeof own.library);
  struct session without_image = *session;
  without_image.image = without_image.image_pid = 0;
  memcpy(own.session, SESSION_EQUALS, sizeof SESSION_EQUALS);
  const size_t name_bytes = sizeof SESSION_EQUALS - 1;
  size_t room = sizeof own.session - name_bytes;
  own.session_bytes = name_bytes + session_format(&without_image, own.session + name_bytes, room);
  own.active = true;
}

void hook_exec_stop(void) { own.active = false; }

void hook_exec_fork_child(void) {
  own.pid = pid_now();
  own.image = 0;
}

// ---- the hooks ----

// Where the program entered the hook, before anything else in it. What lies below are frames of heaptide's, in which
// earlier calls have left things; but the prologue may have put the program's registers right below the frame pointer.
#define EXEC_ORIGIN(here)                                                                                              \
  struct scan_origin here;                                                                                             \
  scan_origin_fill(&here, (uintptr_t)__builtin_frame_address(0));                                                      \
  saved_registers_hold(&here)

#define SAVED_REGISTERS 5 // rbx, r12 to r15: behind those that scan_origin_fill has
static void saved_registers_hold(struct scan_origin *origin) {
  const uintptr_t *frame = (const uintptr_t *)origin->stack_pointer;
  for (size_t i = 0; i < SAVED_REGISTERS; i++) origin->registers[SAVED_REGISTERS + i] = frame[-1 - (ptrdiff_t)i];
}

// What the program passes may be held by nothing else.
#define ARGUMENT_REGISTER (2 * SAVED_REGISTERS) // there is room for six
static void arguments_hold(struct scan_origin *origin, const void *file, char *const *argv, char *const *envp) {
  const void *held[] = {file, argv, envp};
  for (size_t i = 0; i < 3; i++) origin->registers[ARGUMENT_REGISTER + i] = (uintptr_t)held[i];
}

HT_EXPORT int execve(const char *path, char *const argv[], char *const envp[]) {
  EXEC_ORIGIN(here);
  arguments_hold(&here, path, argv, envp);
  struct exec_call call = {.origin = &here, .how = BY_PATH, .file = path, .argv = argv, .envp = envp};
  return exec_run(&call);
}

HT_EXPORT int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }

HT_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]) {
  EXEC_ORIGIN(here);
  arguments_hold(&here, file, argv, envp);
  struct exec_call call = {.origin = &here, .how = BY_SEARCH, .file = file, .argv = argv, .envp = envp};
  return exec_run(&call);
}

HT_EXPORT int execvp(const char *file, char *const argv[]) { return execvpe(file, argv, environ); }

HT_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags) {
  EXEC_ORIGIN(here);
  arguments_hold(&here, path, argv, envp);
  struct exec_call call = {
      .origin = &here, .how = BY_DIRECTORY, .file = path, .fd = fd, .flags = flags, .argv = argv, .envp = envp};
  return exec_run(&call);
}

HT_EXPORT int fexecve(int fd, char *const argv[], char *const envp[]) {
  EXEC_ORIGIN(here);
  arguments_hold(&here, NULL, argv, envp);
  struct exec_call call = {.origin = &here, .how = BY_DESCRIPTOR, .fd = fd, .argv = argv, .envp = envp};
  return exec_run(&call);
}

HT_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  struct exec_call call = {.how = SPAWN_PATH,
                           .file = path,
                           .argv = argv,
                           .envp = envp,
                           .pid = pid,
                           .actions = actions,
                           .attributes = attributes};
  return exec_run(&call);
}

HT_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {
  struct exec_call call = {.how = SPAWN_SEARCH,
                           .file = file,
                           .argv = argv,
                           .envp = envp,
                           .pid = pid,
                           .actions = actions,
                           .attributes = attributes};
  return exec_run(&call);
}

// The arguments from `first` up to the NULL, the NULL included. Leaves `rest` behind it.
static size_t arguments_count(const char *first, va_list *rest) {
  size_t count = 1;
  for (const char *argument = first; argument; argument = va_arg(*rest, const char *)) count++;
  return count;
}

static void arguments_take(char **argv, const char *first, va_list *rest) {
  size_t count = 0;
  for (const char *argument = first; argument; argument = va_arg(*rest, const char *)) argv[count++] = (char *)argument;
  argv[count] = NULL;
}

// What execl, execlp and execle share: the list, then with `with_environment` the environment behind it.
static int exec_list(enum exec_how how, bool with_environment, const char *file, const char *first, va_list *list,
                     struct scan_origin *origin) {
  va_list counting;
  va_copy(counting, *list);
  char **argv = alloca(arguments_count(first, &counting) * sizeof(char *));
  va_end(counting);
  arguments_take(argv, first, list);
  char *const *envp = with_environment ? va_arg(*list, char *const *) : environ;
  origin->registers[ARGUMENT_REGISTER] = (uintptr_t)file; // and what else came in registers: four arguments, or more
  for (size_t i = 0; i < 5 && argv[i]; i++) origin->registers[ARGUMENT_REGISTER + 1 + i] = (uintptr_t)argv[i];
  struct exec_call call = {.origin = origin, .how = how, .file = file, .argv = argv, .envp = envp};
  return exec_run(&call);
}

HT_EXPORT int execl(const char *path, const char *argument, ...) {
  EXEC_ORIGIN(here);
  va_list list;
  va_start(list, argument);
  int result = exec_list(BY_PATH, false, path, argument, &list, &here);
  va_end(list);
  return result;
}

HT_EXPORT int execlp(const char *file, const char *argument, ...) {
  EXEC_ORIGIN(here);
  va_list list;
  va_start(list, argument);
  int result = exec_list(BY_SEARCH, false, file, argument, &list, &here);
  va_end(list);
  return result;
}

HT_EXPORT int execle(const char *path, const char *argument, ...) {
  EXEC_ORIGIN(here);
  va_list list;
  va_start(list, argument);
  int result = exec_list(BY_PATH, true, path, argument, &list, &here);
  va_end(list);
  return result;
}
