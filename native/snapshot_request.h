// How `heaptide snapshot` asks a process for a report: the two sides' agreement.
//
// The file DIR/.heaptide.<pid>[-N].ask holds the label (empty: none). The process looks for it after each sample; a
// process that does not allocate is sent REQUEST_SIGNAL. The copy that writes the report removes the file at its end.
// The signal without such a file asks for a checkpoint (checkpoint.h): `heaptide top` reads those.
#ifndef HT_SNAPSHOT_REQUEST_H
#define HT_SNAPSHOT_REQUEST_H

#define REQUEST_SUFFIX ".ask"
#define REQUEST_LABEL_BYTES 256 // a file's name (NAME_MAX) and its NUL

// A signal that is ignored by default: a process that has just execed into a program without heaptide is not harmed,
// and one whose program has its own handler or none is simply not woken (signal(7)).
#define REQUEST_SIGNAL SIGURG

// Sent with si_code SI_QUEUE and the value `call number << REQUEST_PC_BITS | address that the call returns to`, as
// /proc/PID/task/TID/syscall tells of a sleeping thread; 0: nothing was seen.
#define REQUEST_PC_BITS 48
#define REQUEST_PC_MASK ((1ull << REQUEST_PC_BITS) - 1)

#endif
