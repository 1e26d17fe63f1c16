"""A directory of results, which may be a stranger's: nothing outside of it is opened."""

import contextlib
import errno
import json
import os
import stat

from .error import Error

LARGEST_RECORD = 64 << 20  # bytes of a run.json; the program's have some 20 kB


def is_plain(name):
    """Whether a name out of a file names something directly within a directory."""
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\0")


class Folder:
    """A directory by its path, or by its name in another Folder. Links within are not followed."""

    def __init__(self, path, parent=None):
        self.parent = parent
        self.name = os.fspath(path)
        self.path = os.path.join(parent.path, self.name) if parent else self.name

    @contextlib.contextmanager
    def _descriptor(self):
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        with contextlib.ExitStack() as stack:
            above = None
            if self.parent:
                above = stack.enter_context(self.parent._descriptor())
                flags |= os.O_NOFOLLOW
            try:
                descriptor = os.open(self.name, flags, dir_fd=above)
            except OSError as error:
                raise Error(f"{self.path}: {error.strerror}") from None
            stack.callback(os.close, descriptor)
            yield descriptor

    def kind(self, name):
        """"file" or "folder", "other" for a link or a device, None if there is no such name."""
        if not is_plain(name):
            return None
        try:
            with self._descriptor() as descriptor:
                mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
        except (OSError, ValueError):
            return None
        return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"

    def open(self, name):
        """A regular file of this directory, for reading bytes."""
        path = os.path.join(self.path, str(name))
        if not is_plain(name):
            raise Error(f"{self.path}: {name!r} is no file of a run")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with self._descriptor() as folder:
            try:
                descriptor = os.open(name, flags, dir_fd=folder)
            except OSError as error:
                is_link = error.errno in (errno.ELOOP, errno.EMLINK)
                why = "is a link, which is not followed" if is_link else error.strerror
                raise Error(f"{path}: {why}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Error(f"{path}: is no regular file")
        return os.fdopen(descriptor, "rb")

    def json(self, name, form):
        """The JSON object in a file, whose "format" must be `form`."""
        path = os.path.join(self.path, name)
        with self.open(name) as file:
            content = file.read(LARGEST_RECORD + 1)
            if len(content) > LARGEST_RECORD:
                raise Error(f"{path}: is larger than {LARGEST_RECORD >> 20} MB")
            try:
                value = json.loads(content)
            except (ValueError, RecursionError) as error:
                raise Error(f"{path}: is no JSON: {error}") from None
        if not isinstance(value, dict) or value.get("format") != form:
            raise Error(f"{path}: is no record of an {form}")
        return value

    def files(self, record, manifest):
        """The names that a record lists. A name that leads out of the directory is an error."""
        names = record.get("files", [])
        if not isinstance(names, list):
            raise Error(f"{os.path.join(self.path, manifest)}: files is no list")
        for name in names:
            if not (isinstance(name, str) and is_plain(name.removesuffix("/"))):
                raise Error(f"{os.path.join(self.path, manifest)}: {name!r} is no file of the "
                            "directory")
        return names
