"""Run Python code with foldnote as on Windows: ``python without_posix.py CODE [ARGUMENT ...]``.

Modules of foldnote see only Windows' part of the standard library: no POSIX modules, functions, signals or flags, no
owners and modes of files, no /proc, and ``sys.platform`` is win32. Other packages have separate code for Windows, and
see the real system.
"""

import builtins
import inspect
import os
import sys
import types

MODULES = {
    "curses", "fcntl", "grp", "nis", "posix", "posixpath", "pty", "pwd", "readline", "resource", "spwd", "syslog",
    "termios", "tty",
}  # fmt: skip
NAMES = {
    "os": """chown chroot fchdir fchmod fchown fdatasync fork forkpty fpathconf fstatvfs getegid geteuid getgid
        getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid getxattr initgroups killpg lchown listxattr
        lockf login_tty major minor mkfifo mknod nice openpty pathconf pidfd_open posix_fadvise posix_fallocate posix_spawn
        posix_spawnp pread pwrite readv register_at_fork sched_getaffinity sched_yield sendfile setegid seteuid setgid
        setgroups setpgid setpriority setsid setuid setxattr splice statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname umount
        uname unshare wait wait3 wait4 waitid writev WNOHANG WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG O_CLOEXEC
        O_DIRECTORY O_DSYNC O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC O_PATH O_TMPFILE RTLD_LAZY""",
    "signal": """SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU
        SIGUSR1 SIGUSR2 SIGVTALRM SIGXCPU alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt
        sigpending sigtimedwait sigwait sigwaitinfo""",
    "socket": "AF_UNIX SO_REUSEPORT socketpair_unix recv_fds send_fds",
    "sys": "getdlopenflags setdlopenflags",
    "time": "clock_getcpuclockid clock_settime tzset pthread_getcpuclockid",
}
GIVEN = {"sys": {"platform": "win32"}, "os": {"name": "nt"}}


class WindowsPart(types.ModuleType):
    """A module of the standard library without the names that Windows lacks."""

    def __init__(self, real):
        super().__init__(real.__name__)
        self._real, self._hidden = real, set(NAMES[real.__name__].split())
        self.__dict__.update(GIVEN.get(real.__name__, {}))

    def __getattr__(self, name):
        if name in self._hidden:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)


def is_ours(scope):
    return bool(scope) and str(scope.get("__name__", "")).partition(".")[0] == "foldnote"


def is_called_by_ours():
    """Return whether a module of foldnote called, directly or through pathlib and shutil."""
    frame = inspect.currentframe().f_back.f_back
    while frame is not None and frame.f_globals.get("__name__") in ("pathlib", "os", "shutil"):
        frame = frame.f_back
    return frame is not None and is_ours(frame.f_globals)


def fake_msvcrt():
    """Windows' byte-range locks, as far as `foldnote.client.local.locks` uses them."""
    import fcntl

    module = types.ModuleType("msvcrt")
    module.LK_NBLCK = 2
    module.LK_UNLCK = 0

    def locking(descriptor, mode, _):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN)
        except BlockingIOError as exc:
            raise PermissionError(exc.errno, exc.strerror) from exc

    module.locking = locking
    return module


def hide_posix():
    real_import, real_stat, real_chmod = builtins.__import__, os.stat, os.chmod
    parts = {name: WindowsPart(real_import(name)) for name in NAMES}
    msvcrt = fake_msvcrt()

    def import_as_on_windows(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
        if level == 0 and is_ours(globals):
            if name in MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name == "msvcrt":
                return msvcrt
            if name in parts:
                return parts[name]
        return real_import(name, globals, locals, fromlist, level)

    def stat(*arguments, **options):
        found = real_stat(*arguments, **options)
        if not is_called_by_ours():
            return found
        mode = found.st_mode | (0o777 if found.st_mode & 0o040000 else 0o666)
        times = {name: getattr(found, name) for name in ("st_atime_ns", "st_mtime_ns", "st_ctime_ns")}
        return os.stat_result((mode, *found[1:4], 0, 0, *found[6:10]), times)

    def chmod(*arguments, **options):
        """Change only the read-only flag of files, as chmod does on Windows."""
        if not is_called_by_ours():
            real_chmod(*arguments, **options)

    def refuse_proc(event, arguments):
        is_reading = event in ("open", "os.listdir", "os.scandir")
        if is_reading and str(arguments[0]).startswith("/proc") and is_called_by_ours():
            raise FileNotFoundError(2, "there is no /proc on Windows", arguments[0])

    builtins.__import__ = import_as_on_windows
    os.stat, os.chmod = stat, chmod
    sys.addaudithook(refuse_proc)


if __name__ == "__main__":
    hide_posix()
    code = sys.argv[1]
    sys.argv = ["foldnote", *sys.argv[2:]]
    exec(compile(code, "<windows>", "exec"), {"__name__": "__main__"})
