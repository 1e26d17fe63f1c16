"""Runs the program."""

import os
import re
import shutil
import subprocess

from .error import Error
from .results import Run, open_results

FINISHED = (0, 1, 75)  # held, failed, stopped (docs/manual/reliability.md)


def text_of(value):
    """A value in the language of config files."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value).replace("\\", "\\\\").replace('"', '\\"')
        return '"' + text.replace("\n", "\\n").replace("\t", "\\t") + '"'
    if isinstance(value, dict):
        return "{ " + " ".join(f"{key} = {text_of(one)};" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value)
        if numbers and any(isinstance(one, float) for one in value):
            value = [float(one) for one in value]  # an array has one type
        words = ", ".join(map(text_of, value))
        of_groups = any(isinstance(one, (dict, list, tuple)) for one in value)
        return f"({words})" if of_groups or not value else f"[{words}]"
    raise TypeError(f"{value!r} is no value of a config file")


def find_program(program):
    """The program that was given, or that of $ORRERY, or that of the PATH."""
    name = program or os.environ.get("ORRERY") or "orrery"
    found = shutil.which(os.fspath(name))
    if not found:
        raise Error(f"{name}: there is no such program; give program=, or set ORRERY or PATH")
    return found


def directory_in(summary):
    """The directory whose name a summary has at its head, "NAME: ..." of a run and "DIRECTORY: ..."
    of a study; None if there is none."""
    heads = [line for line in summary.splitlines() if re.match(r"\S.*: ", line)]
    for head in heads[-1:]:
        for colon in re.finditer(": ", head):
            name = head[:colon.start()]
            for path, manifest in ((name, "study.json"), (name + ".run", "run.json")):
                if os.path.isfile(os.path.join(path, manifest)):
                    return path
    return None


def results_of(status, directory, summary):
    """The results that this run of the program left in a directory; None if it wrote nothing there,
    whatever an earlier one left."""
    if directory is None:
        return None
    try:
        results = open_results(directory)
    except Error:
        if status in FINISHED:
            raise
        return None
    written = results.status == status if isinstance(results, Run) else directory_in(summary)
    return results if written else None


def run(config, overrides=None, *, program=None, output=None, force=False, restart=False,
        convergence=False):
    """Runs a config file and returns the opened Run, or the Study if the config has a sweep.

    overrides: values of keys, {"time.step": 0.01}, which go before those of the file.
    program: the program; without it $ORRERY, or `orrery` of the PATH.
    output: the directory; without it NAME.run, as the program chooses.
    force, restart, convergence: the options of these names of `orrery run`.

    A verdict that failed, and a run that was stopped, are results. If the program ends in any other
    way, the Error has its words and its exit status. A KeyboardInterrupt lets the program write
    its checkpoint first.
    """
    config = os.fspath(config)
    command = [find_program(program), "run", config if config[:1] != "-" else "./" + config]
    for key, value in (overrides or {}).items():
        command += ["-P", f"{key}={text_of(value)}"]
    command += ["-o", os.fspath(output)] if output is not None else []
    command += ["--force"] * bool(force) + ["--restart"] * bool(restart)
    command += ["--convergence"] * bool(convergence)
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise Error(f"{command[0]}: {error.strerror}") from None
    with process:
        try:
            summary, words = process.communicate()
        except KeyboardInterrupt:
            process.terminate()  # the terminal has sent SIGINT; a second one would end it at once
            process.communicate()
            raise
    status = process.returncode
    results = results_of(status, output if output is not None else directory_in(summary), summary)
    if results is not None and status in FINISHED:
        return results
    raise Error(words.strip() or f"{command[0]}: ended with status {status}", status, results)
