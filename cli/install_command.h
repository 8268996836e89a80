// The command that installs something on this machine.
#ifndef HT_INSTALL_COMMAND_H
#define HT_INSTALL_COMMAND_H

// `packages`, separated by spaces, have these names in Debian, Fedora, Arch and openSUSE alike. New memory: "sudo
// apt-get install gdb", without sudo for root; without a package manager that is known, "install gdb".
char *install_command(const char *packages);

#endif
