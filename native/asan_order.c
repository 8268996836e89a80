// Shared AddressSanitizer refuses to start when another library comes before it ("ASan runtime does not come first
// in initial library list"). Preloaded, heaptide does, and has to: its malloc then passes calls on to ASan's.
// ASan asks this function for options before it looks (sanitizer/asan_interface.h, __asan_default_options); a program
// that defines the function itself keeps its own and its options, which then have to say verify_asan_link_order=0.
#include "words.h"

HT_EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "verify_asan_link_order=0"; }
