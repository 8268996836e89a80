#include "symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "progress.h"

extern char **environ;

#define TODO_ANOTHER "set HEAPTIDE_SYMBOLIZER to one that works"

// A program that says nothing is looked at each time this is over: one that used no processor time meanwhile hangs.
// (Before its first answer llvm-symbolizer may work for minutes on a library with gigabytes of DWARF.)
enum { SILENCE_MS = 15 * 1000, SILENCES_MAX = 20 };
// All that waiting for debuginfod's servers may take together.
enum { DEBUGINFOD_LIMIT_MS = 10 * 1000 };

struct conversation {
  pid_t pid;
  int answers; // its stdout
  char *buffer;
  size_t filled, taken, capacity;
  int64_t deadline_ms; // 0: none
};

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

// ---- asking

// How llvm-symbolizer's input can hold a path: in the quotes that it does not contain, 0: not at all.
static char quote_for(const char *path) {
  if (strchr(path, '\n') || strchr(path, '\r')) return 0;
  return !strchr(path, '"') ? '"' : !strchr(path, '\'') ? '\'' : 0;
}

// Writes the questions of queries[0..count) into a file in memory: no deadlock between two pipes can happen.
static int questions_write(const struct symbolizer_query *queries, size_t count, bool with_object) {
  int descriptor = memfd_create("questions", MFD_CLOEXEC);
  FILE *file = descriptor >= 0 ? fdopen(dup(descriptor), "w") : NULL;
  if (!file) return -1;
  for (size_t i = 0; i < count; i++) {
    char quote = quote_for(queries[i].object);
    unsigned long long address = queries[i].symbol->address;
    if (queries[i].answered || (with_object && !quote)) continue;
    if (with_object)
      fprintf(file, "CODE %c%s%c 0x%llx\n", quote, queries[i].object, quote, address);
    else
      fprintf(file, "CODE 0x%llx\n", address);
  }
  fclose(file);
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

// The environment for the program: without DEBUGINFOD_URLS unless it is wanted. The caller frees the array.
static char **environment_make(bool debuginfod) {
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **copy = memory_get(count + 1, sizeof *copy);
  for (size_t i = 0; i < count; i++)
    if (debuginfod || strncmp(environ[i], "DEBUGINFOD_URLS=", 16) != 0) copy[kept++] = environ[i];
  return copy;
}

static int program_spawn(struct conversation *talk, char *const *arguments, int questions, int output,
                         bool debuginfod) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, questions, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char **environment = environment_make(debuginfod);
  int error = posix_spawn(&talk->pid, arguments[0], &actions, NULL, arguments, environment);
  free(environment);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static bool conversation_begin(struct conversation *talk, const char *program, const char *object, int questions,
                               bool debuginfod, struct problem *problem) {
  char *object_option = object ? memory_format("--obj=%s", object) : NULL;
  char *arguments[] = {(char *)program, "--output-style=JSON", "--inlines", "--demangle", object_option, NULL};
  int pipe_ends[2];
  int error = pipe2(pipe_ends, O_CLOEXEC) ? errno : 0;
  if (!error) {
    error = program_spawn(talk, arguments, questions, pipe_ends[1], debuginfod);
    close(pipe_ends[1]);
    talk->answers = pipe_ends[0];
    if (error) close(pipe_ends[0]);
  }
  free(object_option);
  if (error) return problem_set(problem, TODO_ANOTHER, "cannot be started: %s", strerror(error));
  talk->deadline_ms = debuginfod ? now_ms() + DEBUGINFOD_LIMIT_MS : 0;
  return true;
}

// Ends the program: after its last answer there is nothing to wait for.
static void conversation_end(struct conversation *talk) {
  kill(talk->pid, SIGKILL);
  close(talk->answers);
  free(talk->buffer);
  while (waitpid(talk->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

// ---- answers

// Processor time that the program has used, in clock ticks (proc(5): fields 14 and 15 of /proc/PID/stat).
static unsigned long long ticks_used(pid_t pid) {
  char path[64];
  unsigned long long user = 0, kernel = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &kernel) != 2)
    user = kernel = 0;
  fclose(file);
  return user + kernel;
}

// True when something can be read (also its end), false when the program hangs or the time for debuginfod is over.
static bool answers_wait(const struct conversation *talk) {
  struct pollfd ready = {.fd = talk->answers, .events = POLLIN};
  unsigned long long used = 0;
  for (int silences = 0; silences < SILENCES_MAX; silences++) {
    int64_t left_ms = talk->deadline_ms ? talk->deadline_ms - now_ms() : SILENCE_MS;
    int polled = poll(&ready, 1, left_ms < 0 ? 0 : (int)left_ms);
    if (polled > 0) return true;
    if (polled == 0 && (talk->deadline_ms || ticks_used(talk->pid) == used)) return false;
    used = ticks_used(talk->pid);
  }
  return false;
}

static void buffer_room(struct conversation *talk) {
  if (talk->capacity - talk->filled >= 4096) return;
  talk->capacity = talk->capacity ? talk->capacity * 2 : 1 << 16;
  char *larger = memory_get(talk->capacity, 1);
  memcpy(larger, talk->buffer ? talk->buffer : "", talk->filled);
  free(talk->buffer);
  talk->buffer = larger;
}

// Reads more into the buffer. False: the program ended or hangs, `problem` says which.
static bool answers_read(struct conversation *talk, struct problem *problem) {
  if (!answers_wait(talk))
    return talk->deadline_ms ? problem_set(problem, "going on without; unset DEBUGINFOD_URLS to save the wait",
                                           "no answer from debuginfod within %d s", DEBUGINFOD_LIMIT_MS / 1000)
                             : problem_set(problem, TODO_ANOTHER, "hangs");
  buffer_room(talk);
  ssize_t got = read(talk->answers, talk->buffer + talk->filled, talk->capacity - talk->filled);
  if (got > 0) talk->filled += (size_t)got;
  return got > 0 || problem_set(problem, TODO_ANOTHER, "ended before its last answer");
}

// The next line of its output, without the newline; it stands until the next call. NULL: `problem` says why.
static char *answer_next(struct conversation *talk, size_t *bytes, struct problem *problem) {
  buffer_room(talk);
  memmove(talk->buffer, talk->buffer + talk->taken, talk->filled - talk->taken);
  talk->filled -= talk->taken;
  talk->taken = 0;
  char *newline;
  size_t seen = 0;
  while (!(newline = memchr(talk->buffer + seen, '\n', talk->filled - seen))) {
    seen = talk->filled;
    if (!answers_read(talk, problem)) return NULL;
  }
  *bytes = (size_t)(newline - talk->buffer);
  talk->taken = *bytes + 1;
  return talk->buffer;
}

static const char *text_of(const json_t *object, const char *key, struct pool *texts) {
  const char *text = json_string_value(json_object_get(object, key));
  return text && *text && strcmp(text, "??") != 0 ? pool_text(texts, text) : NULL;
}

// Mojo's symbols are printed signatures of up to thousands of characters: what stands before the parameters is shown.
static const char *mojo_shorten(const char *function, const char *file, struct pool *texts) {
  size_t length = file ? strlen(file) : 0;
  size_t end = function ? strcspn(function, "[(") : 0;
  if (length < 5 || strcmp(file + length - 5, ".mojo") != 0 || end == 0) return function;
  char *shortened = memory_text(function, end);
  function = pool_text(texts, shortened);
  free(shortened);
  return function;
}

static void symbol_take(struct symbol *symbol, const json_t *lines, struct pool *texts) {
  size_t count = json_array_size(lines);
  free(symbol->lines);
  symbol->lines = memory_get(count, sizeof *symbol->lines);
  symbol->line_count = 0;
  for (size_t i = 0; i < count; i++) {
    const json_t *from = json_array_get(lines, i);
    struct symbol_line line = {text_of(from, "FunctionName", texts), text_of(from, "FileName", texts),
                               (uint32_t)json_integer_value(json_object_get(from, "Line")),
                               (uint32_t)json_integer_value(json_object_get(from, "Column"))};
    line.function = mojo_shorten(line.function, line.file, texts);
    if (line.function || line.file) symbol->lines[symbol->line_count++] = line;
  }
}

static bool answer_take(struct symbolizer_query *query, const char *answer, size_t bytes, struct pool *texts,
                        struct problem *problem) {
  json_error_t error;
  json_t *object = json_loadb(answer, bytes, 0, &error);
  // A name that is no UTF-8 is no reason to give up: the symbol table has it too.
  if (!json_is_object(object) && (object || json_error_code(&error) != json_error_invalid_utf8)) {
    json_decref(object);
    return problem_set(problem, "set HEAPTIDE_SYMBOLIZER to llvm-symbolizer 13 or newer", "its answer is not JSON");
  }
  if (object) symbol_take(query->symbol, json_object_get(object, "Symbol"), texts);
  json_decref(object);
  query->answered = true;
  return true;
}

// ---- one run of the program

// `object`: all queries are about this file (which the program's input cannot name); NULL: each question names its own.
static bool talk_over(const char *program, const char *object, struct symbolizer_query *queries, size_t count,
                      struct pool *texts, bool debuginfod, struct problem *problem) {
  struct conversation talk = {0};
  int questions = questions_write(queries, count, !object);
  if (questions < 0)
    return problem_set(problem, "free some memory", "its questions cannot be kept: %s", strerror(errno));
  bool good = conversation_begin(&talk, program, object, questions, debuginfod, problem);
  close(questions);
  if (!good) return false;
  for (size_t i = 0; i < count && good; i++) {
    size_t bytes = 0;
    if (queries[i].answered || (!object && !quote_for(queries[i].object))) continue;
    progress_show("naming addresses", i, count);
    char *answer = answer_next(&talk, &bytes, problem);
    good = answer && answer_take(&queries[i], answer, bytes, texts, problem);
  }
  conversation_end(&talk);
  return good;
}

bool symbolizer_run(const char *program, struct symbolizer_query *queries, size_t count, struct pool *texts,
                    bool debuginfod, struct problem *problem) {
  if (!talk_over(program, NULL, queries, count, texts, debuginfod, problem)) return false;
  for (size_t first = 0, end; first < count; first = end) {
    for (end = first; end < count && queries[end].object == queries[first].object;) end++;
    if (!quote_for(queries[first].object) &&
        !talk_over(program, queries[first].object, queries + first, end - first, texts, debuginfod, problem))
      return false;
  }
  return true;
}
