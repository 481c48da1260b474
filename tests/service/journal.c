/* Record the operations of processes on the files of a folder, for the tests of power cuts; loaded with LD_PRELOAD.
 *
 * FOLDNOTE_JOURNAL names the file that gets a record for each change and each sync below FOLDNOTE_JOURNAL_BELOW, in
 * order; `power_cut.py` reads it. A record is a header, one or two paths and, for a write, its bytes.
 * Records are appended atomically, so several processes can share a journal. FOLDNOTE_BOOTED is the pretended boot
 * time of the machine (seconds since 1970), which a power cut changes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct __attribute__((packed)) head { char kind; uint16_t first, second; uint32_t size; uint64_t file; int64_t at; };

static int is_below(const char *path) {
    const char *folder = getenv("FOLDNOTE_JOURNAL_BELOW");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static void note(char kind, uint64_t file, int64_t at, const char *first, const char *second, const void *data, size_t size) {
    int saved = errno;
    struct head head = {kind, strlen(first), strlen(second), size, file, at};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)first, head.first}, {(void *)second, head.second}, {(void *)data, size}};
    int journal = syscall(SYS_openat, AT_FDCWD, getenv("FOLDNOTE_JOURNAL"), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (journal < 0 || syscall(SYS_writev, journal, parts, 4) != (long)(sizeof head + head.first + head.second + size)) abort();
    syscall(SYS_close, journal);
    errno = saved;
}

/* Resolve a call's path, and return whether it is below the folder. */
static int find(int folder, const char *path, char *whole) {
    whole[0] = 0;
    if (path[0] != '/') {
        char name[32];
        snprintf(name, sizeof name, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        long length = syscall(SYS_readlink, name, whole, PATH_MAX);
        if (length <= 0) return 0;
        snprintf(whole + length, PATH_MAX - length, "/");
    }
    strncat(whole, path, PATH_MAX - 1 - strlen(whole));
    return is_below(whole);
}

/* Return the inode of an open file below the folder, or 0; write its path to `path`. */
static uint64_t file_of(int fd, char *path, int *is_folder) {
    char name[32];
    struct stat status;
    int saved = errno;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlink, name, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    uint64_t found = is_below(path) && fstat(fd, &status) == 0 ? status.st_ino : 0;
    if (found) *is_folder = S_ISDIR(status.st_mode);
    errno = saved;
    return found;
}

static int opened(int folder, const char *path, int flags, int mode) {
    char whole[PATH_MAX];
    struct stat status;
    int is_ours = (flags & (O_CREAT | O_TRUNC)) && find(folder, path, whole);
    int was_there = is_ours && syscall(SYS_faccessat, folder, path, F_OK) == 0;
    int fd = syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && is_ours && fstat(fd, &status) == 0) {
        if (!was_there) note('c', status.st_ino, 0, whole, "", "", 0);
        else if (flags & O_TRUNC) note('t', status.st_ino, 0, "", "", "", 0);
    }
    return fd;
}

#define MODE(flags) ({ int mode = 0; if (flags & O_CREAT) { va_list rest; va_start(rest, flags); mode = va_arg(rest, int); va_end(rest); } mode; })

int open(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return opened(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return opened(folder, path, flags, MODE(flags)); }

static ssize_t written(int fd, const void *data, ssize_t done, int64_t at) {
    char path[PATH_MAX];
    int is_folder;
    uint64_t file = done > 0 ? file_of(fd, path, &is_folder) : 0;
    if (file) note('w', file, at >= 0 ? at : lseek(fd, 0, SEEK_CUR) - done, "", "", data, done);
    return done;
}

ssize_t write(int fd, const void *data, size_t size) { return written(fd, data, syscall(SYS_write, fd, data, size), -1); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return written(fd, data, syscall(SYS_pwrite64, fd, data, size, at), at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return written(fd, data, syscall(SYS_pwrite64, fd, data, size, at), at); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    ssize_t done = syscall(SYS_writev, fd, parts, count), left = done;
    char path[PATH_MAX];
    int is_folder;
    uint64_t file = done > 0 ? file_of(fd, path, &is_folder) : 0;
    int64_t at = file ? lseek(fd, 0, SEEK_CUR) - done : 0;
    for (int i = 0; file && left > 0 && i < count; i++) {
        size_t size = parts[i].iov_len < (size_t)left ? parts[i].iov_len : (size_t)left;
        note('w', file, at, "", "", parts[i].iov_base, size);
        at += size;
        left -= size;
    }
    return done;
}

/* Record a new size: truncated, allocated, or filled by the kernel with bytes that are not recorded. */
static long sized(int fd, long result) {
    char path[PATH_MAX];
    struct stat status;
    int is_folder;
    uint64_t file = result >= 0 ? file_of(fd, path, &is_folder) : 0;
    if (file && fstat(fd, &status) == 0) note('t', file, status.st_size, "", "", "", 0);
    return result;
}

int ftruncate(int fd, off_t size) { return sized(fd, syscall(SYS_ftruncate, fd, size)); }
int ftruncate64(int fd, off64_t size) { return sized(fd, syscall(SYS_ftruncate, fd, size)); }
int fallocate(int fd, int mode, off_t at, off_t size) { return sized(fd, syscall(SYS_fallocate, fd, mode, at, size)); }
int fallocate64(int fd, int mode, off64_t at, off64_t size) { return sized(fd, syscall(SYS_fallocate, fd, mode, at, size)); }
int posix_fallocate(int fd, off_t at, off_t size) { return sized(fd, syscall(SYS_fallocate, fd, 0, at, size)) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off64_t at, off64_t size) { return sized(fd, syscall(SYS_fallocate, fd, 0, at, size)) == 0 ? 0 : errno; }
ssize_t sendfile(int fd, int from, off_t *at, size_t size) { return sized(fd, syscall(SYS_sendfile, fd, from, at, size)); }
ssize_t sendfile64(int fd, int from, off64_t *at, size_t size) { return sized(fd, syscall(SYS_sendfile, fd, from, at, size)); }

static int synced(int fd, int result) {
    char path[PATH_MAX];
    int is_folder = 0;
    uint64_t file = result == 0 ? file_of(fd, path, &is_folder) : 0;
    if (file) note('s', is_folder ? 0 : file, 0, is_folder ? path : "", "", "", 0);
    return result;
}

int fsync(int fd) { return synced(fd, syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { return synced(fd, syscall(SYS_fdatasync, fd)); }

/* Record a change of names: of one path, or from one to another. */
static int named(char kind, int result, int folder, const char *path, int other, const char *to) {
    char first[PATH_MAX], second[PATH_MAX] = "";
    int is_ours = result == 0 && find(folder, path, first);
    if (result == 0 && to && find(other, to, second)) is_ours = 1;
    if (is_ours) note(kind, 0, 0, first, second, "", 0);
    return result;
}

int mkdir(const char *path, mode_t mode) { return named('m', syscall(SYS_mkdirat, AT_FDCWD, path, mode), AT_FDCWD, path, 0, NULL); }
int mkdirat(int folder, const char *path, mode_t mode) { return named('m', syscall(SYS_mkdirat, folder, path, mode), folder, path, 0, NULL); }
int unlink(const char *path) { return named('u', syscall(SYS_unlinkat, AT_FDCWD, path, 0), AT_FDCWD, path, 0, NULL); }
int rmdir(const char *path) { return named('u', syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR), AT_FDCWD, path, 0, NULL); }
int unlinkat(int folder, const char *path, int flags) { return named('u', syscall(SYS_unlinkat, folder, path, flags), folder, path, 0, NULL); }
int rename(const char *from, const char *to) { return named('r', syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0), AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int a, const char *from, int b, const char *to) { return named('r', syscall(SYS_renameat2, a, from, b, to, 0), a, from, b, to); }
int link(const char *from, const char *to) { return named('l', syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0), AT_FDCWD, from, AT_FDCWD, to); }
int linkat(int a, const char *from, int b, const char *to, int flags) { return named('l', syscall(SYS_linkat, a, from, b, to, flags), a, from, b, to); }

/* Return the pretended time since boot for CLOCK_BOOTTIME. */
int clock_gettime(clockid_t clock, struct timespec *value) {
    const char *booted = getenv("FOLDNOTE_BOOTED");
    if (clock != CLOCK_BOOTTIME || !booted) return syscall(SYS_clock_gettime, clock, value);
    int result = syscall(SYS_clock_gettime, CLOCK_REALTIME, value);
    value->tv_sec -= atol(booted);
    return result;
}
