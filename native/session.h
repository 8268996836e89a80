// What `heaptide run` tells the recorder: native/options.def as a struct, and as the environment variable
// HEAPTIDE_SESSION. Compiled into both sides; allocates nothing and knows no stdio.
#ifndef HT_SESSION_H
#define HT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_VARIABLE "HEAPTIDE_SESSION"

// A path has at most PATH_MAX bytes with its NUL (linux/limits.h); a longer value is refused by the launcher.
#define SESSION_TEXT_BYTES 4096
// Enough for any session: three texts with every byte escaped, and the numbers.
#define SESSION_FORMAT_BYTES (3 * 3 * SESSION_TEXT_BYTES + 1024)

struct session {
#define OPTION(name, default_value) uint64_t name;
#define TEXT(name) char name[SESSION_TEXT_BYTES];
#include "options.def"
#undef OPTION
#undef TEXT
};

// Every number at its default, every text empty.
void session_default(struct session *session);

// Reads `value` over the defaults. Unknown names are skipped, of a repeated one the last counts. False when the
// value is damaged (no `=`, a bad number, a bad escape, a text that is too long); *session is then unspecified.
bool session_parse(const char *value, struct session *session);

// Writes what differs from the defaults to `buffer`, each as `name=value;`, with a NUL. Returns the bytes without
// the NUL, 0 when `capacity` is too small (or nothing differs). SESSION_FORMAT_BYTES is always enough.
size_t session_format(const struct session *session, char *buffer, size_t capacity);

// The number of the image that runs now as `pid`: 0 unless an earlier image of the same pid said otherwise.
uint32_t session_image(const struct session *session, int pid);

// True when the base name of `path` is one of those in `only`, or when `only` is empty.
bool session_only_matches(const struct session *session, const char *path);

#endif
