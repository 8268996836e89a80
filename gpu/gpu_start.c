// Where the hooks of GPU runtimes start: a constructor, after native's own, or an attach. They are there from the
// beginning; what they record begins here.
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "../native/core.h"
#include "../native/got.h"
#include "../native/real.h"
#include "../native/report.h"
#include "../native/sampler.h"
#include "../native/session.h"
#include "account.h"
#include "block_table.h"
#include "c10_library.h"
#include "driver_use.h"
#include "gpu_report.h"
#include "gpu_timeline.h"
#include "hip_library.h"
#include "memory_failure.h"
#include "mojo_pool.h"
#include "pieces.h"
#include "runtime_residue.h"
#include "site_use.h"
#include "streams.h"

static void fork_child(void) {
  blocks_forget();
  pieces_forget();
  streams_forget();
  gpu_timeline_fork_child();
  site_use_forget();
  driver_use_fork_child();
  memory_failure_count = 0;
  gpu_late_frees = gpu_late_lost = (struct gpu_late){0};
}

static void closed(void) {
  hip_library_closed();
  driver_use_library_closed();
  c10_library_closed();
}

static void report_prepare(void) {
  runtime_residue_mark();
  mojo_pool_mark();
  gpu_report_prepare();
}

static void following_start(const struct session *session) {
  uint64_t period_ns = (session->every_ms ? session->every_ms : 1) * 1000000;
  if (!gpu_timeline_init((uint32_t)session->gpu_timeline, period_ns)) return;
  if (session->gpu_timeline & HT_GPU_TIMELINE_FRAG) driver_use_init(period_ns);
  sampler_on_sample(gpu_timeline_watch);
}

static void start(const struct session *session, char *const *environment) {
  if (!streams_init()) return;
  mojo_pool_init(environment);
  ht_add_close_hook(closed);
  ht_add_fork_hook(fork_child);
  ht_add_report_hook(report_prepare);
  ht_set_site_lookup(account_site_at);
  gpu_report_init((unsigned)session->gpu_timeline);
  if (session->gpu_timeline) following_start(session);
}

// ---- attach: calls are bound already, and threads have devices

static void redirections_look(void) {
  hip_real_find_all();
  c10_real_report();
}

// Calls by name go through slots too.
static bool redirection_find(const char *name, struct got_redirection *found) {
  if (hip_redirection(name, found) || c10_redirection(name, found)) return true;
  if (strcmp(name, "dlsym") == 0) return *found = (struct got_redirection){(void *)dlsym, (void *)real_dlsym}, true;
  if (strcmp(name, "dlvsym") == 0) return *found = (struct got_redirection){(void *)dlvsym, (void *)real_dlvsym}, true;
  return false;
}
static const struct got_front redirections = {redirections_look, redirection_find};

static void start_attached(void) {
  gpu_attach_number++;
  start(ht_session(), environ);
  hip_real_find_all();
  if (hip_real_functions[HIP_hipMalloc]) report_note_add("attached: GPU memory from before is not counted");
}

__attribute__((constructor)) static void gpu_constructor(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  got_add_front(&redirections);
  ht_add_attach_hook(start_attached);
  if (ht_session() && thread_recording()) start(ht_session(), environment);
}
