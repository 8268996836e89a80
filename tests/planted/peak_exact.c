// The peak is between two equal-looking moments: 700 B held, then 300 more at once, then less, then 999 in all.
// expect none
// expect peak 1000
// expect peak-row @base bytes 700 blocks 7
// expect peak-row @burst bytes 300 blocks 3
// expect live 0
#include "planted.h"

int main(void) {
  void *base[7], *burst[3], *late;
  for (int i = 0; i < 7; i++) base[i] = malloc(100);  // @base
  for (int i = 0; i < 3; i++) burst[i] = malloc(100); // @burst
  for (int i = 0; i < 3; i++) free(burst[i]);
  late = malloc(299); // @late
  free(late);
  for (int i = 0; i < 7; i++) free(base[i]);
  return 0;
}
