#include "attach.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "checkpoint.h"
#include "got.h"
#include "hook_exec.h"
#include "hook_life.h"
#include "hook_thread.h"
#include "init.h"
#include "lock.h"
#include "real.h"
#include "report.h"
#include "sampler.h"
#include "stop.h"
#include "sys.h"
#include "text.h"
#include "thread.h"

#define PAGE_BYTES 4096ul
#define QUIET_TRIES 100
#define QUIET_AGAIN_NS 1000000l

// ---- as good as new
//
//   [relro | .data | heaptide_kept | .bss            ]
//           ^first                   ^file_end        ^_end
//
// The library is loaded once and for good. To attach again, its variables are made what they were before the first
// time: what the file holds is copied back, the rest is 0, and heaptide_kept stays.

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
extern char __start_heaptide_kept[] __attribute__((visibility("hidden")));
extern char __stop_heaptide_kept[] __attribute__((visibility("hidden")));

HT_KEPT static struct {
  bool attached, used;    // used: attached and detached before
  char *first, *file_end; // of the variables
  char *image;            // what [first, file_end) held when the library was loaded
  uintptr_t code, code_end;
} own;

static void variables_find(void) {
  const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)__ehdr_start;
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)(__ehdr_start + elf->e_phoff);
  uintptr_t bias = (uintptr_t)__ehdr_start, closed = 0;
  for (int i = 0; i < elf->e_phnum; i++) {
    if (headers[i].p_type == PT_GNU_RELRO) closed = bias + headers[i].p_vaddr + headers[i].p_memsz;
    if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_W)
      own.file_end = (char *)bias + headers[i].p_vaddr + headers[i].p_filesz;
    if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_X) {
      own.code = bias + headers[i].p_vaddr;
      own.code_end = own.code + headers[i].p_memsz;
    }
  }
  own.first = (char *)((closed + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
}

// Not by sys_map: its list is one of the variables.
static bool image_take(void) {
  if (own.image) return true;
  variables_find();
  size_t bytes = (size_t)(own.file_end - own.first);
  long image = sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (image < 0 && image > -4096) return false;
  memcpy((char *)image, own.first, bytes);
  own.image = (char *)image;
  return true;
}

static void image_copy(char *start, char *end) {
  if (start < end) memcpy(start, own.image + (start - own.first), (size_t)(end - start));
}

// Whole pages are given back to the kernel, which hands out zeros.
static void zero(char *start, char *end) {
  char *page = (char *)(((uintptr_t)start + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
  if (page > end) page = end;
  memset(start, 0, (size_t)(page - start));
  char *last = (char *)((uintptr_t)end & ~(PAGE_BYTES - 1));
  if (page < last) sys_call3(SYS_madvise, (long)page, last - page, MADV_DONTNEED);
  if (last >= page) memset(last, 0, (size_t)(end - last));
}

// ---- own memory: all of it goes, but for the first page of each thread's struct, and what threads wait for that are
// being born

struct memory_look {
  uintptr_t start;
  bool is_thread;
};
static struct memory_look look;

static void thread_compare(uintptr_t start, uintptr_t end) {
  (void)end;
  look.is_thread |= start == look.start;
}

static bool is_thread_memory(uintptr_t start) {
  look = (struct memory_look){start, false};
  threads_memory_each(thread_compare);
  return look.is_thread;
}

static bool is_kept(uintptr_t start) { return is_thread_memory(start) || hook_thread_is_kept(start); }

static void variables_renew(void) {
  hook_thread_keep_births();
  sys_own_unmap(is_kept);
  image_copy(own.first, __start_heaptide_kept);
  image_copy(__stop_heaptide_kept, own.file_end);
  zero(own.file_end, _end);
  threads_memory_each(sys_own_note);
  hook_thread_kept_each(sys_own_note);
  threads_renew_all();
}

// ---- attach

static void before_note(void) {
  static char sentence[80];
  struct mallinfo2 (*figures)(void) = (struct mallinfo2(*)(void))real_dlsym(RTLD_DEFAULT, "mallinfo2"); // glibc 2.33
  if (!figures || !real_malloc_is_libc()) return;
  struct mallinfo2 now = figures();
  struct text text;
  text_start(&text, sentence, sizeof sentence);
  text_add(&text, "before attach: ");
  text_add_decimal(&text, (now.uordblks + now.hblkhd) >> 20);
  text_add(&text, " MiB in use");
  report_note_add(sentence);
}

// So that the process can be found before it allocates.
static void register_now(void) {
  lock_take(sampler_lock());
  checkpoint_watch(0);
  lock_drop(sampler_lock());
}

HT_EXPORT int ht_attach(const char *session_text) {
  real_ready();
  if (thread_recording()) return EALREADY;
  if (init_is_preloaded()) return ENOTSUP;
  if (!image_take()) return ENOMEM;
  if (own.used) variables_renew();
  own.used = true;
  if (!init_attached(session_text)) return EINVAL;
  before_note();
  register_now();
  own.attached = true;
  thread_recording_set(true);
  got_attach();
  return 0;
}

// ---- detach

static bool all_are_still(void) {
  uint32_t count;
  const struct stop_thread *threads = stop_threads(&count);
  for (uint32_t i = 0; i < count; i++)
    if (threads[i].state == STOP_LOOSE || threads[i].state == STOP_PASSING) return false;
  return stop_listed();
}

// A thread that was parked in heaptide's code outside a hook may be about to begin one: it has looked already.
static bool none_in_code(void) {
  uint32_t count;
  const struct stop_thread *threads = stop_threads(&count);
  for (uint32_t i = 0; i < count; i++)
    if (threads[i].registers[REG_RIP] - own.code < own.code_end - own.code) return false;
  return true;
}

// From here on nobody begins to record; with all of them parked nobody is in the middle of it.
static bool threads_quiet(void) {
  for (int tries = 0; tries < QUIET_TRIES; tries++) {
    stop_begin();
    threads_stop_all();
    bool still = all_are_still(), outside = none_in_code();
    stop_end();
    if (still && outside) return true;
    sys_call3(SYS_nanosleep, (long)&(struct timespec){0, QUIET_AGAIN_NS}, 0, 0);
  }
  return false;
}

// The command stops a thread wherever it is, and has it call this.
static bool is_recording_here(void) {
  const struct thread *thread = thread_tls;
  return lock_depth || (thread && (thread->in_hook || thread->moving || thread->suspended));
}

static bool report_begun;

void attach_report_begin(void) {
  report_begun = own.attached;
  if (own.attached) hook_life_detach_begin();
}

HT_EXPORT int ht_detach(void) {
  if (!own.attached) return EINVAL;
  if (is_recording_here()) return EAGAIN;
  own.attached = false;
  if (!report_begun) hook_life_detach_begin();
  report_begun = false;
  int error = hook_life_detach_end();
  got_restore();
  hook_exec_stop();
  hook_thread_stop();
  if (!threads_quiet()) return EBUSY;
  hook_thread_keep_births();
  sys_own_empty(is_kept); // and not unmapped: who still comes by reads zeros
  threads_empty_all();
  return error;
}
