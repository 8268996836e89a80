#include "report_jit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "stack_table.h"
#include "sys.h"
#include "text.h"

#define CHUNK_BYTES (64u * 1024)           // a longer line is skipped
#define MAP_BYTES_MAX (512u * 1024 * 1024) // what lies behind is not read

struct jit_frame {
  uint64_t address;
  uint32_t frame; // the recorder's number
};

struct jit_map {
  struct report_tables *tables;
  struct jit_frame *frames; // by address
  uint32_t count;
};

// ---- the frames

static bool frame_is_jit(const struct report_tables *tables, uint32_t id) {
  return numbering_has(&tables->frames, id) && frame_table[id].kind == HT_FRAME_JIT;
}

static uint32_t frames_count(const struct report_tables *tables) {
  uint32_t count = 0;
  for (uint32_t id = 1; id < tables->frame_end; id++) count += frame_is_jit(tables, id);
  return count;
}

// Shell's sort with Ciura's gaps, each further one 2.25 times the last: qsort may allocate.
static void frames_sort(struct jit_frame *frames, uint32_t count) {
  static const uint32_t gaps[] = {134495, 59775, 26566, 11807, 5247, 2332, 1036, 460, 204, 90, 40, 18, 7, 3, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
    for (uint32_t i = gaps[g]; i < count; i++) {
      struct jit_frame moved = frames[i];
      uint32_t at = i;
      for (; at >= gaps[g] && frames[at - gaps[g]].address > moved.address; at -= gaps[g])
        frames[at] = frames[at - gaps[g]];
      frames[at] = moved;
    }
  }
}

static bool frames_collect(struct jit_map *map) {
  uint32_t count = frames_count(map->tables);
  if (count == 0) return false;
  map->frames = sys_map(count * sizeof *map->frames);
  map->tables->jit_names = sys_map(map->tables->frame_end * sizeof *map->tables->jit_names);
  if (!map->frames || !map->tables->jit_names) return false;
  for (uint32_t id = 1; id < map->tables->frame_end; id++)
    if (frame_is_jit(map->tables, id)) map->frames[map->count++] = (struct jit_frame){frame_table[id].value, id};
  frames_sort(map->frames, map->count);
  return true;
}

static uint32_t frames_from(const struct jit_map *map, uint64_t address) {
  uint32_t low = 0, high = map->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (map->frames[middle].address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// ---- the file

static const char *hex_read(const char *at, uint64_t *value) {
  *value = 0;
  if (at[0] == '0' && (at[1] | 0x20) == 'x') at += 2;
  for (;; at++) {
    char digit = *at >= 'A' && *at <= 'F' ? (char)(*at | 0x20) : *at;
    if (digit >= '0' && digit <= '9')
      *value = *value << 4 | (uint64_t)(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      *value = *value << 4 | (uint64_t)(digit - 'a' + 10);
    else
      break;
  }
  while (*at == ' ') at++;
  return at;
}

// A later line takes the place of an earlier one: code is thrown away and its addresses used again.
static void line_take(const struct jit_map *map, const char *line) {
  uint64_t start, bytes;
  const char *name = hex_read(hex_read(line, &start), &bytes);
  uint32_t at = frames_from(map, start), ref = 0;
  for (; at < map->count && map->frames[at].address - start < bytes; at++) {
    if (!ref) ref = tables_string(map->tables, name);
    map->tables->jit_names[map->frames[at].frame] = ref;
  }
}

// Takes the whole lines of `text` and returns how many bytes they are.
static size_t lines_take(const struct jit_map *map, char *text, size_t bytes) {
  char *line = text, *end;
  while ((end = memchr(line, '\n', (size_t)(text + bytes - line)))) {
    *end = 0;
    line_take(map, line);
    line = end + 1;
  }
  return (size_t)(line - text);
}

static void file_take(const struct jit_map *map, int fd, char *chunk) {
  size_t kept = 0;
  uint64_t total = 0;
  for (long got; total < MAP_BYTES_MAX && (got = sys_read(fd, chunk + kept, CHUNK_BYTES - kept)) > 0;) {
    total += (uint64_t)got;
    size_t used = kept + (size_t)got, taken = lines_take(map, chunk, used);
    kept = used - taken;
    if (kept == CHUNK_BYTES) kept = 0;
    memmove(chunk, chunk + taken, kept);
  }
}

// Anybody may put something else under that name: only a plain file is read.
static int file_open(void) {
  char path[64];
  struct text text;
  struct stat status;
  text_start(&text, path, sizeof path);
  text_add(&text, "/tmp/perf-");
  text_add_decimal(&text, (uint64_t)sys_pid());
  text_add(&text, ".map");
  int fd = sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return fd;
  if (sys_call3(SYS_fstat, fd, (long)&status, 0) == 0 && S_ISREG(status.st_mode)) return fd;
  sys_close(fd);
  return -1;
}

void jit_names_find(struct report_tables *tables) {
  struct jit_map map = {.tables = tables};
  char *chunk = NULL;
  int fd = -1;
  if (frames_collect(&map) && (chunk = sys_map(CHUNK_BYTES)) && (fd = file_open()) >= 0) file_take(&map, fd, chunk);
  if (fd >= 0) sys_close(fd);
  if (chunk) sys_unmap(chunk, CHUNK_BYTES);
  if (map.frames) sys_unmap(map.frames, map.count * sizeof *map.frames);
}
