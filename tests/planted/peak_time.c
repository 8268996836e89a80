// The peak is a little above an earlier one, between two pauses: its time is right however little it rose.
// expect none
// expect peak 4000500
// expect peak-apart 400
#include <unistd.h>

#include "planted.h"

int main(void) {
  void *base[4000];
  for (int i = 0; i < 4000; i++) base[i] = malloc(1000);
  free(malloc(10));
  usleep(450000);
  free(malloc(500));
  usleep(450000);
  for (int i = 0; i < 4000; i++) free(base[i]);
  return 0;
}
