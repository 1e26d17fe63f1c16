"""Machine code of the GPU's kernels: the instructions of a function, its inner loop, what they
cost, and what the assembler said of registers."""

import glob
import os
import re
import shutil
import site
import subprocess
import sys


class NoDisassembler(Exception):
    """There is no cuobjdump."""


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
        raise NoDisassembler("no cuobjdump: neither in the CUDA toolkit nor from PyPI "
                             "(pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm)")
    return found


def demangle(names):
    result = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True,
                            text=True, check=True)
    return result.stdout.split("\n")


# The lower half of an instruction's 128 bits ends its line; the upper half stands on the next.
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?);?\s+/\* 0x[0-9a-f]{16} \*/")
UPPER_HALF = re.compile(r"\s+/\* (0x[0-9a-f]{16}) \*/\s*$")


def stall_of(upper):
    """Cycles that the warp waits before its next instruction: bits 105 to 108 of the instruction
    (Jia, Maggioni, Staiger & Scarpazza 2018, arXiv:1804.06826, section 2.1)."""
    return upper >> 41 & 15


def parse(text):
    """{function: [(address, instruction, stall)]} of what cuobjdump -sass has said."""
    found, code = {}, None
    for line in text.splitlines():
        start = re.match(r"\s*Function : (\S+)", line)
        instruction, upper = INSTRUCTION.match(line), UPPER_HALF.match(line)
        if start:
            code = found.setdefault(start[1], [])
        elif instruction and code is not None:
            code.append((int(instruction[1], 16), instruction[2].strip(), 0))
        elif upper and code:
            code[-1] = (*code[-1][:2], stall_of(int(upper[1], 16)))
    return dict(zip(demangle(found), found.values()))


def functions(path, architecture):
    """The same of an object file's code for an architecture ("sm_90")."""
    result = subprocess.run([disassembler(), "-sass", "-arch", architecture, path],
                            capture_output=True, text=True, check=True)
    return parse(result.stdout)


def list_ptx(path):
    """The architectures ("90") whose PTX an object file holds."""
    result = subprocess.run([disassembler(), "--list-ptx", path], capture_output=True, text=True,
                            check=True)
    return {found.replace("sm_", "") for found in re.findall(r"sm_\w+(?=\.ptx)", result.stdout)}


class Loop:
    """An inner loop: its instructions, their stalls, and how many estimates of 1/r it has."""

    def __init__(self, body):
        self.code = [text for _, text, _ in body]
        self.stalls = sum(stall for _, _, stall in body)
        self.estimates = sum("MUFU.RSQ" in text for text in self.code)

    def count(self, pairs, only=None):
        """Instructions of an ordered pair, where an estimate serves `pairs` of them; `only` those
        whose name matches."""
        counted = [text for text in self.code if not only or re.match(only, opcode(text))]
        return len(counted) / self.estimates / pairs

    def stall(self, pairs):
        """Cycles that a warp alone takes at least to issue an ordered pair."""
        return self.stalls / self.estimates / pairs


def inner_loop(code):
    """The shortest loop with an estimate of 1/r in it."""
    at = {address: k for k, (address, _, _) in enumerate(code)}
    best = None
    for k, (address, text, _) in enumerate(code):
        jump = re.search(r"\bBRA(?:\.\w+)*\s.*?0x([0-9a-f]+)", text)
        if not jump or int(jump[1], 16) > address:
            continue
        loop = Loop(code[at[int(jump[1], 16)]:k + 1])
        if loop.estimates and (best is None or len(loop.code) < len(best.code)):
            best = loop
    assert best, "no loop with an estimate of 1/r"
    return best


def opcode(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]


def one_function(found, pattern):
    """The name of the function that matches."""
    names = [name for name in found if re.search(pattern, name)]
    assert len(names) == 1, f"{names or list(found)} for {pattern}"
    return names[0]


def usage(folder):
    """What the assembler said: {(object, architecture, function): text}; functions are mangled."""
    found = {}
    for path in glob.glob(os.path.join(folder, "*.usage")):
        name, key = os.path.basename(path).split(".")[0], None
        with open(path, encoding="utf-8") as file:
            for line in file:
                entry = re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line)
                if entry:
                    key = (name, entry[2], entry[1])
                if key:
                    found[key] = found.get(key, "") + line
    return found


def registers(said):
    """{(object, architecture, function): (registers, bytes of spills)}; functions are demangled."""
    names = dict(zip((key[2] for key in said), demangle(key[2] for key in said)))
    found = {}
    for (name, architecture, function), text in said.items():
        used = re.search(r"Used (\d+) registers", text)
        spills = [int(n) for n in re.findall(r"(\d+) bytes spill", text)]
        found[name, architecture, names[function]] = (int(used[1]), sum(spills))
    return found
