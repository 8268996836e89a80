// Another process's memory: no bytes of this one's. Opened twice it is one block, closed once it is still open.
// simulated: 6
// expect direct 65536 in 1 at @made kind device
// expect child direct 0 in 1 at @opened kind device
#include "simulated.h"

int main(void) {
  struct ipc_handle handle;
  void *block, *opened, *again;
  CHECK(hipMalloc(&block, 65536)); // @made
  CHECK(hipIpcGetMemHandle(&handle, block));
  REFUSE(hipIpcOpenMemHandle(&opened, handle, 1)); // its own
  pid_t child = fork();
  if (child == 0) {
    CHECK(hipIpcOpenMemHandle(&opened, handle, 1)); // @opened
    CHECK(hipIpcOpenMemHandle(&again, handle, 1));
    CHECK(opened != again);
    CHECK(hipIpcCloseMemHandle(opened));
    return 0;
  }
  int status;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
