"""Input files with bad data: the exit status, the message, and no trace of a run."""

import gzip
import os
import random
import shutil

import tap

CONFIG = """bodies = {{ initial = "file"; file = "{file}"; {more} }};
physics = {{ softening = {softening}; }};
time = {{ step = 0.125; end = 0.25; }};
diagnostics = ( {{ type = "conservation"; every = 1; }} );
"""
HEADER = "id,m,x,y,z,vx,vy,vz\n"
GOOD = HEADER + "3,1,0,0,0,0,0,0\n4,2,1,0,0,0,0.5,0\n5,0,0,2,0,0.25,0,0\n"


def run(content, name="b.csv", more="", softening=0.0):
    """Runs a config whose bodies come from a file with this content."""
    if content is not None:
        with open(name, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    with open("run.cfg", "w", encoding="utf-8") as file:
        file.write(CONFIG.format(file=name, more=more, softening=softening))
    return tap.run("run", "run.cfg", "-o", "out")


def refuse(status, message, *arguments, **options):
    result = run(*arguments, **options)
    assert result.returncode == status, (result.returncode, result.stderr)
    lines = result.stderr.strip().split("\n")
    assert len(lines) == 1 and message in lines[0], result.stderr
    assert not os.path.exists("out"), "an output directory was made"


def series(content, **options):
    """The rows of conservation.csv of a run that must succeed."""
    result = run(content, **options)
    assert result.returncode == 0, result.stderr
    with open("out/conservation.csv", encoding="utf-8") as file:
        text = file.read()
    for directory, _, names in os.walk("out", topdown=False):
        for name in names:
            os.remove(os.path.join(directory, name))
        os.rmdir(directory)
    return text


def test_numbers_that_are_not_finite():
    """6. NaN and infinity are named with line, column and id"""
    for word in ("nan", "NaN", "inf", "-Infinity", "1e999"):
        refuse(65, f"b.csv:3: column 4 (y) of body 4: '{word}' is not a finite number",
               GOOD.replace("4,2,1,0,", f"4,2,1,{word},"))


def test_masses():
    """7. negative masses and no mass at all are refused; a zero mass is a test body"""
    refuse(65, "b.csv:2: column 2 (mass) of body 3: -1 is negative", GOOD.replace("3,1,", "3,-1,"))
    refuse(65, "b.csv: no body has any mass", GOOD.replace("3,1,", "3,0,").replace("4,2,", "4,0,"))
    assert run(GOOD).returncode == 0


def test_coincident_bodies():
    """8. bodies at one place are refused without softening, counted in a warning with it"""
    twice = GOOD + "9,1,1,0,0,0,0,0\n"
    refuse(65, "bodies 4 and 9 are both at (1, 0, 0)", twice)
    result = run(twice, softening=10.0)  # soft enough for the step, so that the energy is kept
    assert result.returncode == 0, result.stderr
    assert "pairs of bodies at the same position: 1" in result.stderr + result.stdout, result.stderr


def test_duplicate_ids():
    """9. an id given twice is refused"""
    refuse(65, "b.csv: two bodies have the id 3: number 1 and number 4", GOOD + "3,1,7,7,7,0,0,0\n")


def test_counts_and_rows():
    """10. a wrong count and rows of a wrong length are refused with the line"""
    refuse(65, "b.csv:4: the file has 3 bodies here, but bodies.count = 4", GOOD, more="count = 4;")
    refuse(65, "b.csv:5: 7 columns where 8 are expected", GOOD + "6,1,2,3,4,5,6\n")
    refuse(65, "b.csv:5: 9 columns where 8 are expected", GOOD + "6,1,2,3,4,5,6,7,8\n")
    frame = "2\nProperties=mass:R:1:pos:R:3:velo:R:3\n1 0 0 0 0 0 0\n"
    refuse(65, "b.xyz:3: the file ends after 1 of the 2 bodies of frame 0", frame, name="b.xyz")


def test_layout_does_not_matter():
    """11. CRLF, a BOM, blanks, tabs and no last line end give the same result; so does gzip"""
    expected = series(GOOD)
    assert expected.count("\n") == 4  # the header and steps 0, 1, 2
    variants = (GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, GOOD.rstrip("\n"),
                GOOD.replace(",", " ,\t"), GOOD.replace("\n", "\n\n"))
    for variant in variants:
        assert series(variant) == expected, repr(variant)
    assert series(gzip.compress(GOOD.encode()), name="b.csv.gz") == expected
    plain = "".join(line.split(",", 1)[1].replace(",", "\t") + "\n"
                    for line in GOOD.split("\n")[1:4])
    assert series(plain, name="b.dat") == expected


UNFINISHED = ("b.csv: its last line has no end, and its last number, {}, looks unfinished; was "
              "the file cut?")


def test_a_file_that_was_cut():
    """half of the last number is told from a whole one by its length or by its exponent"""
    rows = [f"{i},1,{i},0,0,0,0,{0.1 * i + 1 / 3:.17g}\n" for i in range(4)]
    whole = HEADER + "".join(rows)
    exponent = HEADER + "".join(rows[:3]) + "3,1,3,0,0,0,0,6.333333333333333e-0"
    for text, number in ((whole, ""), (whole.rstrip("\n"), ""), (whole[:-2], "0.633333333333333"),
                         (whole[:-5] + "\n", ""), (whole[:-5] + "\n ", ""),
                         (whole[:-5], "0.633333333333"), (whole[:-18], "0"),
                         (exponent + "5", ""), (exponent, "6.333333333333333e-0")):
        more = UNFINISHED.format(number) if number else ""
        result = run(text, more="center = true;", softening=1.0)
        assert result.returncode == 0, result.stderr
        with open("out/run.log", encoding="utf-8") as file:
            log = file.read()
        check = tap.run("check", "run.cfg")
        convert = tap.run("convert", "b.csv", "b.txt", "--force")
        for said in (log, " ".join(check.stdout.replace("#", "").split()), convert.stderr):
            assert more in said and ("unfinished" in said) == bool(more), (text, said)
        shutil.rmtree("out")
    for name in ("b.csv", "c.csv", "d.csv"):
        with open(name, "w", encoding="utf-8") as file:
            file.write(whole if name == "c.csv" else whole[:-5])
    with open("two.cfg", "w", encoding="utf-8") as file:
        file.write(CONFIG.format(file="b.csv", more="", softening=1.0)
                   .replace('file = "b.csv"', 'files = ["b.csv", "c.csv", "d.csv"]'))
    result = tap.run("run", "two.cfg", "-o", "out")
    assert result.returncode == 0, result.stderr
    more = UNFINISHED.format("0.633333333333") + " (the first of 2 such files)"
    assert more in result.stdout + result.stderr, result


def test_a_periodic_cell_that_the_run_lacks():
    """a frame whose cell is periodic is said to be so if the run is in open space, or in a box of
    another side"""
    keys = "Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1"
    cell = ' Lattice="2 0 0 0 {0} 0 0 0 2" pbc="{1}"'
    words = "b.xyz: its bodies are in a periodic cell, those of the run in open space"
    box = 'boundary = "periodic"; box_length = {:.1f};'
    for extra, physics, said in (("", "", ""), (cell.format(2, "T T T"), "", words),
                                 (cell.format(3, "T T F"), "", words),
                                 (cell.format(2, "F F F"), "", ""),
                                 (cell.format(2, "T T T"), box.format(2), ""),
                                 ("", box.format(4), ""),
                                 (cell.format(2, "T T T"), box.format(4),
                                  "b.xyz: its periodic cell has a side of 2, that of the run of 4 "
                                  "(physics.box_length)"),
                                 (cell.format(3, "T T F"), box.format(2),
                                  "b.xyz: its periodic cell is no cube"),
                                 (cell.format("inf", "T T T").replace("2", "inf"), box.format(2),
                                  "b.xyz: its periodic cell is no cube")):
        text = f"2\n{keys}{extra}\nX 0 0 0 0 0 0 1\nX 1 0 0 0 1 0 1\n"
        with open("b.xyz", "w", encoding="utf-8") as file:
            file.write(text)
        with open("run.cfg", "w", encoding="utf-8") as file:
            file.write(CONFIG.format(file="b.xyz", more="", softening=1.0)
                       .replace("softening", physics + " softening"))
        result = tap.run("run", "run.cfg", "-o", "out", "--force")
        assert result.returncode == 0, result
        check = tap.run("check", "run.cfg")
        for where in (result.stderr, " ".join(check.stdout.replace("#", "").split())):
            assert said in where and ("b.xyz: it" in where) == bool(said), (extra, physics, where)


def test_decimal_commas():
    """11. a decimal comma is refused"""
    refuse(65, "(a decimal comma? the decimal sign is '.')", GOOD.replace(",0.5,", ",0,5,"))
    refuse(65, "b.dat:1: column 2 (x) of body 1: '0,5' is not a finite number; the decimal sign is",
           "1 0,5 0 0 0 0 0\n", name="b.dat", more='format = "plain";')


def test_what_is_no_table():
    """12. missing files and directories: 66; random bytes and a truncated gzip file: 65"""
    refuse(66, 'nowhere.csv": No such file or directory', None, name="nowhere.csv")
    os.mkdir("folder")
    refuse(66, 'folder": Is a directory', None, name="folder")
    generator = random.Random(5)
    for name in ("b.csv", "b.xyz", "b.dat"):
        refuse(65, name, bytes(generator.randrange(256) for _ in range(5000)), name=name)
    packed = gzip.compress((GOOD + "".join(f"{i},1,{i},0,0,0,0,0\n" for i in range(10, 3000)))
                           .encode())
    refuse(65, "b.csv.gz: the compressed file is cut short", packed[:len(packed) // 2],
           name="b.csv.gz")
    refuse(65, "b.csv: no header", b"")


if __name__ == "__main__":
    tap.main()
