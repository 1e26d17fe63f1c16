"""What the machine code lets devices reach that nobody has measured: a model, and no measurement.

    python3 validation/gpu/model.py FOLDER [docs/gpu.md]

FOLDER has the kernels' objects and what the assembler said of them (gpu/kernels in a build folder
that was configured for the architectures below). Prints the table, or puts it into the page.

A scheduler issues one instruction a cycle, of one of its warps. A loop takes it at least as long as
its instructions do, as the busiest unit needs for those of its kind, as shared memory is busy with
its loads, and as a warp waits divided by the warps that take turns; the longest of these counts. A
launch is a number of waves of blocks; the last one takes as long as the others. Sums that blocks
leave for each other go to memory and back.
"""

import math
import pathlib
import re
import sys

import sass

# Name, architecture, multiprocessors, highest clock in GHz, memory in TB/s (the data sheets).
DEVICES = [("H200", "sm_90", 132, 1.98, 4.8),
           ("A100 SXM 80 GB", "sm_80", 108, 1.41, 2.04), ("RTX 4090", "sm_89", 128, 2.52, 1.01),
           ("RTX 5090", "sm_120", 170, 2.41, 1.79)]

# Cycles for which an instruction of a warp keeps a unit of its scheduler: 32 over its lanes (CUDA
# C++ Programming Guide, throughput of arithmetic instructions).
UNITS = {"sm_80": {"fp32": 2, "fp64": 4, "estimate": 8},
         "sm_89": {"fp32": 1, "fp64": 64, "estimate": 8},
         "sm_90": {"fp32": 1, "fp64": 2, "estimate": 8},
         "sm_120": {"fp32": 1, "fp64": 64, "estimate": 8}}
KINDS = {"fp32": r"F(ADD|MUL|FMA|MNMX)|FSETP", "fp64": r"D(ADD|MUL|FMA)|DSETP", "estimate": r"MUFU"}
MOST_THREADS = {"sm_80": 2048, "sm_89": 1536, "sm_90": 2048, "sm_120": 1536}
REGISTERS, SCHEDULERS = 65536, 4

# Object, function, ordered pairs of an estimate, threads of a block, bodies of a thread, title.
SOFT = r"\(gpu_space\)0"
KERNELS = [
    ("blocked", rf"^blocked<gravity<source_single.*{SOFT}>, 4, 2>$", 1, 128, 4, "blocked"),
    ("blocked", r"^blocked<gravity_equal<.*source_single.*, 4, 2>$", 1, 128, 4,
     "blocked, equal masses"),
    ("symmetric", rf"^\w+<gravity<source_single.*{SOFT}>, 8, 4>$", 2, 128, 8, "symmetric"),
    ("blocked", rf"^blocked<gravity<source_mixed.*{SOFT}>, 4, 2>$", 1, 128, 4, "blocked, mixed"),
    ("symmetric", rf"^\w+<gravity<source_mixed.*{SOFT}>, 8, 2>$", 2, 128, 8,
     "symmetric, mixed"),
    ("blocked", rf"^blocked<gravity<source_double.*{SOFT}>, 2, 2>$", 1, 128, 2, "blocked, double"),
    ("symmetric", rf"^\w+<gravity<source_double.*{SOFT}>, 4, 2>$", 2, 128, 4,
     "symmetric, double"),
]
BODIES = (65536, 262144, 1048576)


def at_once(registers, threads, architecture):
    """Blocks that a multiprocessor runs at once; a warp takes registers by 256."""
    warps = threads // 32
    by_registers = REGISTERS // (-(-registers * 32 // 256) * 256 * warps)
    return min(by_registers, MOST_THREADS[architecture] // threads)


def shared(code):
    """Cycles for which the loads of a warp keep shared memory from its scheduler: shared memory
    gives 128 bytes a cycle to all schedulers, 4 bytes to each of 32 lanes."""
    words = [int(width or 32) // 32 for text in code
             for width in re.findall(r"^LDS(?:\.U)?(?:\.(64|128))?$", sass.opcode(text))]
    return SCHEDULERS * sum(words)


def cycles(loop, architecture, warps):
    """(cycles of a scheduler for one turn of the loop by one warp, what they are spent on)."""
    terms = {"issue": len(loop.code), "waiting": loop.stalls / warps,
             "shared": shared(loop.code)}
    for unit, kept in UNITS[architecture].items():
        terms[unit] = kept * sum(bool(re.match(KINDS[unit], sass.opcode(text)))
                                 for text in loop.code)
    limit = max(terms, key=terms.get)
    return terms[limit], limit


def segments_of(count):
    extent = -(-count // 32) * 32
    most = min(32, max(1, (1 << 23) // extent))
    segment = -(-(-(-extent // most)) // 32) * 32
    return -(-extent // segment)


def filled(count, size, wave, symmetric):
    """(part of its waves that a launch fills, slots of a body that go through memory)."""
    if symmetric:
        tiles = -(-count // size)
        pairs = tiles * (tiles // 2 + 1)
        useful = tiles * tiles / 2
        return useful / (math.ceil(pairs / wave) * wave), tiles + 1
    segments, best = segments_of(count), (0, 0)
    for split in range(1, segments + 1):
        blocks = -(-count // size) * split
        part = (count / size * segments) / (
            math.ceil(blocks / wave) * wave * math.ceil(segments / split))
        best = max(best, (part, segments - segments // split + 1 if split > 1 else 0))
    return best


def rate(device, loop, registers, pairs, threads, bodies, count):
    """Ordered pairs a second, and what limits them."""
    _, architecture, multiprocessors, clock, memory = device
    blocks = at_once(registers, threads, architecture)
    warps = blocks * threads / 32 / SCHEDULERS
    taken, limit = cycles(loop, architecture, warps)
    full = multiprocessors * SCHEDULERS * clock * 1e9 * 32 * loop.estimates * pairs / taken
    part, slots = filled(count, threads * bodies, blocks * multiprocessors, pairs == 2)
    words = 4 if pairs == 2 and "DFMA" not in " ".join(loop.code) else 8
    seconds = count**2 / (full * part) + count * slots * 3 * words * 2 / (memory * 1e12)
    return count**2 / seconds, limit


def table(folder):
    said = sass.registers(sass.usage(folder))
    lines = ["| device | kernel | instructions | cycles waited | registers | limited by | "
             + " | ".join(f"{count}" for count in BODIES) + " |",
             "|" + " --- |" * (6 + len(BODIES))]
    code = {}
    for device in DEVICES:
        name, architecture = device[:2]
        for kernel, pattern, pairs, threads, bodies, title in KERNELS:
            key = kernel, architecture
            if key not in code:
                code[key] = sass.functions(f"{folder}/{kernel}.o", architecture)
            function = sass.one_function(code[key], pattern)
            loop = sass.inner_loop(code[key][function])
            registers = said[kernel, architecture, function][0]
            found = [rate(device, loop, registers, pairs, threads, bodies, count)
                     for count in BODIES]
            cells = [name, title, f"{loop.count(pairs):.1f}", f"{loop.stall(pairs):.1f}", registers,
                     found[0][1], *(f"{one / 1e9:.0f}" for one, _ in found)]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def main():
    lines = table(sys.argv[1])
    if len(sys.argv) < 3:
        print("\n".join(lines))
        return
    page = pathlib.Path(sys.argv[2])
    text = page.read_text()
    start, end = text.index("<!-- model -->\n"), text.index("<!-- end of the model -->")
    page.write_text(text[:start] + "<!-- model -->\n" + "\n".join(lines) + "\n" + text[end:])


if __name__ == "__main__":
    main()
