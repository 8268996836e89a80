// Start: the library's constructor, which runs before every other one (-z initfirst).
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "init.h"

#include "core.h"
#include "heap_sample.h"
#include "hook_exec.h"
#include "hook_life.h"
#include "hook_thread.h"
#include "live.h"
#include "modules.h"
#include "owner.h"
#include "process_info.h"
#include "ranges.h"
#include "real.h"
#include "report.h"
#include "rules.h"
#include "sampler.h"
#include "session.h"
#include "stack_table.h"
#include "sys.h"

#define NOTE_OWN_MALLOC                                                                                                \
  "the program brings its own malloc: its mappings are seen, of its blocks those that it takes from the C library"
#define NOTE_SAMPLED                                                                                                   \
  "sampled: heap figures are estimates; blocks that were not recorded count as holding what they point to, so leaks "  \
  "may be missing"

static struct session session;
HT_EXPORT const char *ht_folder; // of its reports, for a command that is given the process alone; NULL: not recorded

// `environ` is not set up yet when this library's constructor runs first.
static const char *variable(char **environment, const char *name) {
  size_t length = strlen(name);
  for (; *environment; environment++)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') return *environment + length + 1;
  return NULL;
}

// `only` means a program by its file's name or by the name it was started by (/bin/sh is a link to dash; of a script
// the kernel gives the script's name).
static bool session_wants(const char *program) {
  bool is_main = session.main_pid == (uint64_t)sys_pid();
  const char *started_as = (const char *)getauxval(AT_EXECFN);
  return (session.children || is_main) &&
         (session_only_matches(&session, program) || (started_as && session_only_matches(&session, started_as)));
}

// More than glibc's threshold for mapping a block can be (HEAP_MAX_SIZE / 2), so that freeing it does not move that.
#define MAPPED_BLOCK_BYTES (48ul << 20)

static bool header_fits(size_t size_bytes) {
  void *block = real.malloc(size_bytes);
  bool fits = block && live_chunk_bytes((uintptr_t)block) == real.malloc_usable_size(block);
  real.free(block);
  return fits;
}

// glibc's chunk header is only read where it says what malloc_usable_size says.
static bool chunk_header_proved(void) {
  static const size_t sizes[] = {0, 1, 24, 25, 100, 1000, 5000};
  if (!real_malloc_is_libc()) return false;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (!header_fits(sizes[i])) return false;
  if (header_fits(MAPPED_BLOCK_BYTES)) return true;
  live_mapped_flag = 0;
  return header_fits(MAPPED_BLOCK_BYTES);
}

static bool tables_init(void) {
  return module_init() && rules_init() && stack_table_init() && site_init() && ranges_init() &&
         live_init(real.malloc_usable_size, chunk_header_proved());
}

// The program's name without an exec'd path: what `only` is compared with.
static void program_path(char *buffer, size_t capacity) {
  long length = sys_call3(SYS_readlink, (long)"/proc/self/exe", (long)buffer, (long)capacity - 1);
  buffer[length > 0 ? length : 0] = 0;
}

// What both ways in have in common. False: not to be recorded, or no memory.
static bool recorder_start(int argc, char **argv, char **environment) {
  if (!tables_init()) return false;
  count_init();
  stack_memo_init((uint32_t)session.depth);
  owners_init(session.per_thread != 0);
  if (!sampler_init(session.every_ms)) return false;
  process_info_init(argc, argv, environment);
  report_init(&session);
  heap_sample_init(session.sample);
  ht_detours_look();
  hook_thread_init();
  hook_life_init(&session);
  module_refresh();
  return true;
}

// `environ` is set: the process has long begun, and the library is there to be attached.
static bool is_late(void) { return environ != NULL; }

static bool preloaded;
bool init_is_preloaded(void) { return preloaded; }

__attribute__((constructor)) static void init(int argc, char **argv, char **environment) {
  real_ready();
  preloaded = !is_late();
  const char *value = preloaded ? variable(environment, SESSION_VARIABLE) : NULL;
  if (!value || !session_parse(value, &session)) return;
  ht_folder = session.out;
  hook_exec_init(&session);
  static char program[4096];
  program_path(program, sizeof program);
  if (!session_wants(program[0] ? program : argv[0]) || !recorder_start(argc, argv, environment)) return;
  if (real_malloc_passes_by()) report_note_add(NOTE_OWN_MALLOC);
  if (heap_sample_on) report_note_add(NOTE_SAMPLED);
  ht_session_set(&session);
  thread_recording_set(true);
}

bool init_attached(const char *session_text) {
  if (!session_parse(session_text, &session)) return false;
  ht_folder = session.out;
  real_resolve_attached();
  hook_exec_init(&session);
  live_partial = true;
  if (!recorder_start(0, NULL, environ)) return false;
  threads_own_all();
  thread_many_begin(); // whether there are others is not known
  ht_session_set(&session);
  ht_attach_hooks_run();
  report_flags_add(HT_PROCESS_ATTACHED);
  report_note_add("attached: memory from before counts as holding what it points to, so leaks may be missing");
  if (real_malloc_is_executable()) report_note_add(NOTE_OWN_MALLOC);
  return true;
}
