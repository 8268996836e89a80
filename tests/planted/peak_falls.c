// As peak_threads.c, but totals fall at every step. Whether all of these falls are looked at is the machine's: the peak
// is exact, or a note says by how much it may be too low.
// build: -pthread
// expect none
// expect peak-within 1600000 1632000
#define FALLS 1000
#include "peak_threads.c"
