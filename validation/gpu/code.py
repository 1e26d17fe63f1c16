"""The machine code of the GPU's kernels: no spills on any architecture, no more instructions a pair
of bodies than the kernels are meant to have, and no more waiting between them."""

import functools
import glob
import os
import re
import shutil
import subprocess
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "validation/gpu"))

import model  # noqa: E402
import sass  # noqa: E402

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
OBJECTS = os.path.join(BUILD, "gpu/kernels")  # their objects
ARCHITECTURES = ["sm_" + arch for arch in os.environ.get("ORRERY_CUDA_ARCH", "").split()]
COUNTED = "sm_90"

# What limits these kernels is how many instructions a multiprocessor issues, so their number for
# one ordered pair is the figure of merit. The targets were counted in prototypes: three
# subtractions, three multiply-adds for r^2, one estimate of 1/r, three multiplications, three
# multiply-adds for the sums; and what loads a body from shared memory and turns the loop, divided
# by the bodies that share it. The textbook's rsqrtf() spends three more on denormals, equal masses
# save one multiplication, a potential costs one addition, low parts of positions cost two
# additions a coordinate. The third law needs 17 and a part of the exchange for a pair that counts
# twice. Of fp64 only the fp64 instructions count, whose unit is half as wide.
# Beside them the cycles that a warp takes at least for a pair: the stalls that the assembler has
# written into the instructions. What is above the count of instructions, other warps must fill.
MARGIN = 1.03
SOFT = r"\(gpu_space\)0"
# An object, a kernel, ordered pairs for an estimate of 1/r, what counts, how many, stalls, and the
# name in instructions.h.
KERNELS = [
    ("textbook", r"^textbook_simt<textbook_body, false>$", 1, None, 17.1, 50.1, "TEXTBOOK_SIMT"),
    ("ladder", r"^tiled<gravity_textbook", 1, None, 17.1, 19.8, "TEXTBOOK_TILED"),
    ("tiled", rf"^tiled<gravity<source_single.*{SOFT}> >$", 1, None, 14.1, 16.4, "TILED"),
    ("blocked", rf"^blocked<gravity<source_single.*{SOFT}>, 4, 2>$", 1, None, 13.3, 15.2,
     "BLOCKED_4"),
    ("blocked", r"^blocked<gravity_equal<.*source_single.*, 4, 2>$", 1, None, 12.3, 14.0,
     "EQUAL_4"),
    ("ladder", r"^blocked<gravity_and_potential<.*, 4, 2>$", 1, None, 14.3, 17.2, "POTENTIAL_4"),
    ("blocked", rf"^blocked<gravity<source_mixed.*{SOFT}>, 4, 2>$", 1, None, 19.6, 23.5, "MIXED_4"),
    ("symmetric", rf"^add_\w+<gravity<source_single.*{SOFT}>, 8, 4>$", 2, None, 8.8, 11.8,
     "SYMMETRIC"),
    ("symmetric", r"^add_\w+<gravity_equal<.*source_single.*, 8, 4>$", 2, None, 7.8, 9.4,
     "SYMMETRIC_EQUAL"),
    ("blocked", rf"^blocked<gravity<source_double.*{SOFT}>, 2, 2>$", 1, r"^D[A-Z]+", 16, 35.2,
     "DOUBLE_2"),
    # A correctly rounded 1 / sqrtf() takes 23 instructions more than an estimate, a body in four
    # pieces three more than at once; a loop takes four, divided by the bodies of a round.
    ("textbook", r"^textbook_simt<textbook_structure, true>$", 1, None, 43.3, 159,
     "TEXTBOOK_STRUCTURES"),
    ("textbook", r"^textbook_simt<textbook_body, true>$", 1, None, 40.8, 158, "TEXTBOOK_ROOT"),
    ("textbook", r"^textbook_tile<1>$", 1, None, 17 + 4, 62, "TEXTBOOK_TILE_1"),
    ("textbook", r"^textbook_tile<2>$", 1, None, 17 + 4 / 2, 39, "TEXTBOOK_TILE_2"),
    ("textbook", r"^textbook_tile<4>$", 1, None, 17 + 4 / 4, 36.8, "TEXTBOOK_TILE_4"),
    ("textbook", r"^textbook_tile<8>$", 1, None, 17 + 4 / 8, 35.2, "TEXTBOOK_TILE_8"),
    ("textbook", r"^textbook_tile<16>$", 1, None, 17 + 4 / 16, 34.6, "TEXTBOOK_TILE_16"),
    # Not in a table of targets, but not to grow unseen: counted when they were written. The last
    # number is the form: what a kernel for more blocks at once waits.
    ("simt", rf"^simt<gravity<source_single.*{SOFT}> >$", 1, None, 14.3, 30.6, "SIMT"),
    ("blocked", rf"^blocked<gravity<source_single.*{SOFT}>, 2, 2>$", 1, None, 13.7, 14.8,
     "BLOCKED_2"),
    ("blocked", rf"^blocked<gravity<source_single.*{SOFT}>, 1, 2>$", 1, None, 14.2, 15.7, None),
    ("blocked", rf"^blocked<gravity<source_single.*{SOFT}>, 4, 3>$", 1, None, 13.4, 22.8, None),
    ("blocked", rf"^blocked<gravity<source_single.*{SOFT}>, 2, 3>$", 1, None, 13.7, 17.5, None),
    ("blocked", r"^blocked<gravity_equal<.*source_single.*, 4, 3>$", 1, None, 12.4, 21.8, None),
    ("blocked", r"^blocked<gravity_equal<.*source_mixed.*, 4, 2>$", 1, None, 18.8, 22.8, None),
    ("blocked", r"^blocked<gravity_equal<.*source_double.*, 2, 2>$", 1, r"^D[A-Z]+", 15, 34.0,
     None),
    ("symmetric", rf"^add_\w+<gravity<source_single.*{SOFT}>, 8, 3>$", 2, None, 8.8, 9.5, None),
    ("symmetric", rf"^add_\w+<gravity<source_single.*{SOFT}>, 4, 4>$", 2, None, 9.1, 10.3, None),
    ("symmetric", rf"^add_\w+<gravity<source_single.*{SOFT}>, 2, 4>$", 2, None, 9.8, 11.9, None),
    ("blocked", r"^blocked<gravity<source_single.*\(gpu_space\)2>, 4, 2>$", 1, None, 23.6, 26.5,
     None),
    ("symmetric", rf"^add_\w+<gravity<source_mixed.*{SOFT}>, 8, 2>$", 2, None, 11.9, 12.5,
     "SYMMETRIC_MIXED"),
    ("symmetric", r"^add_\w+<gravity_equal<.*source_mixed.*, 8, 2>$", 2, None, 10.9, 11.5, None),
    ("symmetric", rf"^add_\w+<gravity<source_double.*{SOFT}>, 4, 2>$", 2, r"^D[A-Z]+", 10, 21.3,
     "SYMMETRIC_DOUBLE"),
    ("symmetric", r"^add_\w+<gravity_equal<.*source_double.*, 4, 2>$", 2, r"^D[A-Z]+", 9, 19.5,
     None),
    # A pair in floats: 48 are differences of coordinates, 29 r^2, 8 eps^2, 9 and an estimate 1/h,
    # 16 products, 22 the two sums; the others load a body in three parts and leave out its own.
    ("blocked", rf"^blocked<potentials<{SOFT}>, 1, 2>$", 1, r"^D[A-Z]+", 17, 40.4,
     "ENERGIES_DOUBLE"),
    ("blocked", rf"^blocked<potentials_in_floats<{SOFT}>, 1, 2>$", 1, None, 142.3, 149.8,
     "ENERGIES_FLOATS"),
    # A root takes 8 of the fp64 unit's instructions, a quotient 8; nothing is fused.
    ("portable", r"^portable<portable_force, false>$", 1, r"^D[A-Z]+", 33, 341, None),
    ("step", rf"^step<gravity<source_single.*{SOFT}> >$", 1, None, 14.2, 16.3, None),
    ("step", r"^step<gravity_equal<.*source_single", 1, None, 13.2, 15.2, None),
    ("step", rf"^step<gravity<source_double.*{SOFT}> >$", 1, r"^D[A-Z]+", 16, 36.4, None),
    ("resident", rf"^resident<gravity<source_single.*{SOFT}>, false, false, 1>$", 1, None, 14.2,
     16.0, "RESIDENT_1"),
    ("resident", rf"^resident<gravity<source_single.*{SOFT}>, false, false, 2>$", 1, None, 13.7,
     15.2, "RESIDENT_2"),
    ("resident", rf"^resident<gravity<source_mixed.*{SOFT}>, false, false, 1>$", 1, None, 21.3,
     24.5, "RESIDENT_MIXED_1"),
    ("resident", rf"^resident<gravity<source_mixed.*{SOFT}>, false, false, 2>$", 1, None, 20.2,
     22.9, "RESIDENT_MIXED_2"),
    ("resident", rf"^resident<gravity<source_double.*{SOFT}>, false, false, 2>$", 1, r"^D[A-Z]+",
     16, 51.1, None),
    ("resident", rf"^resident<gravity<source_single.*{SOFT}>, true, false, 1>$", 1, None, 14.2,
     16.2, None),
    ("resident", rf"^resident<gravity<source_single.*{SOFT}>, true, false, 2>$", 1, None, 13.7,
     14.8, None),
]


def need_kernels():
    if not ARCHITECTURES:
        raise tap.Skip("this build has no GPU backend")


@functools.lru_cache(None)
def functions(name):
    """The same as sass.functions() of an object's code for COUNTED."""
    if COUNTED not in ARCHITECTURES:
        raise tap.Skip(f"this build has no code for {COUNTED}")
    try:
        return sass.functions(os.path.join(OBJECTS, name + ".o"), COUNTED)
    except sass.NoDisassembler as reason:
        raise tap.Skip(str(reason))


def inner_loop(name, kernel):
    found = functions(name)
    return sass.inner_loop(found[sass.one_function(found, kernel)])


def title_of(kernel, only):
    return kernel.strip("^$").replace("\\", "") + (" fp64 only" if only else "")


def test_other_gpus():
    """GPUs without machine code have a form that their driver compiles"""
    need_kernels()
    try:
        listed = sass.list_ptx(os.path.join(OBJECTS, "blocked.o"))
    except sass.NoDisassembler as reason:
        raise tap.Skip(str(reason))
    # The first for GPUs between those that have code, the last for GPUs to come.
    wanted = {ARCHITECTURES[0].removeprefix("sm_"), ARCHITECTURES[-1].removeprefix("sm_")}
    assert listed == wanted, listed


def test_no_spills():
    """the kernels of every architecture keep their variables in registers"""
    need_kernels()
    said = sass.usage(OBJECTS)
    sources = {os.path.basename(path)[:-3]
               for path in glob.glob(os.path.join(tap.SOURCE, "gpu/kernels/*.cu"))}
    here = {(name, arch) for name, arch, _ in said}
    assert here == {(name, arch) for name in sources for arch in ARCHITECTURES}, here
    spilled = [f"{name}.cu, {arch}, {function}:\n{text}" for (name, arch, function), text
               in said.items() if "0 bytes spill stores, 0 bytes spill loads" not in text]
    assert not spilled, "\n" + "\n".join(spilled)
    # Integrators with registers of their own (rk4) index them: ELb1E, a template's `true`.
    framed = [f"{name}.cu, {arch}, {function}:\n{text}" for (name, arch, function), text
              in said.items() if " 0 bytes stack frame" not in text
              and not re.search(r"^_Z(4moveI\w+Lb1ELb[01]E|8resident.*Lb1ELb[01]E)", function)]
    assert not framed, "\n" + "\n".join(framed)


# The threads that the catalog lets a block have: those of the precision, or of all.
MOST_THREADS = {"simt<gravity<source_single": 1024, "simt<gravity<": 512, "blocked": 256,
                "add_tile_pairs": 128, "resident": 512, "step": 512,
                "tiled<gravity<source_single": 1024, "tiled<gravity<": 512}


def test_registers():
    """every launch that the catalog allows has registers enough"""
    need_kernels()
    short = []
    for (name, arch, function), (used, _) in sass.registers(
            sass.usage(OBJECTS)).items():
        threads = next((MOST_THREADS[key] for key in MOST_THREADS if function.startswith(key)), 256)
        if -(-used // 8) * 8 * threads > 65536:
            short.append(f"{name}.cu, {arch}, {function}: {used} registers, {threads} threads")
    assert not short, "\n" + "\n".join(short)


def test_dependencies():
    """a header makes the kernels that include it anew, and no others"""
    need_kernels()

    notes = ""
    for path in glob.glob(os.path.join(OBJECTS, ".deps/*.o.d")):
        with open(path, encoding="utf-8") as file:
            notes += file.read()

    def is_old(kernel, header):
        # As nvcc writes it, whichever kernel includes it: make knows a file by this name.
        names = set(re.findall(rf"^ +((?:\S*/)?{re.escape(header)})(?=\s)", notes, re.MULTILINE))
        assert names, f"no kernel includes a file {header}"
        told = [word for name in names for word in ("-W", name)]
        result = subprocess.run(["make", "-q", *told, f"gpu/kernels/{kernel}.o"], cwd=BUILD,
                                capture_output=True, text=True)
        assert result.returncode < 2, result.stderr
        return result.returncode == 1
    assert is_old("blocked", "gpu/kernels/sum.cuh") and is_old("move", "force/method.h")
    assert not is_old("move", "gpu/kernels/sum.cuh")


def test_instructions():
    """no inner loop has more instructions a pair than it is meant to have, nor waits longer"""
    need_kernels()
    print(f"# {'a pair, ' + COUNTED:<64} counted target   stalls target")
    above = []
    for name, kernel, pairs, only, target, stalls, _ in KERNELS:
        loop = inner_loop(name, kernel)
        counted, stalled = loop.count(pairs, only), loop.stall(pairs)
        title = title_of(kernel, only)
        print(f"# {title:<64} {counted:7.2f} {target:6.1f} {stalled:8.2f} {stalls:6.1f}")
        if counted > target * MARGIN:
            above.append(f"{title}: {counted:.2f} instructions, at most {target * MARGIN:.2f}")
        if stalled > stalls * MARGIN:
            above.append(f"{title}: {stalled:.2f} cycles, at most {stalls * MARGIN:.2f}")
    assert not above, "\n" + "\n".join(above)


def test_instructions_of_the_roofline():
    """`orrery bench --gpu` computes its limits with the instructions that were counted"""
    need_kernels()
    with open(os.path.join(tap.SOURCE, "gpu/kernels/instructions.h"), encoding="utf-8") as file:
        said = {name: float(value) for name, value in
                re.findall(r"^#define GPU_INSTRUCTIONS_(\w+) ([\d.]+)$", file.read(),
                           re.MULTILINE)}
    counted = {macro: inner_loop(name, kernel).count(pairs, only)
               for name, kernel, pairs, only, _, _, macro in KERNELS if macro}
    assert said.keys() == counted.keys(), said.keys() ^ counted.keys()
    wrong = [f"{name}: {said[name]}, counted {counted[name]:.2f}"
             for name in said if abs(counted[name] / said[name] - 1) > 0.01]
    assert not wrong, "\n" + "\n".join(wrong)


def test_early_kernels_wait():
    """a kernel that may begin before the one before it ends reads no memory before it waits"""
    need_kernels()
    for name, code in functions("step").items():
        names = [sass.opcode(text) for _, text, _ in code]
        first = next(k for k, opcode in enumerate(names)
                     if re.match(r"(LDG|STG|LD|ST|RED|ATOMG?)\b", opcode))
        assert "ACQBULK" in names[:first], (name, names[:first + 1])


def test_model():
    """the model of the speed reads this code, and has it within what an H100 issues"""
    need_kernels()
    said = sass.registers(sass.usage(OBJECTS))
    for name, pattern, pairs, threads, bodies, title in model.KERNELS:
        found = functions(name)
        function = sass.one_function(found, pattern)
        loop = sass.inner_loop(found[function])
        most = 132 * 128 * 1.98e9 / loop.count(pairs)
        rate, limit = model.rate(model.DEVICES[0], loop, said[name, COUNTED, function][0], pairs,
                                 threads, bodies, 262144)
        assert 0.9 * most < rate < most or limit == "fp64", (title, rate, most, limit)


def test_shared_memory_limits_one_body_of_a_thread():
    """gpu_resident() with two bodies per thread issues for longer than shared memory is busy"""
    need_kernels()
    for source, one in (("single", 16), ("mixed", 32)):
        for bodies in (1, 2):
            loop = inner_loop("resident", rf"^resident<gravity<source_{source}.*{SOFT}>, false, "
                              rf"false, {bodies}>$")
            taken, limit = model.cycles(loop, COUNTED, 4)
            expected = (one, "shared") if bodies == 1 else (loop.count(1), "issue")
            assert (taken / loop.estimates, limit) == expected, (source, bodies, taken, limit)


SAMPLE = """
\t\tFunction : _Z5any_fv
        /*0000*/                   LDC R1, c[0x0][0x28] ;              /* 0x00000a00ff017b82 */
                                                                       /* 0x000fe20000000800 */
        /*0010*/                   FADD R2, R2, R3 ;                   /* 0x0000000302027221 */
                                                                       /* 0x000fc80000000000 */
        /*0020*/                   MUFU.RSQ R5, R4 ;                   /* 0x0000000400057308 */
                                                                       /* 0x000e240000001400 */
        /*0030*/              @!P0 DFMA R6, R6, R4, R6 ;               /* 0x000000040606722b */
                                                                       /* 0x000fd00000000006 */
        /*0040*/                   MUFU.RSQ64H R7, R7 ;                /* 0x0000000700077308 */
                                                                       /* 0x000e620000001c00 */
        /*0050*/               @P0 BRA 0x20 ;                          /* 0xfffffffc00d80947 */
                                                                       /* 0x000fec000383ffff */
        /*0060*/               @P1 BRA 0x10 ;                          /* 0xfffffffc00c80947 */
                                                                       /* 0x000fea000383ffff */
        /*0070*/                   EXIT ;                              /* 0x000000000000794d */
                                                                       /* 0x000fea0003800000 */
"""


def test_instructions_are_counted():
    """the shortest loop is found, its instructions are counted and their stalls added"""
    if not shutil.which("c++filt"):
        raise tap.Skip("c++filt is not installed")
    (name, code), = sass.parse(SAMPLE).items()
    assert name == "any_f" and len(code) == 8, (name, code)
    loop = sass.inner_loop(code)
    assert [sass.opcode(i) for i in loop.code] == ["MUFU.RSQ", "DFMA", "MUFU.RSQ64H", "BRA"]
    assert loop.estimates == 2 and loop.count(1) == 2 and loop.count(2, "^D") == 0.25
    # Bits 41 to 44 of the upper halves: 2 + 8 + 1 + 6.
    assert loop.stalls == 17 and loop.stall(1) == 8.5, loop.stalls


tap.main()
