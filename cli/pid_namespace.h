// Numbers of processes in another PID namespace (a container): a process that was attached to from outside names its
// files by the number that it knows itself by. attach leaves a link in the folder, NAMESPACE_LINK, that says whose
// numbers these are.
#ifndef HT_PID_NAMESPACE_H
#define HT_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NAMESPACE_LINK ".heaptide.namespace"

// The number by which process `pid` knows itself.
pid_t pid_inside(pid_t pid);

// Leaves the link in `folder` when `pid` has a namespace of its own. False: errno.
bool pid_namespace_note(const char *folder, pid_t pid);

// Our number of the process that files in `folder` call `pid`; 0: it is not there. Without a link it is `pid` itself.
pid_t pid_outside(const char *folder, uint64_t pid);

#endif
