/* What the sandbox must stop: each ends its process. */
#include "tests/support/planted/planted.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

ATTACK(do_open, (void)!open("/etc/passwd", O_RDONLY))
ATTACK(do_open_old, (void)!syscall(SYS_open, "/etc/passwd", O_RDONLY))
ATTACK(do_openat2, (void)!syscall(437, AT_FDCWD, "/etc/passwd", (uint64_t[3]){0}, 24))
ATTACK(do_readlink, (void)!readlink("/proc/self/exe", (char[64]){0}, 64))
ATTACK(do_unlink, unlink("/tmp/nothing-of-that-name"))
ATTACK(do_chdir, (void)!chdir("/"))
ATTACK(do_socket, socket(AF_INET, SOCK_STREAM, 0))
ATTACK(do_connect, connect(child_of(files)->sock, (struct sockaddr *)&(struct sockaddr_in){AF_INET}, 16))
ATTACK(do_fork, if (fork() == 0) pause())
ATTACK(do_clone3, syscall(435, (uint64_t[11]){0}, 88))
ATTACK(do_exec, execl("/bin/true", "true", NULL))
ATTACK(do_ptrace, ptrace(PTRACE_ATTACH, getppid(), 0, 0))
ATTACK(do_kill, kill(-1, SIGCONT))
ATTACK(do_read_memory, process_vm_readv(1, &(struct iovec){0}, 1, &(struct iovec){0}, 1, 0))
ATTACK(do_mmap_exec, mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
ATTACK(do_memfd, memfd_create("x", 0))
ATTACK(do_prctl, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
ATTACK(do_io_uring, syscall(425, 8, (char[120]){0}))
ATTACK(do_bpf, syscall(SYS_bpf, 0, NULL, 0))
ATTACK(do_fcntl, fcntl(child_of(files)->sock, F_SETOWN, 1))
ATTACK(do_truncate, (void)!ftruncate(child_of(files)->sock, 0))
ATTACK(do_exec_stack, mprotect((void *)((uintptr_t)&files & ~(uintptr_t)4095), 4096, PROT_READ | PROT_EXEC))
