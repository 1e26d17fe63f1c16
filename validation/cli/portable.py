"""The sources need no more than POSIX: what Linux or the GNU C library adds has another way."""

import os
import pathlib
import re
import subprocess

import tap

# Headers of ISO C; what includes no others can only call what CALLS forbids by name.
ISO = set("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
          "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
          "threads time uchar wchar wctype".split())
# Headers that are neither ISO C nor POSIX (Issue 7), and the macro that must guard each. Those
# without one are on Linux, the BSDs and macOS alike: flock(), getrlimit(), the width of a terminal.
HEADERS = {"sys/file.h": None, "sys/resource.h": None, "sys/ioctl.h": None, "malloc.h": "__GLIBC__",
           "linux/futex.h": "__linux__", "sys/syscall.h": "__linux__",
           "sys/prctl.h": "HAVE_SYS_PRCTL_H", "mach-o/dyld.h": "HAVE_MACH_O_DYLD_H"}
POSIX = set("aio arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo "
            "libgen monetary mqueue ndbm net/if netdb netinet/in netinet/tcp nl_types poll "
            "pthread pwd regex sched search semaphore spawn strings stropts sys/ipc sys/mman "
            "sys/msg sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time "
            "sys/times sys/types sys/uio sys/un sys/utsname sys/wait syslog tar termios trace "
            "ulimit unistd utime utmpx wordexp".split())
LIBRARIES = r"config|gsl/.*|hdf5|jansson|libconfig|mpi|omp|xxhash|zlib|immintrin|arm_neon|"\
    r"cuda_runtime\w*"

# Calls and flags that only Linux or the GNU C library has (some the BSDs too), and what must guard
# them; None: nothing may use them.
CALLS = {
    "prctl": "PR_SET_PDEATHSIG", "F_SETPIPE_SZ": "F_SETPIPE_SZ", "O_TMPFILE": "O_TMPFILE",
    "mallopt": "__GLIBC__", "TIOCGWINSZ": "TIOCGWINSZ", "syscall": "__linux__",
    "on_exit": "HAVE_ON_EXIT",
    "sched_getaffinity": "HAVE_SCHED_GETAFFINITY", "CPU_COUNT": "HAVE_SCHED_GETAFFINITY",
    "_NSGetExecutablePath": "HAVE_MACH_O_DYLD_H",
    **dict.fromkeys(
        "__rlimit_resource_t accept4 asprintf vasprintf basename canonicalize_file_name clone "
        "copy_file_range "
        "drand48_r dup3 epoll_create1 epoll_wait error error_at_line euidaccess eventfd exp10 "
        "explicit_bzero fallocate fcloseall feenableexcept fopencookie futex futimens get_nprocs "
        "getauxval getdents64 getrandom gettid htole16 htole32 htole64 inotify_init le16toh "
        "le32toh le64toh madvise malloc_trim malloc_usable_size mempcpy memfd_create memmem "
        "memrchr mremap name_to_handle_at O_DIRECT O_PATH pipe2 posix_fadvise pow10 "
        "program_invocation_name program_invocation_short_name pthread_setaffinity_np "
        "pthread_setname_np pvalloc qsort_r quick_exit rawmemchr readahead reallocarray "
        "renameat2 sched_setaffinity secure_getenv sendfile signalfd sigtimedwait sigwaitinfo "
        "sincos splice statx strcasestr strchrnul strdupa strverscmp sync_file_range syncfs "
        "sysinfo tee timerfd_create timegm unshare valloc versionsort vmsplice".split()),
}


def sources():
    return sorted(path for pattern in ("src/*/**/*.[ch]", "src/*.c")
                  for path in pathlib.Path(tap.SOURCE).glob(pattern))


def plain(text):
    """Without comments and strings, with the same lines."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def guards(text):
    """Of each line, the conditions of #if around it; those of an #else are not said."""
    stack, found = [], []
    for line in text.split("\n"):
        word = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if word and word.group(1) in ("if", "ifdef"):
            stack.append(word.group(2))
        elif word and word.group(1) == "ifndef":
            stack.append("")
        elif word and word.group(1) in ("else", "elif"):
            stack[-1] = ""
        elif word:
            stack.pop()
        found.append(" ".join(stack))
    return found


def strangers(name, text):
    """What a source uses of one system without a way for others."""
    lines, found = plain(text).split("\n"), []
    guarded = guards("\n".join(lines))
    for number, (line, original) in enumerate(zip(lines, text.split("\n"))):
        header = re.match(r"\s*#\s*include\s*<([\w./+-]+?)(\.h)?>", original)
        if header:
            stem = header.group(1)
            guard = HEADERS.get(stem + ".h", "nothing")
            known = stem in ISO | POSIX or re.fullmatch(LIBRARIES, stem) or guard is None
            if not known and guard not in guarded[number].split():
                found.append(f"{name}:{number + 1}: <{stem}.h>")
            continue
        if line.lstrip().startswith("#"):
            continue
        for call in re.findall(r"(?<![\w.>])(\w+)\b", line):
            is_call = call.isupper() or re.search(rf"(?<![\w.>]){call}\s*\(", line) or \
                call.startswith(("program_inv", "__"))
            if call in CALLS and is_call and (CALLS[call] or "-") not in guarded[number].split():
                found.append(f"{name}:{number + 1}: {call}")
    return found


def test_no_strangers():
    """no header and no call of Linux or the GNU C library without a way for other systems"""
    found = [line for path in sources()
             for line in strangers(path.relative_to(tap.SOURCE), path.read_text())]
    assert not found, "\n" + "\n".join(found)
    assert len(sources()) > 200


def test_planted_strangers():
    """a planted call, a flag and a header are found, and one behind its guard is not"""
    text = ("#include <endian.h>\nint f(void)\n{\n"
            "    return pipe2(0, O_PATH); /* qsort_r() */\n}\n"
            "#ifdef HAVE_ON_EXIT\nvoid g(void) { on_exit(0, 0); }\n#else\n"
            "void g(void) { on_exit(0, 0); }\n#endif\n"
            "int h = (__rlimit_resource_t)1;\n")
    assert strangers("x.c", text) == ["x.c:1: <endian.h>", "x.c:4: pipe2", "x.c:4: O_PATH",
                                      "x.c:9: on_exit", "x.c:11: __rlimit_resource_t"]


def test_posix_alone():
    """what uses more than ISO C compiles with the declarations of POSIX, and no extension"""
    build = pathlib.Path(os.environ.get("ORRERY_BUILD", "."))
    if not (build / "config.h").exists():
        raise tap.Skip("no config.h in the build directory")
    # As configure writes it on a system that has none of these.
    config = re.sub(r"#\s*define (_GNU_SOURCE|_ALL_SOURCE|_DARWIN_C_SOURCE|_NETBSD_SOURCE|"
                    r"_OPENBSD_SOURCE|_TANDEM_SOURCE|__EXTENSIONS__|HAVE_ON_EXIT|HAVE_X86_KERNELS|"
                    r"HAVE_SYS_PRCTL_H|HAVE_MACH_O_DYLD_H|HAVE_SCHED_GETAFFINITY)\b.*", "",
                    (build / "config.h").read_text())
    pathlib.Path("config.h").write_text(config)
    beyond = [path for path in sources() if path.suffix == ".c" and path.stem != "mpi-job" and
              path.stem != "hdf5-snapshot" and
              set(re.findall(r"#\s*include <([\w/]+)\.h>", path.read_text())) & POSIX]
    assert len(beyond) > 25, beyond
    flags = subprocess.run(["pkg-config", "--cflags", "libconfig", "gsl", "jansson", "libxxhash"],
                           capture_output=True, text=True).stdout.split()
    # flock(), strsep() and statvfs' kin are on Linux, the BSDs and macOS beside POSIX.
    pathlib.Path("unix.h").write_text(
        "#include <stdio.h>\nchar *strsep(char **, const char *);\nint flock(int, int);\n")
    result = subprocess.run(
        [*os.environ.get("CC", "cc").split(), "-fsyntax-only", "-std=c11", "-fopenmp",
         "-U__linux__",
         "-D_POSIX_C_SOURCE=200809L", "-D_XOPEN_SOURCE=700", '-DPKGDATADIR="x"',
         "-DKERNELS=baseline", "-Werror=implicit-function-declaration", "-Wno-unknown-pragmas",
         "-I.", "-include", "unix.h", f"-I{tap.SOURCE}/src", f"-I{tap.SOURCE}", f"-I{build}",
         *flags, *beyond], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_exact_arithmetic():
    """flags with which tests for NaN and rounding errors vanish are refused by the compiler"""
    build = pathlib.Path(os.environ.get("ORRERY_BUILD", "."))
    if not (build / "build-commit.h").exists():
        raise tap.Skip("no build-commit.h in the build directory")
    for flag, refused in (("-O2", False), ("-ffast-math", True), ("-ffinite-math-only", True)):
        result = subprocess.run(
            [*os.environ.get("CC", "cc").split(), flag, "-fsyntax-only", f"-I{build}",
             f"-I{tap.SOURCE}/src", f"{tap.SOURCE}/src/base/build.c"],
            capture_output=True, text=True)
        assert (result.returncode != 0) == refused, (flag, result.stderr)
        assert ("leave out -ffast-math" in result.stderr) == refused, (flag, result.stderr)


tap.main()
