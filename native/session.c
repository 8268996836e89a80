#include "session.h"

#include <string.h>

#include "text.h"

void session_default(struct session *session) {
  memset(session, 0, sizeof *session);
#define OPTION(name, default_value) session->name = default_value;
#define TEXT(name)
#include "options.def"
#undef OPTION
#undef TEXT
}

static bool same_name(const char *bytes, size_t count, const char *name) {
  return strlen(name) == count && memcmp(bytes, name, count) == 0;
}

// Takes one `name=value`. False when it is a known name with a damaged value.
static bool session_take(struct session *session, const char *name, size_t name_bytes, const char *value,
                         size_t value_bytes) {
#define OPTION(option, default_value)                                                                                  \
  if (same_name(name, name_bytes, #option)) return text_decimal(value, value_bytes, &session->option);
#define TEXT(option)                                                                                                   \
  if (same_name(name, name_bytes, #option))                                                                            \
    return text_unescape(value, value_bytes, session->option, sizeof session->option);
#include "options.def"
#undef OPTION
#undef TEXT
  return true;
}

bool session_parse(const char *value, struct session *session) {
  session_default(session);
  while (*value) {
    size_t bytes = strcspn(value, ";");
    const char *equals = memchr(value, '=', bytes);
    if (!equals) return false;
    size_t name_bytes = (size_t)(equals - value);
    if (!session_take(session, value, name_bytes, equals + 1, bytes - name_bytes - 1)) return false;
    value += bytes;
    value += *value == ';';
  }
  return true;
}

static void add_number(struct text *text, const char *name, uint64_t value) {
  text_add(text, name);
  text_add(text, "=");
  text_add_decimal(text, value);
  text_add(text, ";");
}

static void add_string(struct text *text, const char *name, const char *value) {
  text_add(text, name);
  text_add(text, "=");
  text_add_escaped(text, value);
  text_add(text, ";");
}

size_t session_format(const struct session *session, char *buffer, size_t capacity) {
  struct text text;
  text_start(&text, buffer, capacity);
#define OPTION(name, default_value)                                                                                    \
  if (session->name != default_value) add_number(&text, #name, session->name);
#define TEXT(name)                                                                                                     \
  if (session->name[0]) add_string(&text, #name, session->name);
#include "options.def"
#undef OPTION
#undef TEXT
  return text.cut ? 0 : text.length;
}

uint32_t session_image(const struct session *session, int pid) {
  return session->image_pid == (uint64_t)pid ? (uint32_t)session->image : 0;
}

bool session_only_matches(const struct session *session, const char *path) {
  if (!session->only[0]) return true;
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  for (const char *name = session->only; *name;) {
    size_t bytes = strcspn(name, ",");
    if (same_name(name, bytes, base)) return true;
    name += bytes;
    name += *name == ',';
  }
  return false;
}
