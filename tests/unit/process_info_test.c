// sources: native/process_info.c native/sys.c native/text.c native/lock.c
// Resident memory is told from /proc/PID/status with its huge pages, which VmRSS leaves out.
#include "../../native/process_info.h"
#include "expect.h"

static const char saved[] = "Name:\ttrain\nVmPeak:\t  300000 kB\nVmHWM:\t    5000 kB\nVmRSS:\t    4096 kB\n"
                            "RssAnon:\t    1024 kB\nVmSwap:\t       0 kB\nHugetlbPages:\t   65536 kB\nThreads:\t1\n";
static const char older[] = "Name:\ttrain\nVmRSS:\t    4096 kB\nThreads:\t1\n";

int main(void) {
  EXPECT(process_resident_in(saved) == (4096 + 65536) * 1024ul);
  EXPECT(process_resident_in(older) == 4096 * 1024ul);
  EXPECT(process_resident_in("") == 0);
  return failures != 0;
}
