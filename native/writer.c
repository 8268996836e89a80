#define ZSTD_STATIC_LINKING_ONLY // ZSTD_createCCtx_advanced, ZSTD_customMem
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <zstd.h>

#include "crc32.h"
#include "sys.h"
#include "text.h"

#define SIGNAL_SET_BYTES 8 // the kernel's sigset_t
// While a checkpoint is written the other threads run: one that closes descriptors by the row, or opens new ones, is
// not to meet this one. Below 64, beyond which the kernel has to make its table larger.
#define CHECKPOINT_FD_LOWEST 48
#define ZSTD_LEVEL 3
// A window of 128 KiB keeps zstd's tables at about 1 MiB; sections are tables of small rows that gain nothing from
// looking further back.
#define ZSTD_WINDOW_LOG 17
#define ZSTD_MEMORY_BYTES (8u * 1024 * 1024) // address space; touched as needed

static void writer_fail(struct writer *writer, long error) {
  if (!writer->error) writer->error = (int)-error;
}

// ---- signals

static bool signal_pending(int number) {
  uint64_t pending = 0;
  sys_call3(SYS_rt_sigpending, (long)&pending, SIGNAL_SET_BYTES, 0);
  return pending >> (number - 1) & 1;
}

// Takes back the SIGXFSZ of a write over RLIMIT_FSIZE, which would kill the program once signals are let in again.
static void file_size_signal_take(void) {
  uint64_t set = 1ull << (SIGXFSZ - 1);
  struct timespec now = {0, 0};
  sys_call4(SYS_rt_sigtimedwait, (long)&set, 0, (long)&now, SIGNAL_SET_BYTES);
}

// ---- bytes to the file

static void file_write(struct writer *writer, const void *data, size_t bytes, uint64_t offset) {
  const char *at = data;
  while (bytes > 0 && !writer->error) {
    long wrote = sys_call4(SYS_pwrite64, writer->fd, (long)at, (long)bytes, (long)offset);
    if (wrote == -EINTR) continue;
    if (wrote == -EFBIG && !writer->size_signal_pending) file_size_signal_take();
    if (wrote <= 0) {
      writer_fail(writer, wrote ? wrote : -EIO);
      return;
    }
    at += wrote;
    offset += (uint64_t)wrote;
    bytes -= (size_t)wrote;
  }
}

// A temporary more than the limit allows: a program that has used up its descriptors still gets its report.
static int open_beyond_limit(const char *path, int flags) {
  struct rlimit limit, raised;
  if (sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit) != 0) return -EMFILE;
  raised = limit;
  raised.rlim_cur = limit.rlim_max;
  if (limit.rlim_cur >= limit.rlim_max) return -EMFILE;
  sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&raised, 0);
  int fd = sys_open(path, flags, 0644);
  sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0);
  return fd;
}

// At least `lowest`: where the program has closed 0, 1 and 2, its other threads may still write to them.
static int file_create(const char *path, int truncate, int lowest) {
  const int flags = O_WRONLY | O_CREAT | truncate | O_NOFOLLOW | O_CLOEXEC;
  int fd = sys_open(path, flags, 0644);
  if (fd == -EMFILE) fd = open_beyond_limit(path, flags);
  if (fd < 0 || fd >= lowest || sys_is_copy()) return fd; // a copy has no other threads, and no streams
  int moved = (int)sys_call3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  sys_close(fd);
  return moved;
}

// ---- compression, in memory of its own: a bump allocator, since one context is made once and dropped as a whole

static void *zstd_alloc(void *context, size_t bytes) {
  struct writer *writer = context;
  size_t start = (writer->zstd_used + 63) & ~(size_t)63;
  if (start + bytes > ZSTD_MEMORY_BYTES) return NULL;
  writer->zstd_used = start + bytes;
  return writer->zstd_memory + start;
}
static void zstd_free(void *context, void *block) {
  (void)context;
  (void)block;
}

static bool zstd_start(struct writer *writer) {
  writer->zstd_memory = sys_map(ZSTD_MEMORY_BYTES);
  if (!writer->zstd_memory) return false;
  ZSTD_CCtx *zstd = ZSTD_createCCtx_advanced((ZSTD_customMem){zstd_alloc, zstd_free, writer});
  if (!zstd) return false;
  writer->zstd = zstd;
  return !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, ZSTD_WINDOW_LOG)) &&
         !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_chainLog, ZSTD_WINDOW_LOG - 1));
}

// ---- sections

static struct ht_file_section *section_last(struct writer *writer) {
  return &writer->sections[writer->header.section_count - 1];
}

static void section_store(struct writer *writer, const void *data, size_t bytes) {
  struct ht_file_section *section = section_last(writer);
  file_write(writer, data, bytes, writer->offset);
  section->crc32 = crc32_add(section->crc32, data, bytes);
  section->stored_bytes += bytes;
  writer->offset += bytes;
}

static void section_store_raw(struct writer *writer) {
  section_store(writer, writer->raw, writer->raw_used);
  writer->raw_used = 0;
}

static void section_stream(struct writer *writer, ZSTD_EndDirective end) {
  if (writer->plain) return section_store_raw(writer);
  ZSTD_inBuffer in = {writer->raw, writer->raw_used, 0};
  size_t left;
  do {
    ZSTD_outBuffer out = {writer->stored, sizeof writer->stored, 0};
    left = ZSTD_compressStream2(writer->zstd, &out, &in, end);
    if (ZSTD_isError(left)) {
      writer_fail(writer, -ENOMEM);
      return;
    }
    section_store(writer, writer->stored, out.pos);
  } while (!writer->error && (end == ZSTD_e_end ? left != 0 : in.pos < in.size));
  writer->raw_used = 0;
}

// A checkpoint lies over an older one, whose bytes must not show between two sections.
static void section_align(struct writer *writer) {
  static const char zeros[8];
  size_t gap = -writer->offset & 7;
  if (gap && writer->in_place) file_write(writer, zeros, gap, writer->offset);
  writer->offset += gap;
}

void writer_section(struct writer *writer, enum ht_section_id id) {
  section_align(writer);
  writer->sections[writer->header.section_count++] = (struct ht_file_section){.id = id, .offset = writer->offset};
  writer->raw_used = 0;
  writer->streaming = false;
}

void writer_add(struct writer *writer, const void *data, size_t bytes) {
  const char *at = data;
  section_last(writer)->raw_bytes += bytes;
  while (bytes > 0 && !writer->error) {
    size_t part = sizeof writer->raw - writer->raw_used;
    if (part > bytes) part = bytes;
    memcpy(writer->raw + writer->raw_used, at, part);
    writer->raw_used += (uint32_t)part;
    at += part;
    bytes -= part;
    if (writer->raw_used < sizeof writer->raw) continue;
    writer->streaming = true;
    section_stream(writer, ZSTD_e_continue);
  }
}

// A section that fits into `raw` is stored in whichever form is shorter.
static void section_end_short(struct writer *writer) {
  if (writer->plain) return section_store_raw(writer);
  size_t compressed =
      ZSTD_compress2(writer->zstd, writer->stored, sizeof writer->stored, writer->raw, writer->raw_used);
  if (!ZSTD_isError(compressed) && compressed < writer->raw_used) {
    section_last(writer)->flags = HT_SECTION_ZSTD;
    section_store(writer, writer->stored, compressed);
  } else {
    section_store(writer, writer->raw, writer->raw_used);
  }
}

void writer_section_end(struct writer *writer) {
  if (writer->error) return;
  if (!writer->streaming) {
    section_end_short(writer);
    return;
  }
  if (!writer->plain) section_last(writer)->flags = HT_SECTION_ZSTD;
  section_stream(writer, ZSTD_e_end);
}

// ---- the file as a whole

static void name_add(struct text *text, int pid, uint32_t image) {
  text_add(text, "heaptide.");
  text_add_decimal(text, (uint64_t)pid);
  if (image == 0) return;
  text_add(text, "-");
  text_add_decimal(text, image);
}

const char *const checkpoint_suffixes[2] = {".live", ".live2"};

bool writer_path(char path[WRITER_PATH_BYTES], const char *directory, bool hidden, int pid, uint32_t image,
                 const char *suffix) {
  struct text text;
  text_start(&text, path, WRITER_PATH_BYTES);
  text_add(&text, directory);
  text_add(&text, hidden ? "/." : "/");
  name_add(&text, pid, image);
  text_add(&text, suffix);
  return !text.cut;
}

static struct writer *writer_new(uint32_t section_count) {
  struct writer *writer = sys_map(sizeof *writer);
  if (!writer) return NULL;
  writer->header.version = HT_FILE_VERSION;
  memcpy(writer->header.magic, HT_FILE_MAGIC, sizeof writer->header.magic);
  writer->offset = sizeof writer->header + section_count * sizeof(struct ht_file_section);
  writer->fd = -1;
  writer->size_signal_pending = signal_pending(SIGXFSZ);
  return writer;
}

static void file_open(struct writer *writer, const char *path, int truncate, int lowest) {
  if (!writer->error) writer->fd = file_create(path, truncate, lowest);
  if (!writer->error && writer->fd < 0) writer_fail(writer, writer->fd);
}

struct writer *writer_open(const char *directory, int pid, uint32_t image, uint32_t section_count) {
  struct writer *writer = writer_new(section_count);
  if (!writer) return NULL;
  if (!writer_path(writer->path, directory, false, pid, image, ".bin") ||
      !writer_path(writer->temporary, directory, true, pid, image, ".tmp"))
    writer_fail(writer, -ENAMETOOLONG);
  if (!zstd_start(writer)) writer_fail(writer, -ENOMEM);
  file_open(writer, writer->temporary, O_TRUNC, 3);
  return writer;
}

struct writer *writer_open_checkpoint(const char *directory, int pid, uint32_t image, uint32_t section_count,
                                      int slot) {
  struct writer *writer = writer_new(section_count);
  if (!writer) return NULL;
  writer->plain = writer->in_place = true;
  if (!writer_path(writer->path, directory, true, pid, image, checkpoint_suffixes[slot]))
    writer_fail(writer, -ENAMETOOLONG);
  file_open(writer, writer->path, 0, CHECKPOINT_FD_LOWEST);
  return writer;
}

static void header_write(struct writer *writer) {
  struct ht_file_header *header = &writer->header;
  size_t table_bytes = header->section_count * sizeof(struct ht_file_section);
  header->file_bytes = writer->offset;
  if (!writer->error) { // an empty last section may begin behind the last byte
    long grown = sys_call3(SYS_ftruncate, writer->fd, (long)writer->offset, 0);
    if (grown < 0) writer_fail(writer, grown);
  }
  header->crc32 = crc32_add(crc32_add(0, header, sizeof *header), writer->sections, table_bytes);
  file_write(writer, header, sizeof *header, 0);
  file_write(writer, writer->sections, table_bytes, sizeof *header);
}

// `DIR/heaptide.<pid>[-N].lost.<errno>`: a name needs no room on a full disk.
static void lost_note(struct writer *writer) {
  struct text text = {.bytes = writer->path, .capacity = sizeof writer->path, .length = strlen(writer->path) - 3};
  text_add(&text, "lost.");
  text_add_decimal(&text, (uint64_t)writer->error);
  int fd = file_create(writer->path, O_TRUNC, 3);
  if (fd >= 0) sys_close(fd);
}

static void file_finish(struct writer *writer) {
  header_write(writer);
  if (writer->fd >= 0) {
    long closed = sys_call3(SYS_close, writer->fd, 0, 0); // network file systems say here that there was no room
    if (closed < 0 && closed != -EINTR) writer_fail(writer, closed);
  }
  if (writer->in_place) return;
  if (!writer->error) {
    long renamed = sys_call4(SYS_renameat, AT_FDCWD, (long)writer->temporary, AT_FDCWD, (long)writer->path);
    if (renamed < 0) writer_fail(writer, renamed);
  }
  if (!writer->error) return;
  if (writer->fd >= 0) sys_call3(SYS_unlinkat, AT_FDCWD, (long)writer->temporary, 0);
  if (writer->error != ENAMETOOLONG) lost_note(writer); // else its own name would be cut too
}

int writer_close(struct writer *writer) {
  file_finish(writer);
  int error = writer->error;
  if (writer->zstd_memory) sys_unmap(writer->zstd_memory, ZSTD_MEMORY_BYTES);
  sys_unmap(writer, sizeof *writer);
  return error;
}
