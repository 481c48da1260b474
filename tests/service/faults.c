/* Make file system calls of a process fail, for the tests; loaded with LD_PRELOAD.
 *
 * FOLDNOTE_FAULTS names a control file of one line: `ACTION KINDS N WHO`. ACTION is `ENOSPC`, `EIO` or `KILL`, KINDS
 * any of w (write), s (sync) and r (rename, link), N counts: every Nth call of these kinds below FOLDNOTE_FAULTS_BELOW
 * fails or, for KILL, kills the process just before it. WHO is a word in the command lines of the affected processes. An
 * empty file means no faults. Each process counts for itself, from the moment when the line changed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static char last[64];

static int is_below(const char *path) {
    const char *folder = getenv("FOLDNOTE_FAULTS_BELOW");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_open_below(int fd) {
    char name[32], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlink, name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_meant(const char *word) {
    static char command[8192];
    if (!command[0]) {
        int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
        long length = syscall(SYS_read, fd, command, sizeof command - 1);
        syscall(SYS_close, fd);
        for (long i = 0; i < length; i++) if (!command[i]) command[i] = ' ';
    }
    return strstr(command, word) != NULL;
}

/* Return whether this call should fail, and set errno. */
static int fails(char kind) {
    const char *control = getenv("FOLDNOTE_FAULTS");
    char line[64] = "", action[16] = "", kinds[8] = "", who[32] = "";
    long every = 0;
    if (!control) return 0;
    int saved = errno, fd = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        long length = syscall(SYS_read, fd, line, sizeof line - 1);
        line[length > 0 ? length : 0] = 0;
        syscall(SYS_close, fd);
    }
    errno = saved;
    if (strcmp(line, last)) { strcpy(last, line); atomic_store(&calls, 0); }
    if (sscanf(line, "%15s %7s %ld %31s", action, kinds, &every, who) != 4) return 0;
    if (every < 1 || !strchr(kinds, kind) || !is_meant(who)) return 0;
    if (atomic_fetch_add(&calls, 1) % every != every - 1) return 0;
    if (strcmp(action, "KILL") == 0) raise(SIGKILL);
    errno = strcmp(action, "ENOSPC") == 0 ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_FD(kind) if (is_open_below(fd) && fails(kind)) return -1
#define ON_PATH(path) if (is_below(path) && fails('r')) return -1

ssize_t write(int fd, const void *data, size_t size) { ON_FD('w'); return REAL(write)(fd, data, size); }
ssize_t writev(int fd, const struct iovec *data, int count) { ON_FD('w'); return REAL(writev)(fd, data, count); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { ON_FD('w'); return REAL(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { ON_FD('w'); return REAL(pwrite64)(fd, data, size, at); }
ssize_t sendfile(int fd, int from, off_t *at, size_t size) { ON_FD('w'); return REAL(sendfile)(fd, from, at, size); }
ssize_t sendfile64(int fd, int from, off64_t *at, size_t size) { ON_FD('w'); return REAL(sendfile64)(fd, from, at, size); }
int ftruncate(int fd, off_t size) { ON_FD('w'); return REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { ON_FD('w'); return REAL(ftruncate64)(fd, size); }
int fsync(int fd) { ON_FD('s'); return REAL(fsync)(fd); }
int fdatasync(int fd) { ON_FD('s'); return REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) { ON_PATH(to); return REAL(rename)(from, to); }
int renameat(int a, const char *from, int b, const char *to) { ON_PATH(to); return REAL(renameat)(a, from, b, to); }
int link(const char *from, const char *to) { ON_PATH(to); return REAL(link)(from, to); }
int linkat(int a, const char *from, int b, const char *to, int flags) { ON_PATH(to); return REAL(linkat)(a, from, b, to, flags); }
