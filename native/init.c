// Start: the library's constructor, which runs before every other one (-z initfirst).
#include <string.h>

#include "core.h"
#include "hook_exec.h"
#include "hook_life.h"
#include "hook_thread.h"
#include "live.h"
#include "modules.h"
#include "process_info.h"
#include "ranges.h"
#include "real.h"
#include "report.h"
#include "rules.h"
#include "sampler.h"
#include "session.h"
#include "stack_table.h"
#include "sys.h"

static struct session session;

// `environ` is not set up yet when this library's constructor runs first.
static const char *variable(char **environment, const char *name) {
  size_t length = strlen(name);
  for (; *environment; environment++)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') return *environment + length + 1;
  return NULL;
}

static bool session_wants(const char *program) {
  bool is_main = session.main_pid == (uint64_t)sys_pid();
  return (session.children || is_main) && session_only_matches(&session, program);
}

// glibc's chunk header is only read where it says what malloc_usable_size says.
static bool chunk_header_proved(void) {
  static const size_t sizes[] = {0, 1, 24, 25, 100, 1000, 5000, 200000};
  bool proved = real_malloc_is_libc();
  live_usable_glibc = true;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes && proved; i++) {
    void *block = real.malloc(sizes[i]);
    proved = block && live_usable_size((uintptr_t)block) == real.malloc_usable_size(block);
    real.free(block);
  }
  return live_usable_glibc = proved;
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

__attribute__((constructor)) static void init(int argc, char **argv, char **environment) {
  real_ready();
  const char *value = variable(environment, SESSION_VARIABLE);
  if (!value || !session_parse(value, &session)) return;
  hook_exec_init(&session);
  static char program[4096];
  program_path(program, sizeof program);
  if (!session_wants(program[0] ? program : argv[0]) || !tables_init()) return;
  count_init();
  stack_memo_init((uint32_t)session.depth);
  if (!sampler_init(session.every_ms)) return;
  process_info_init(argc, argv, environment);
  report_init(&session);
  hook_thread_init();
  hook_life_init(&session);
  module_refresh();
  if (real_malloc_passes_by())
    report_note_add("the program brings its own malloc: blocks from it are not seen, only mappings are");
  thread_recording_set(true);
}
