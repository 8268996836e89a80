/* heaptide for programs in C and C++: marks on the timeline, and reports of now.
 *
 *   #include <heaptide.h>
 *   for (int epoch = 0; epoch < 10; epoch++) { heaptide_mark("epoch"); train(); }
 *
 * Nothing is linked: the recorder, which `heaptide run` loads, brings the functions. In a program that runs without it
 * these calls do nothing. (They find the recorder when the program is started: of one that was attached to later they
 * know nothing.) */
#ifndef HEAPTIDE_H
#define HEAPTIDE_H

/* The recorder's own names, NULL where it is not loaded. Through the global offset table, also in a program at fixed
 * addresses: a weak name that such a program takes directly, the linker sets to NULL for good. */
#define HEAPTIDE_FIND(name, into) __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(into))

/* A point on the timeline: now, with what is live now. A repeated name is an iteration. A name has at most 127 bytes;
 * what is longer is cut. In any thread. */
static inline void heaptide_mark(const char *name) {
  void (*mark)(const char *name);
  HEAPTIDE_FIND("ht_mark", mark);
  if (mark) mark(name);
}

/* Writes a report of now, into the report folder's subfolder `label` unless that is NULL or "", and waits until it is
 * there. 0; an errno when it could not be written; -1 when nothing is recorded. */
static inline int heaptide_snapshot(const char *label) {
  const int nothing_recorded = 38; /* ENOSYS */
  int (*snapshot)(const char *label);
  HEAPTIDE_FIND("ht_snapshot", snapshot);
  int error = snapshot ? snapshot(label) : nothing_recorded;
  return error == nothing_recorded ? -1 : error;
}

#endif
