#include "holders.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

const char *path_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

char *frame_name(const struct shown_frame *frame) {
  if (frame->function) return memory_format("%s", frame->function);
  if (frame->module) return memory_format("[%s+0x%llx]", path_name(frame->module), (unsigned long long)frame->offset);
  return memory_format("[unknown+0x%llx]", (unsigned long long)frame->offset);
}

char *frame_words(const struct shown_frame *frame) {
  char *name = frame_name(frame), *words;
  if (!frame->file) return name;
  if (frame->line)
    words = memory_format("%s %s:%u", name, path_name(frame->file), frame->line);
  else
    words = memory_format("%s %s", name, path_name(frame->file));
  free(name);
  return words;
}

static char *variable_text(const struct report *report, const struct ht_file_holder_link *link, struct symbols *symbols,
                           const uint32_t *symbol_modules) {
  bool tls = link->kind == HT_HOLDER_TLS;
  const char *word = tls ? "thread-local" : "global";
  if (link->ref == UINT32_MAX) return memory_format("%s [unknown]", word);
  const char *name = symbols_variable(symbols, symbol_modules[link->ref], link->address, tls);
  if (name) return memory_format("%s %s", word, name);
  return memory_format("%s [%s+0x%llx]", word, path_name(report->strings + report->modules[link->ref].path),
                       (unsigned long long)link->address);
}

static char *stack_text(const struct report *report, const struct ht_file_holder_link *link,
                        const struct stacks *stacks) {
  uint32_t shown = link->frame ? stacks->of_frame[link->frame] : 0;
  const char *function = shown ? stacks->frames[shown - 1].function : NULL;
  const char *thread = link->ref == UINT32_MAX ? "" : report->strings + report->threads[link->ref].name;
  return memory_format("stack of %s (thread %s)", function ? function : "[unknown]", *thread ? thread : "[unnamed]");
}

static char *link_text(const struct report *report, const struct ht_file_holder_link *link, const struct stacks *stacks,
                       struct symbols *symbols, const uint32_t *symbol_modules) {
  switch (link->kind) {
  case HT_HOLDER_SITE: {
    if (link->ref == UINT32_MAX) return memory_format("[unknown]");
    const struct shown_frame *site = stack_site(stacks, stacks->of_site[link->ref]);
    return site ? frame_words(site) : memory_format("[unknown]");
  }
  case HT_HOLDER_STACK:
    return stack_text(report, link, stacks);
  case HT_HOLDER_TEXT:
    return memory_format("%s", report->strings + link->ref);
  }
  return variable_text(report, link, symbols, symbol_modules);
}

char **holder_texts(const struct report *report, const struct ht_file_holder *holder, const struct stacks *stacks,
                    struct symbols *symbols, const uint32_t *symbol_modules, size_t *count) {
  char **texts = memory_get(holder->link_count, sizeof *texts);
  for (uint32_t i = 0; i < holder->link_count; i++)
    texts[i] = link_text(report, &report->links[holder->first_link + i], stacks, symbols, symbol_modules);
  *count = holder->link_count;
  return texts;
}
