#include "debug_file.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define DEBUG_ROOT "/usr/lib/debug"

static char *hex_text(const uint8_t *bytes, uint32_t count) {
  char *text = memory_get(2 * (size_t)count + 1, 1);
  for (uint32_t i = 0; i < count; i++) {
    text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

static bool build_ids_equal(const struct elf *one, const struct elf *other) {
  uint32_t one_bytes, other_bytes;
  const uint8_t *one_id = elf_build_id(one, &one_bytes), *other_id = elf_build_id(other, &other_bytes);
  return one_id && other_id && one_bytes == other_bytes && memcmp(one_id, other_id, one_bytes) == 0;
}

// Takes `path` over: returns it when it is the module's debug file.
static char *try_build_id(char *path, const struct elf *module, struct elf **debug) {
  *debug = elf_open(path);
  if (*debug && build_ids_equal(module, *debug)) return path;
  elf_close(*debug);
  *debug = NULL;
  free(path);
  return NULL;
}

static char *by_build_id(const struct elf *module, struct elf **debug) {
  uint32_t bytes;
  const uint8_t *id = elf_build_id(module, &bytes);
  if (!id || bytes < 2) return NULL;
  char *hex = hex_text(id, bytes);
  char *found = try_build_id(memory_format(DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2), module, debug);
  const char *home = getenv("HOME"), *cache = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
  if (!found && cache && *cache) found = try_build_id(memory_format("%s/%s/debuginfo", cache, hex), module, debug);
  if (!found && xdg && *xdg)
    found = try_build_id(memory_format("%s/debuginfod_client/%s/debuginfo", xdg, hex), module, debug);
  if (!found && home && *home)
    found = try_build_id(memory_format("%s/.cache/debuginfod_client/%s/debuginfo", home, hex), module, debug);
  free(hex);
  return found;
}

// A debug file with a build-id is judged by that, one without by its checksum.
static bool debuglink_matches(const struct elf *module, const struct elf *debug, uint32_t crc32) {
  uint32_t bytes;
  if (elf_build_id(module, &bytes) && elf_build_id(debug, &bytes)) return build_ids_equal(module, debug);
  return elf_crc32(debug) == crc32;
}

static char *by_debuglink(const char *module_path, const struct elf *module, struct elf **debug, char **refused) {
  uint32_t crc32;
  const char *name = elf_debuglink(module, &crc32);
  const char *slash = strrchr(module_path, '/');
  if (!name || !slash || strchr(name, '/')) return NULL;
  int folder = (int)(slash - module_path);
  char *paths[] = {memory_format("%.*s/%s", folder, module_path, name),
                   memory_format("%.*s/.debug/%s", folder, module_path, name),
                   memory_format(DEBUG_ROOT "%.*s/%s", folder, module_path, name)};
  char *found = NULL;
  for (int i = 0; i < 3; i++) {
    *debug = found || strcmp(paths[i], module_path) == 0 ? *debug : elf_open(paths[i]);
    if (found || !*debug) {
      free(paths[i]);
    } else if (debuglink_matches(module, *debug, crc32)) {
      found = paths[i];
    } else {
      elf_close(*debug);
      *debug = NULL;
      free(*refused);
      *refused = paths[i];
    }
  }
  return found;
}

char *debug_file_find(const char *module_path, const struct elf *module, struct elf **debug, char **refused) {
  *debug = NULL;
  *refused = NULL;
  char *found = by_build_id(module, debug);
  return found ? found : by_debuglink(module_path, module, debug, refused);
}
