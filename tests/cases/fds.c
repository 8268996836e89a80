// gcc -g fds.c -o fds       (exit 1 if anyone else wrote into our file)
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 1000; i++) malloc(16);
  for (int fd = 3; fd < 1024; fd++) close(fd);              // what daemons do
  if (chdir("/tmp")) return 2;
  int f[20];                                                // take over the freed numbers
  for (int i = 0; i < 20; i++) { char n[] = "/tmp/fdsXXXXXX"; f[i] = mkstemp(n); unlink(n); }
  close(0); close(1); close(2);
  int z = open("/tmp/fds0", O_CREAT | O_TRUNC | O_RDWR, 0600);   // becomes fd 0
  for (int i = 0; i < 200000; i++) free(malloc(i % 3000));
  struct stat st; int bad = 0;
  for (int i = 0; i < 20; i++) { fstat(f[i], &st); bad |= st.st_size != 0; }
  fstat(z, &st); bad |= st.st_size != 0; unlink("/tmp/fds0");
  return bad;
}
