#include "json_frames.h"

// `python`: a frame of Python, which has no module. `mixed`: the stack holds both, and each frame says what it is.
static void frame_write(struct json_out *out, const char *key, const struct shown_frame *frame, bool python,
                        bool mixed) {
  out_open(out, key, '{');
  out_text(out, "function", frame->function);
  out_text(out, "file", frame->file);
  out_known(out, "line", frame->line, frame->line);
  if (!python) {
    out_known(out, "column", frame->column, frame->column);
    out_text(out, "module", frame->module);
    out_known(out, "offset", frame->has_offset, frame->offset);
  }
  if (mixed) out_text(out, "lang", python ? "python" : frame->language == LANGUAGE_JIT ? "jit" : "native");
  out_close(out, '}');
}

struct stack_nature {
  bool python, native; // has such frames
};

static struct stack_nature stack_nature(const struct stacks *stacks, uint32_t node) {
  struct stack_nature nature = {false, false};
  for (; node; node = stack_outer(stacks, node)) {
    enum language language = stack_frame(stacks, node)->language;
    nature.python |= language == LANGUAGE_PYTHON;
    nature.native |= language == LANGUAGE_NATIVE || language == LANGUAGE_JIT;
  }
  return nature;
}

// [truncated] has no language of its own: it goes with the others, in a mixed stack with the native ones.
static bool shown_as_python(const struct shown_frame *frame, struct stack_nature nature) {
  return frame->language == LANGUAGE_PYTHON || (frame->language == LANGUAGE_NONE && nature.python && !nature.native);
}

void json_site(struct json_out *out, const struct stacks *stacks, uint32_t node) {
  static const struct shown_frame unknown = {.language = LANGUAGE_NATIVE};
  struct stack_nature nature = stack_nature(stacks, node);
  const struct shown_frame *frame = stack_site(stacks, node);
  if (!frame) frame = &unknown;
  frame_write(out, "site", frame, shown_as_python(frame, nature), nature.python && nature.native);
}

void json_stack(struct json_out *out, const struct stacks *stacks, uint32_t node) {
  struct stack_nature nature = stack_nature(stacks, node);
  out_open(out, "stack", '[');
  for (; node; node = stack_outer(stacks, node)) {
    const struct shown_frame *frame = stack_frame(stacks, node);
    frame_write(out, NULL, frame, shown_as_python(frame, nature), nature.python && nature.native);
  }
  out_close(out, ']');
}
