#include "hint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target.h"

// ---- names

enum { WORD_BYTES = 32 }; // longer ones are no misspelling of ours

struct hint_nearest hint_nearest_to(const char *word, size_t bytes) {
  return (struct hint_nearest){word, bytes, NULL, 0};
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

// Characters to add, drop, replace or swap with their neighbour (optimal string alignment), of WORD_BYTES at most.
static unsigned edits_between(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  unsigned edits[WORD_BYTES + 1][WORD_BYTES + 1];
  for (unsigned i = 0; i <= a_bytes; i++) edits[i][0] = i;
  for (unsigned k = 0; k <= b_bytes; k++) edits[0][k] = k;
  for (size_t i = 1; i <= a_bytes; i++)
    for (size_t k = 1; k <= b_bytes; k++) {
      unsigned replaced = edits[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
      edits[i][k] = least(replaced, 1 + least(edits[i - 1][k], edits[i][k - 1]));
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        edits[i][k] = least(edits[i][k], 1 + edits[i - 2][k - 2]);
    }
  return edits[a_bytes][b_bytes];
}

void hint_offer(struct hint_nearest *nearest, const char *name) {
  size_t bytes = strlen(name), dashes = strspn(name, "-");
  if (nearest->bytes > WORD_BYTES || bytes > WORD_BYTES) return;
  // A third of the letters may be wrong, and one at least; dashes are no letters, and a single letter tells nothing.
  size_t letters = bytes - dashes, allowed = letters < 6 ? 1 : letters / 3;
  unsigned edits = edits_between(nearest->word, nearest->bytes, name, bytes);
  if (letters < 2 || edits > allowed || (nearest->name && nearest->edits <= edits)) return;
  nearest->name = name;
  nearest->edits = edits;
}

// ---- programs

static bool is_python_script(const char *path) {
  size_t bytes = strlen(path);
  return bytes > 3 && strcmp(path + bytes - 3, ".py") == 0;
}

// The interpreter as it is called here: a virtual environment has `python`, Debian `python3` alone.
static const char *python_name(void) {
  struct target target;
  int error;
  return target_find("python", &target, &error) == 0 ? "python" : "python3";
}

char *hint_program(const char *command, int error, char text[HINT_TEXT]) {
  bool missing = error == ENOENT || error == ENOTDIR, is_path = strchr(command, '/');
  bool here = access(command, R_OK) == 0, runs_here = here && !is_path && access(command, X_OK) == 0;
  if (here && error != EISDIR && is_python_script(command))
    snprintf(text, HINT_TEXT, "heaptide run --py %s %s", python_name(), command);
  else if (missing && runs_here)
    snprintf(text, HINT_TEXT, "it is not in PATH, but here: heaptide run ./%s", command);
  else
    snprintf(text, HINT_TEXT, missing ? "check the name and PATH" : "check the file and its rights");
  return text;
}
