"""The machine code of the GPU's kernels: no spills on any architecture, and no more instructions a
pair of bodies than the kernels are meant to have."""

import functools
import glob
import os
import re
import shutil
import site
import subprocess
import sys

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
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
MARGIN = 1.03
KERNELS = [  # object, kernel, ordered pairs for an estimate of 1/r, only, target, name in slots.h
    ("ladder", r"^simt<gravity_textbook", 1, None, 17.1, "TEXTBOOK_SIMT"),
    ("ladder", r"^tiled<gravity_textbook", 1, None, 17.1, "TEXTBOOK_TILED"),
    ("tiled", r"^tiled<gravity<source_single.*\(gpu_space\)0> >$", 1, None, 14.1, "TILED"),
    ("blocked", r"^blocked<gravity<source_single.*\(gpu_space\)0>, 4>$", 1, None, 13.3,
     "BLOCKED_4"),
    ("blocked", r"^blocked<gravity_equal<.*, 4>$", 1, None, 12.3, "EQUAL_4"),
    ("ladder", r"^blocked<gravity_and_potential<.*, 4>$", 1, None, 14.3, "POTENTIAL_4"),
    ("blocked", r"^blocked<gravity<source_mixed.*\(gpu_space\)0>, 4>$", 1, None, 19.6, "MIXED_4"),
    ("symmetric", r"^meet_tiles<gravity<source_single.*\(gpu_space\)0>, \(gpu_space\)0>$", 2, None,
     8.8, "SYMMETRIC"),
    ("blocked", r"^blocked<gravity<source_double.*\(gpu_space\)0>, 2>$", 1, r"^D[A-Z]+", 16,
     "DOUBLE_2"),
    # Not in a table of targets, but not to grow unseen: counted when they were written.
    ("simt", r"^simt<gravity<source_single.*\(gpu_space\)0> >$", 1, None, 14.3, "SIMT"),
    ("blocked", r"^blocked<gravity<source_single.*\(gpu_space\)0>, 2>$", 1, None, 13.7,
     "BLOCKED_2"),
    ("blocked", r"^blocked<gravity<source_single.*\(gpu_space\)2>, 4>$", 1, None, 23.6, None),
    ("symmetric", r"^meet_tiles<gravity<source_mixed.*\(gpu_space\)0>, \(gpu_space\)0>$", 2, None,
     11.9, "SYMMETRIC_MIXED"),
    ("symmetric", r"^meet_tiles<gravity<source_double.*\(gpu_space\)0>, \(gpu_space\)0>$", 2,
     r"^D[A-Z]+", 10, "SYMMETRIC_DOUBLE"),
    ("resident", r"^resident<gravity<source_single.*\(gpu_space\)0> >$", 1, None, 14.2, None),
]


def need_kernels():
    if not ARCHITECTURES:
        raise tap.Skip("this build has no GPU backend")


def usage():
    """What the assembler said: {(object, architecture, function): text}."""
    found = {}
    for path in glob.glob(os.path.join(BUILD, "gpu", "*.usage")):
        name, key = os.path.basename(path).split(".")[0], None
        with open(path, encoding="utf-8") as file:
            for line in file:
                entry = re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line)
                if entry:
                    key = (name, entry[2], entry[1])
                if key:
                    found[key] = found.get(key, "") + line
    return found


def disassembler():
    """cuobjdump: the toolkit's, or that of the Python package nvidia-cuda-cuobjdump."""
    places = [os.environ.get("CUOBJDUMP", "")]
    if os.environ.get("NVCC"):
        places.append(os.path.join(os.path.dirname(os.environ["NVCC"]), "cuobjdump"))
    for folder in {*site.getsitepackages(), *sys.path}:
        places += glob.glob(os.path.join(folder, "nvidia", "*", "bin", "cuobjdump"))
    places.append(shutil.which("cuobjdump") or "")
    found = next((place for place in places if os.access(place, os.X_OK)), None)
    if not found:
        raise tap.Skip("no cuobjdump: neither in the CUDA toolkit nor from PyPI "
                       "(pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm)")
    return found


def demangle(names):
    result = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True,
                            text=True, check=True)
    return result.stdout.split("\n")


@functools.lru_cache(None)
def functions(name):
    """{function: [(address, instruction)]} of an object's code for COUNTED."""
    if COUNTED not in ARCHITECTURES:
        raise tap.Skip(f"this build has no code for {COUNTED}")
    result = subprocess.run([disassembler(), "-sass", "-arch", COUNTED,
                             os.path.join(BUILD, "gpu", name + ".o")],
                            capture_output=True, text=True, check=True)
    found, code = {}, None
    for line in result.stdout.splitlines():
        start = re.match(r"\s*Function : (\S+)", line)
        instruction = re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?);", line)
        if start:
            code = found.setdefault(start[1], [])
        elif instruction and code is not None:
            code.append((int(instruction[1], 16), instruction[2]))
    return dict(zip(demangle(found), found.values()))


def inner_loop(code):
    """The shortest loop with an estimate of 1/r in it, and how many it has."""
    at = {address: k for k, (address, _) in enumerate(code)}
    best = None
    for k, (address, text) in enumerate(code):
        jump = re.search(r"\bBRA(?:\.\w+)*\s.*?0x([0-9a-f]+)", text)
        if not jump or int(jump[1], 16) > address:
            continue
        body = [instruction for _, instruction in code[at[int(jump[1], 16)]:k + 1]]
        estimates = sum("MUFU.RSQ" in instruction for instruction in body)
        if estimates and (best is None or len(body) < len(best[0])):
            best = body, estimates
    assert best, "no loop with an estimate of 1/r"
    return best


def opcode(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]


def count(name, kernel, pairs, only):
    found = [f for f in functions(name) if re.search(kernel, f)]
    assert len(found) == 1, f"{name}.o has {found or functions(name).keys()} for {kernel}"
    body, estimates = inner_loop(functions(name)[found[0]])
    counted = [i for i in body if not only or re.match(only, opcode(i))]
    return len(counted) / estimates / pairs


def test_no_spills():
    """the kernels of every architecture keep their variables in registers"""
    need_kernels()
    said = usage()
    sources = {os.path.basename(path)[:-3]
               for path in glob.glob(os.path.join(tap.SOURCE, "gpu", "*.cu"))}
    here = {(name, arch) for name, arch, _ in said}
    assert here == {(name, arch) for name in sources for arch in ARCHITECTURES}, here
    spilled = [f"{name}.cu, {arch}, {function}:\n{text}" for (name, arch, function), text
               in said.items() if "0 bytes spill stores, 0 bytes spill loads" not in text]
    assert not spilled, "\n" + "\n".join(spilled)


def test_instructions():
    """no inner loop has more instructions a pair than it is meant to have"""
    need_kernels()
    print(f"# {'instructions a pair, ' + COUNTED:<64} counted target")
    above = []
    for name, kernel, pairs, only, target, _ in KERNELS:
        counted = count(name, kernel, pairs, only)
        title = kernel.strip("^$").replace("\\", "") + (" fp64 only" if only else "")
        print(f"# {title:<64} {counted:7.2f} {target:6.1f}")
        if counted > target * MARGIN:
            above.append(f"{title}: {counted:.2f}, at most {target * MARGIN:.2f}")
    assert not above, "\n" + "\n".join(above)


def test_slots_of_the_roofline():
    """`orrery bench --gpu` computes its limits with the instructions that were counted"""
    need_kernels()
    with open(os.path.join(tap.SOURCE, "gpu", "slots.h"), encoding="utf-8") as file:
        slots = {name: float(value) for name, value in
                 re.findall(r"^#define GPU_SLOTS_(\w+) ([\d.]+)$", file.read(), re.MULTILINE)}
    named = {name: row for *row, name in KERNELS if name}
    assert slots.keys() == named.keys(), slots.keys() ^ named.keys()
    wrong = [f"{name}: {slots[name]}, counted {count(*row[:4]):.2f}"
             for name, row in named.items() if abs(count(*row[:4]) / slots[name] - 1) > 0.01]
    assert not wrong, "\n" + "\n".join(wrong)


def test_instructions_are_counted():
    """the shortest loop is found and counted"""
    code = [(16 * k, text) for k, text in enumerate(
        ["MOV R1, c[0x0][0x28]", "FADD R2, R2, R3", "LDS.128 R4, [R8]", "MUFU.RSQ R5, R4",
         "@!P0 DFMA R6, R6, R4, R6", "MUFU.RSQ64H R7, R7", "@P0 BRA 0x20", "@P1 BRA 0x10", "EXIT"])]
    body, estimates = inner_loop(code)
    assert [opcode(i) for i in body] == ["LDS.128", "MUFU.RSQ", "DFMA", "MUFU.RSQ64H", "BRA"]
    assert estimates == 2


tap.main()
