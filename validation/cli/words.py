"""What the program says: plain words, 80 columns, colours on a terminal only, errors that help."""

import os
import pathlib
import pty
import re
import subprocess

import messages
import tap

PAIR = """
name = "a-pair-with-a-rather-long-name";
bodies = { initial = "two-body"; eccentricity = 0.3; };
time = { step = 0.05; end = 6.0; };
diagnostics = ( { type = "conservation"; every = 5; }, { type = "orbit"; every = 5; },
                { type = "virial"; every = 5; }, { type = "close-encounters"; every = 5; } );
outputs = ( { type = "xyz"; every = 20; } );
expect = ( { quantity = "energy_error"; at_most = 1e-2; } );
"""

# What was said once, and what says it better.
AWKWARD = {
    # "3 forces a step"; an article after a count or a rate is read as another thing.
    r"\b(forces?|interactions?|pairs|numbers|flops?|FLOP|terms|steps|rows?|bytes|bodies|values|"
    r"evaluations|lines?|operations|thread|[0-9][0-9.e²–-]*) an? (step|second|interaction|(force )?"
    r"evaluation|force|pair|body|shell|frame|system|event|thread|minute|core)\b": "per",
    r"\bof its size\b": "of what: max(|E0|, |U0|)?",
    r"\bthe ways of (the|a|its) ": "the paths of",
    r"\b[Aa] truth\b|\btruth value": "true or false",
    r"\bwrong type; must be text\b": "a string",
    r"\b[Ss]o many\b(?! that)": "a number, or at least this number",
}

# Words that begin sentences whose subject comes late, or never.
BEGINNINGS = re.compile(r"(?:^|(?<=[.;:!?)*] )|(?<=\| ))(?:Of|What|Where) [^.?!|]*[.?!|]?",
                        re.MULTILINE)


def awkward(text):
    """What of AWKWARD is in it, with what says it better."""
    text = re.sub(r"\s+", " ", text)
    return [(match[0], better) for pattern, better in AWKWARD.items()
            for match in re.finditer(pattern, text)]


def beginnings(text):
    """Sentences and cells of a page that begin with Of, What or Where and ask nothing.

    Code, headings and the options of a man page are left out."""
    text = re.sub(r"^```.*?^```$|^    .*$|^[#.].*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ *(?:- |\d+\. )", "\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"(?<!\n)\n(?=[^\n|])", " ", text)  # a paragraph is a line
    return [match[0] for match in BEGINNINGS.finditer(text) if not match[0].endswith("?")]


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def config(text=PAIR):
    pathlib.Path("pair.cfg").write_text(text)
    return "pair.cfg"


def commands():
    lines = tap.run("--complete").stdout.splitlines()
    return [line.split("\t")[0] for line in lines]


def pages(root):
    """All documents."""
    found = [*root.glob("docs/**/*.md"), *root.glob("examples/**/README.md"), *root.glob("*.md"),
             *root.glob("src/**/README.md"), root / "gpu/README.md", root / "NEWS",
             root / "docs/orrery.1"]
    return found


def check_width(text, words):
    wide = [line for line in text.splitlines() if len(line) > 80]
    assert not wide, (words, wide)


def on_terminal(*arguments, **variables):
    """All that the program writes to a terminal."""
    master, slave = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([tap.ORRERY, *arguments], stdin=slave, stdout=slave, stderr=slave,
                               env={**environment, "TERM": "xterm", **variables})
    os.close(slave)
    text = b""
    try:
        while part := os.read(master, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(master)
    process.wait(60 * tap.PATIENCE)
    return text.decode()


def test_plain_words():
    """no message and no page says what was found hard to read"""
    for planted in ("3 forces a step", "1e9 numbers a second", "off by 0.3 of its size"):
        assert awkward(f"It takes {planted}."), planted
    root = pathlib.Path(tap.SOURCE)
    said = [(str(name), text) for name, strings in messages.messages(root) for _, text in strings]
    assert len(said) > 800, len(said)
    said += [(str(page.relative_to(root)), page.read_text()) for page in pages(root)]
    found = [(name, *words) for name, text in said for words in awkward(text)]
    assert not found, "\n".join(map(str, found))


def test_sentences_begin_with_their_subject():
    """no sentence of a document begins with Of, What or Where, but for questions"""
    for planted in ("It ends.\nOf one run it has all.", "|a|b|\n|---|---|\n| x | What it is |\n",
                    "- Where there is none, it fails.", "It ends: Of a\nrun it has all.",
                    "**A.** What is"):
        assert beginnings(planted), planted
    for clean in ("What now?", "# What it is\n", "    What it is\n", "It has it. Offers end."):
        assert not beginnings(clean), clean
    root = pathlib.Path(tap.SOURCE)
    found = [(str(page.relative_to(root)), sentence)
             for page in pages(root) for sentence in beginnings(page.read_text())]
    assert not found, "\n".join(map(str, found))


def test_help():
    """help, version, lists and the description of every name are within 80 columns"""
    calls = [["--help"], ["--version"], ["info"], ["info", "--defaults"]]
    calls += [[command, "--help"] for command in commands()]
    names = sorted(set(tap.run("info", "--names").stdout.split()))
    calls += [["info", *names[k:k + 200]] for k in range(0, len(names), 200)]  # 256 at the most
    for call in calls:
        result = tap.run(*call)
        assert result.returncode == 0, result
        check_width(result.stdout, call)


def test_tables():
    """so are the estimate and the summary, whatever the run is called"""
    result = tap.run("check", config())
    assert result.returncode == 0, result
    check_width(result.stdout, "check")
    result = tap.run("run", "pair.cfg")
    assert result.returncode == 0, result
    check_width(result.stdout, "run")
    assert "orrery report a-pair-with-a-rather-long-name.run" in result.stdout


def test_no_colours_in_a_pipe():
    """a pipe gets no colours"""
    config()
    for arguments in (["run", "pair.cfg"], ["run", "nothing.cfg"], ["--help"]):
        result = tap.run(*arguments)
        assert not COLOUR.search(result.stdout + result.stderr), result


def test_colours_on_a_terminal():
    """a terminal gets them for verdicts and errors, unless NO_COLOR or TERM forbid it"""
    config()
    text = on_terminal("run", "pair.cfg")
    assert re.search(r"\x1b\[32m  verdict +held", text), text
    text = on_terminal("run", "pair.cfg", "--force", "-P", "expect.0.at_most=1e-20")
    assert re.search(r"\x1b\[31m  expect .*FAILED", text), text
    assert re.search(r"\x1b\[31m  verdict +failed", text), text
    assert re.search(r"\x1b\[31mnothing.cfg", on_terminal("run", "nothing.cfg"))
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        text = on_terminal("run", "pair.cfg", "--force", **variables)
        assert "held" in text and not COLOUR.search(text), text
    assert COLOUR.search(on_terminal("run", "pair.cfg", "--force", NO_COLOR=""))


def test_errors_say_what_to_do():
    """the first errors that a newcomer meets name the way on"""
    config()
    run = tap.run("run", "pair.cfg", "-q").returncode
    assert run == 0
    for arguments, words in (
            ([], "--help"),
            (["rnu", "pair.cfg"], "did you mean 'run'"),
            (["run"], "orrery run FILE.cfg"),
            (["run", "pair.cfg", "--forse"], "did you mean --force"),
            (["run", "pair.cfg"], "--restart continues it, --force replaces it"),
            (["run", "pair.cfg", "-P", "time.stepp=1"], "did you mean"),
            (["run", "pair.cfg", "-P", "time.step"], "key.path=value"),
            (["run", "a-pair-with-a-rather-long-name.run"], "did you mean"),
            (["check", "pair"], "did you mean pair.cfg"),
            (["info", "plumer"], "did you mean plummer"),
            (["report", "pair.cfg"], "the directory that a run has written"),
            (["run", "trajectory.xyz"], "trajectory.xyz")):
        result = tap.run(*arguments)
        assert result.returncode != 0 and words in result.stderr, (words, result)


tap.main()
