// What the planted programs share. Each says in its `// expect` lines what a report must hold; expectations.py reads
// them. `// @tag` at the end of a code line names that line.
#ifndef PLANTED_H
#define PLANTED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Overwrites the dead stack below the caller, where copies of lost pointers lie: a leak must not hang on what a
// scanner takes for stack.
static __attribute__((noinline, unused)) void stack_scrub(void) {
  volatile unsigned char wipe[32768];
  for (size_t i = 0; i < sizeof wipe; i++) wipe[i] = 0;
}

#endif
