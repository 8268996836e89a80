#include "queued_call.h"

#include "object_fields.h"

#define EXECUTOR_FILE "concurrent/futures/thread.py"

bool queued_call_is_made_by(const char *code) {
  return running_frame_code_is(code, "ThreadPoolExecutor.submit", "submit", EXECUTOR_FILE);
}

// Frames between threading.Thread.start and ThreadPoolExecutor.submit: the executor's own, and of who wraps one of the
// two (a tracer, a class derived from the executor).
#define WRAPPING_FRAMES 8

bool queued_call_starts_thread(const char *frame) {
  struct running_frame read;
  for (uint32_t frames = 0; frame && frames < WRAPPING_FRAMES; frame = frame_outside(frame)) {
    if (!running_frame_at(frame, &read)) continue;
    if (queued_call_is_made_by(read.code)) return true;
    frames++;
  }
  return false;
}

// ---- the call that is made

static bool is_run(const char *code) { return running_frame_code_is(code, "_WorkItem.run", "run", EXECUTOR_FILE); }

// The code of _WorkItem.run, where it was last. Any thread's: a call may be deep inside others, and without this the
// names of all their code would be read for every block.
static const char *run_code;

static const char *run_frame_known(const char *frame) {
  struct running_frame read;
  const char *known = __atomic_load_n(&run_code, __ATOMIC_RELAXED);
  while (frame && frame_read(&frame_layout, frame).code != known) frame = frame_outside(frame);
  return known && frame && running_frame_at(frame, &read) && is_run(known) ? frame : NULL;
}

static const char *run_frame_by_name(const char *frame) {
  struct running_frame read;
  for (; frame; frame = frame_outside(frame)) {
    if (!running_frame_at(frame, &read) || !is_run(read.code)) continue;
    __atomic_store_n(&run_code, read.code, __ATOMIC_RELAXED);
    return frame;
  }
  return NULL;
}

const void *queued_call_around(const char *frame) {
  const char *run = run_frame_known(frame);
  if (unlikely(!run)) run = run_frame_by_name(frame);
  return run ? frame_self(run) : NULL;
}
