#include "queued_call.h"

#include "object_fields.h"

static bool is_in_file(const char *code) {
  return string_ends(field_pointer(code, frame_layout.code_filename), "concurrent/futures/thread.py");
}

// By co_qualname, before 3.11 by co_name.
static bool is_function(const char *code, const char *qualified, const char *name) {
  return string_is(field_pointer(code, frame_layout.code_name), python.minor >= 11 ? qualified : name) &&
         is_in_file(code);
}

bool queued_call_is_made_by(const char *code) { return is_function(code, "ThreadPoolExecutor.submit", "submit"); }

bool queued_call_is_executor(const char *frame) {
  struct running_frame read;
  return frame && running_frame_at(frame, &read) && is_in_file(read.code);
}

const void *queued_call_around(const char *frame) {
  struct running_frame read;
  for (; frame; frame = frame_outside(frame))
    if (running_frame_at(frame, &read) && is_function(read.code, "_WorkItem.run", "run")) return frame_self(frame);
  return NULL;
}
