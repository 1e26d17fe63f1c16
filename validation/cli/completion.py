"""Completion in bash and zsh: commands, options, keys, their choices, files."""

import pathlib
import re
import shutil
import subprocess

import tap

BASH = """
source {source}/completions/orrery
compopt() {{ :; }}
orrery() {{ {program} "$@"; }}
COMP_LINE=$1 COMP_POINT=${{#1}}
read -ra COMP_WORDS <<<"$1"
COMP_WORDS[0]=orrery
_orrery
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# The functions of zsh's completion system that ours calls, reduced to what they offer.
ZSH = """
compset() {{ PREFIX=${{PREFIX#*=}}; }}
offer() {{ local c; for c; do [[ $c = $PREFIX* ]] && print -r -- $c; done; return 0; }}
compadd() {{
    while [[ $1 = -* && $1 != -- ]]; do [[ $1 = -[SM] ]] && shift; shift; done
    shift
    offer "$@"
}}
_describe() {{ [[ $1 = -o ]] && shift; local -a list; list=("${{(@P)2}}"); offer ${{list%%:*}}; }}
_files() {{
    local pattern='*'
    case "$1" in -g) pattern=$2 ;; -/) pattern= ;; esac
    offer *(N/) ${{~pattern}}(N.)
}}
orrery() {{ {program} "$@"; }}
line=$1
words=("${{(@s: :)line}}") CURRENT=$#words PREFIX=${{line##* }}
source {source}/completions/_orrery
"""


def bash(line):
    script = BASH.format(source=tap.SOURCE, program=tap.ORRERY)
    result = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True,
                            timeout=60 * tap.PATIENCE)
    assert result.returncode == 0 and not result.stderr, result
    return sorted(result.stdout.split())


def zsh(line):
    if not shutil.which("zsh"):
        raise tap.Skip("zsh is not installed")
    script = ZSH.format(source=tap.SOURCE, program=tap.ORRERY)
    result = subprocess.run(["zsh", "-f", "-c", script, "zsh", line], capture_output=True,
                            text=True, timeout=60 * tap.PATIENCE)
    assert not result.stderr, result
    return sorted(result.stdout.split())


def commands():
    """What --help lists."""
    text = tap.run("--help").stdout.split("commands:\n")[1]
    return re.findall(r"^  (\w+) ", text.split("\n\n")[0], re.MULTILINE)


def options(command):
    """The letters and names that --help lists."""
    text = tap.run(command, "--help").stdout.split("options:\n")[1]
    forms = re.findall(r"^  (-\w)?(?:, |    )?(--[\w-]+)?", text, re.MULTILINE)
    return {word for form in forms for word in form if word}


def check(complete):
    pathlib.Path("one.cfg").touch()
    pathlib.Path("notes.txt").touch()
    pathlib.Path("cluster.run").mkdir()
    assert complete("orrery ") == sorted(commands())
    assert complete("orrery re") == ["report"]
    for command in commands():
        offered, told = complete(f"orrery {command} -"), options(command)
        assert set(offered) == told and "--help" in told, (command, offered, told)
    assert complete("orrery run --re") == ["--restart"]
    # zsh adds the = sign itself.
    assert [key.rstrip("=") for key in complete("orrery run one.cfg -P time.i")] == \
        ["time.integrator"]
    assert complete("orrery run one.cfg -P time.integrator=yo") == ["yoshida4", "yoshida6"]
    assert complete("orrery run one.cfg -P outputs.1.type=") == ["dcd", "gadget-hdf5", "vtkhdf",
                                                                 "xyz"]
    assert complete("orrery check one.cfg -P outputs.0.compress=") == ["false", "true"]
    assert complete("orrery run ") == ["cluster.run", "one.cfg"]
    assert complete("orrery report ") == ["cluster.run"]
    assert complete("orrery run one.cfg -o ") == ["cluster.run"]
    assert complete("orrery info plum") == ["plummer"]
    formats = tap.run("convert", "a", "b", "--to", "?").stderr.split(" one of ")[1]
    assert complete("orrery convert a b --to ") == sorted(formats.strip().split(", "))
    assert "vtkhdf" in formats and complete("orrery convert a b --from x") == ["xyz"]
    assert complete("orrery convert a b --units as") == ["astronomical"]
    assert complete("orrery convert no") == ["notes.txt"]
    assert complete("orrery bench --boundary ") == ["open", "periodic"]
    assert complete("orrery help re") == ["report"]


def test_bash():
    """bash completes commands, options, keys, choices and files"""
    check(bash)


def test_zsh():
    """zsh completes commands, options, keys, choices and files"""
    zsh("orrery ")
    check(zsh)


def test_keys():
    """every key of config/defaults.cfg can be completed, and orrery takes it"""
    keys = tap.run("info", "--keys").stdout.splitlines()
    names = {line.split("\t")[0] for line in keys}
    groups = {name.split(".")[0] for name in names}
    defaults = pathlib.Path(tap.SOURCE, "config/defaults.cfg").read_text()
    written = set(re.findall(r"^\s*#?(\w+) = ", defaults, re.MULTILINE))
    assert len(written) > 50
    assert written <= groups | {name.split(".")[-1] for name in names}, \
        written - groups - {name.split(".")[-1] for name in names}


tap.main()
