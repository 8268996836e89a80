#include "text_out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holders.h"
#include "memory.h"
#include "runtime_frame.h"
#include "utf8.h"

// A C++ name of a page helps nobody.
enum { NAME_WIDTH = 100, PLACE_WIDTH = 100 };

static const char *const style_starts[] = {"", "\033[1m", "\033[2m", "\033[1;31m", "\033[32m", "\033[1;36m"};

static void style_begin(struct text_out *out, enum text_style style) {
  if (out->colour) fputs(style_starts[style], out->stream);
}

static void style_end(struct text_out *out, enum text_style style) {
  if (out->colour && style != STYLE_PLAIN) fputs("\033[0m", out->stream);
}

static bool speaks_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (int i = 0; i < 3; i++) {
    const char *value = getenv(names[i]);
    if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
  }
  return false;
}

struct text_out text_out_make(FILE *stream, bool colour) {
  bool terminal = isatty(fileno(stream));
  const char *kind = getenv("TERM");
  bool dumb = kind && strcmp(kind, "dumb") == 0;
  return (struct text_out){stream, colour && terminal && !dumb, terminal && speaks_utf8(), getcwd(NULL, 0)};
}

void text_out_free(struct text_out *out) { free(out->folder); }

void text_print(struct text_out *out, enum text_style style, const char *format, ...) {
  va_list arguments;
  style_begin(out, style);
  va_start(arguments, format);
  vfprintf(out->stream, format, arguments);
  va_end(arguments);
  style_end(out, style);
}

void text_print_foreign(struct text_out *out, enum text_style style, const char *text, int width) {
  style_begin(out, style);
  int left = utf8_count(text) > width ? width - 3 : width;
  for (; *text && left > 0; left--) {
    int bytes = utf8_length(text);
    bool control = (unsigned char)*text < ' ' || *text == 0x7f ||
                   (bytes == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0);
    if (bytes == 0 || control)
      fputc('?', out->stream);
    else
      fwrite(text, 1, (size_t)bytes, out->stream);
    text += bytes ? bytes : 1;
  }
  if (*text) fputs("...", out->stream);
  style_end(out, style);
}

// The file as it is found from here, else its name alone.
static const char *file_shown(const struct text_out *out, const char *file) {
  size_t length = out->folder ? strlen(out->folder) : 0;
  if (length > 1 && strncmp(file, out->folder, length) == 0 && file[length] == '/') return file + length + 1;
  return path_name(file);
}

static void frame_print(struct text_out *out, const struct shown_frame *frame, enum text_style style) {
  char *name = frame->function ? memory_format("%s", frame->function)
                               : memory_format("[%s+0x%llx]", frame->module ? path_name(frame->module) : "unknown",
                                               (unsigned long long)frame->offset);
  fputs("               ", out->stream);
  text_print_foreign(out, style, name, NAME_WIDTH);
  free(name);
  char *place = NULL;
  if (frame->file && frame->line && frame->column_tells)
    place = memory_format("%s:%u:%u", file_shown(out, frame->file), frame->line, frame->column);
  else if (frame->file && frame->line)
    place = memory_format("%s:%u", file_shown(out, frame->file), frame->line);
  else if (frame->file)
    place = memory_format("%s", file_shown(out, frame->file));
  else if (frame->language == LANGUAGE_NONE && frame->function && strcmp(frame->function, STACK_TRUNCATED) == 0)
    place = memory_format("(--depth)"); // what keeps more
  else if (frame->function && frame->module)
    place = memory_format("[%s]", path_name(frame->module));
  if (place) {
    fputs("  ", out->stream);
    text_print_foreign(out, style, place, PLACE_WIDTH);
  }
  fputc('\n', out->stream);
  free(place);
}

// The last node, going outwards, that is not a runtime's. How every program starts (from libc's start on) is left out.
static uint32_t last_own(const struct stacks *stacks, uint32_t node) {
  uint32_t last = 0;
  bool begun = false;
  for (; node; node = stack_outer(stacks, node)) {
    const struct shown_frame *frame = stack_frame(stacks, node);
    begun |= frame->function && strncmp(frame->function, "__libc_start_", strlen("__libc_start_")) == 0;
    if (begun && frame->language == LANGUAGE_NATIVE) continue; // lines that queued the work may follow
    if (!frame->runtime || frame->language == LANGUAGE_NONE) last = node;
  }
  return last;
}

static bool has_label(const struct stacks *stacks, uint32_t node, uint32_t last) {
  while (node && node != last) {
    node = stack_outer(stacks, node);
    if (node && frame_is_label(stack_frame(stacks, node))) return true;
  }
  return false;
}

// Frames of a stack with labels: of the thread's own, and behind each label. PyTorch's own lines of Python stand
// between a backward pass and who asked for it. And the lines that called into native code, however deep that is.
enum { OWN_FRAMES = 4, BEHALF_FRAMES = 4, LINES_AT_LEAST = 2 };

static void left_out_print(struct text_out *out, int *left_out) {
  if (*left_out)
    text_print(out, STYLE_DIM, "               ... %d more frame%s\n", *left_out, *left_out == 1 ? "" : "s");
  *left_out = 0;
}

// The frames outside of `node`, the site's, to `last`.
static void outer_frames_print(struct text_out *out, const struct stacks *stacks, uint32_t node, uint32_t last,
                               int limit) {
  bool lines = stack_frame(stacks, node)->language == LANGUAGE_PYTHON; // one of Python has been there
  int left_out = 0, shown = 1, room = has_label(stacks, node, last) && limit > OWN_FRAMES ? OWN_FRAMES : limit;
  while (last && node != last) {
    node = stack_outer(stacks, node);
    const struct shown_frame *frame = stack_frame(stacks, node);
    if (frame->runtime && frame->language != LANGUAGE_NONE) continue;
    bool first_line = frame->language == LANGUAGE_PYTHON && !lines;
    int wanted = frame_is_label(frame) ? 1 + BEHALF_FRAMES : first_line ? LINES_AT_LEAST : 0;
    if (wanted && room < shown + wanted) left_out_print(out, &left_out), room = shown + wanted;
    lines |= first_line;
    if (shown < room)
      frame_print(out, frame, STYLE_PLAIN), shown++;
    else
      left_out++;
  }
  left_out_print(out, &left_out);
}

void text_print_stack(struct text_out *out, const struct stacks *stacks, uint32_t node, int limit) {
  const struct shown_frame *site = stack_site(stacks, node);
  const struct shown_frame *inner = NULL; // what the site called: it tells apart what comes from one line
  for (; node && stack_frame(stacks, node) != site; node = stack_outer(stacks, node)) {
    const struct shown_frame *frame = stack_frame(stacks, node);
    bool telling = frame->function && !runtime_frame_tells_nothing(frame->file, frame->module);
    if (telling || !frame->runtime) inner = frame;
  }
  if (!node) {
    text_print(out, STYLE_DIM, "               [no stack]\n");
    return;
  }
  if (inner) frame_print(out, inner, STYLE_DIM);
  frame_print(out, site, STYLE_BOLD);
  outer_frames_print(out, stacks, node, last_own(stacks, node), limit);
}

void text_print_sparkline(struct text_out *out, int indent, const double *bytes, size_t count) {
  enum { COLUMNS = 60, LEVELS = 8 };
  static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double most = 0;
  for (size_t i = 0; i < count; i++) most = bytes[i] > most ? bytes[i] : most;
  if (!out->sparkline || count < 2 || most <= 0) return;
  size_t columns = count < COLUMNS ? count : COLUMNS;
  fprintf(out->stream, "%*s", indent, "");
  for (size_t column = 0; column < columns; column++) {
    double highest = 0; // of the samples in this column: a short peak stays visible
    for (size_t i = column * count / columns; i < (column + 1) * count / columns; i++)
      highest = bytes[i] > highest ? bytes[i] : highest;
    int level = (int)(highest / most * (LEVELS - 1) + 0.5);
    fputs(blocks[level], out->stream);
  }
  fputc('\n', out->stream);
}
