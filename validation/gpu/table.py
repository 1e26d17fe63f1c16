"""What validation/gpu/run found, as a page of tables in Markdown."""

# What we want of an H200: a row of the bench (part, label, precision, systems, bodies), and ordered
# pairs a second, or that many times the rate of another row.
PLAIN = ("ladder", "blocked, tuned", "single", 1, 262144)
TARGETS = [(PLAIN, 1.9e12, None),
           (("sizes", "blocked", "single", 1, 16384), 1.5e12, None),
           (("ensembles", "symmetric", "single", 32, 8192), 0.95, PLAIN),
           (("ladder", "blocked, double", "double", 1, 262144), 0.9e12, None),
           (("ladder", "symmetric", "single", 1, 262144), 1.25, PLAIN)]


def rows_of(bench, part):
    """Those that were measured."""
    return [row for row in bench.get("rows", []) if row["part"] == part and not row["skipped"]]


def find(bench, part, label, precision, systems, count):
    for row in rows_of(bench, part):
        if (row["label"], row["precision"], row["systems"], row["count"]) == (
                label, precision, systems, count):
            return row
    return None


def table(head, rows):
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [head, *rows]]
    lines.insert(1, "|" + "---|" * len(head))
    return lines if rows else ["Nothing was measured."]


def giga(rate):
    return f"{rate / 1e9:.1f}" if rate else "–"


def share(row):
    return f"{100 * row['rate'] / row['limit']:.0f} %" if row.get("limit") else ""


def shape(row):
    many = f"{row['systems']} × " if row["systems"] > 1 else ""
    return f"{many}{row['count']}"


# --- sections: a title, and the lines below it -------------------------------------------------

def machine(result):
    device, host = result["device"], result["host"]
    facts = [("device", f"{device['device']}, {device['isa']}"),
             ("multiprocessors, clock, memory", f"{device['multiprocessors']}, "
              f"{device['clock'] / 1e6:.0f} MHz, {device['memory'] / 2**30:.1f} GiB"),
             ("driver", result["driver"]),
             ("CUDA", f"{device['runtime'] // 1000}.{device['runtime'] % 1000 // 10}"),
             ("host", f"{host['processor']}, {host['cores']} cores, {host['system']}"),
             ("orrery", f"{device['version']}, commit {device['commit']}"),
             ("date", result["date"])]
    return table(("", ""), facts)


def parts(result):
    rows = []
    for name, part in result["parts"].items():
        tests = part.get("tests", [])
        counted = [f"{sum(test['result'] == kind for test in tests)} {kind}"
                   for kind in ("passed", "failed", "skipped")
                   if any(test["result"] == kind for test in tests)]
        what = "; ".join(filter(None, [", ".join(counted), part.get("reason", "")]))
        rows.append((name, part["title"], part["state"], f"{part.get('seconds', 0):.0f}", what))
    return table(("part", "what it does", "result", "seconds", ""), rows)


def tests(result):
    rows = [(name, test["title"], test["result"], "; ".join(test["notes"]).replace("|", "/"))
            for name, part in result["parts"].items() for test in part.get("tests", [])]
    return table(("part", "test", "result", ""), rows)


def operations(bench):
    return table(("operation", "G/s", "the clock says"),
                 [(row["label"], giga(row["rate"]), giga(row["limit"]))
                  for row in rows_of(bench, "operations of the device")])


def accuracy(bench):
    return table(("kernel", "precision", "bodies", "rms error of the force"),
                 [(row["label"], row["precision"], row["count"],
                   "not finite" if row["error"] is None else f"{row['error']:.1e}")
                  for row in rows_of(bench, "accuracy")])


def timed(part):
    def lines(bench):
        return table(("kernel", "precision", "bodies", "block", "tile", "bodies per thread",
                      "split", "ms", "G pairs/s", "of the limit"),
                     [(row["label"], row["precision"], shape(row), row["block"], row["tile"],
                       row["bodies"], row["split"], f"{1e3 * row['seconds']:.4g}",
                       giga(row["rate"]), share(row)) for row in rows_of(bench, part)])
    return lines


def blocks(bench):
    """Tile down, block across."""
    rows = rows_of(bench, "tiled: tile x block")
    across = sorted({row["block"] for row in rows})
    rate = {(row["tile"], row["block"]): giga(row["rate"]) for row in rows}
    return table(("tile \\ block", *across),
                 [(tile, *(rate.get((tile, block), "–") for block in across))
                  for tile in sorted({row["tile"] for row in rows})])


def tuning(bench):
    return table(("kernel", "precision", "bodies", "block", "tile", "bodies per thread",
                  "blocks at once"),
                 [(row["kernel"], row["precision"], row["count"], row["block"], row["tile"],
                   row["bodies"], row["at_once"])
                  for rows in bench.get("tuning", {}).values() for row in rows])


def beside_the_cpu(bench):
    rows = []
    for cpu in bench.get("cpu", []):
        gpu = find(bench, "sizes", "blocked", "single", 1, cpu["count"])
        rows.append((cpu["count"], giga(cpu["rate"]), giga(gpu["rate"]) if gpu else "–",
                     f"{gpu['rate'] / cpu['rate']:.1f}" if gpu else "–"))
    return table(("bodies", "all CPU cores, G pairs/s", "GPU, G pairs/s", "ratio"), rows)


def targets(bench):
    rows = []
    for key, target, relative in TARGETS:
        row, other = find(bench, *key), find(bench, *relative) if relative else None
        wanted = target * other["rate"] if other else None if relative else target
        _, label, precision, systems, count = key
        rows.append((label, precision, shape({"systems": systems, "count": count}),
                     f"{target:g} × {relative[1]}" if relative else giga(target),
                     giga(row["rate"]) if row else "not measured",
                     f"{100 * row['rate'] / wanted:.0f} %" if row and wanted else ""))
    return table(("kernel", "precision", "bodies", "wanted of an H200, G pairs/s", "measured", ""),
                 rows)


def middle(numbers):
    return sorted(numbers)[len(numbers) // 2] if numbers else None


def beside_others(rows):
    """Medians of the rounds; of several kernels of one program, the fastest at that size alone."""
    def rate(row):
        return max(middle(row["kernel"]) or 0, middle(row["said"]) or 0)

    def ours(row):
        return row["title"].startswith("orrery ")
    best, ours_best = {}, {}
    for row in rows:
        key = (row["title"].split()[0], row["precision"], row["count"])
        if not ours(row) and (key not in best or rate(row) > rate(best[key])):
            best[key] = row
    for row in filter(ours, rows):
        key = row["precision"], row["count"]
        ours_best[key] = max(ours_best.get(key, 0), rate(row))
    lines = []
    for row in sorted(rows, key=lambda row: (row["precision"] == "double", row["count"])):
        if ours(row) or row in best.values():
            ahead = ours_best.get((row["precision"], row["count"]), 0)
            lines.append((row["title"], row["precision"], row["count"],
                          giga(middle(row["said"])), giga(middle(row["kernel"])),
                          "–" if row["error"] is None else f"{row['error']:.1e}",
                          f"{ahead / rate(row):.2f}" if ahead and rate(row) and not ours(row)
                          else ""))
    return table(("program", "precision", "bodies", "as it says, G pairs/s",
                  "a launch of its kernel, G pairs/s", "error of the force",
                  "orrery's best over it"), lines)


SECTIONS = [("Operations of the device", operations), ("Accuracy", accuracy),
            ("Tiled, G pairs/s", blocks), ("Tuning that was found", tuning),
            ("Ladder", timed("ladder")), ("Over the number of bodies", timed("sizes")),
            ("Ensembles", timed("ensembles")), ("Steps of velocity Verlet",
                                                timed("steps of velocity Verlet")),
            ("Beside the CPU (single precision)", beside_the_cpu), ("Targets", targets)]


def percent(value):
    return "–" if value is None else f"{value:.0f} %"


def counted(rows):
    """Counters of a launch; "in the code" are the instructions that were counted there."""
    def number(row, key, form=".1f", scale=1.0):
        return "–" if row.get(key) is None else f"{row[key] * scale:{form}}"
    return table(("kernel", "precision", "bodies", "ms", "G pairs/s", "instructions of a pair",
                  "in the code", "issue slots", "SM", "fp32 unit", "fp64 unit", "occupancy",
                  "registers", "wavefronts of shared memory per 1000 pairs", "DRAM, MB", "MHz"),
                 [(row["kernel"], row["precision"], row["count"],
                   number(row, "seconds", ".4g", 1e3), giga(row["rate"]),
                   number(row, "pair_instructions"), number(row, "expected"),
                   *(percent(row.get(key)) for key in
                     ("issue", "throughput", "fp32", "fp64", "occupancy")),
                   number(row, "registers", ".0f"),
                   number(row, "shared_wavefronts", ".1f", 1e3 / row["count"]**2),
                   number(row, "dram_bytes", ".4g", 1e-6), number(row, "clock", ".0f", 1e-6))
                  for row in rows])


def clocks(result):
    """Clock, power and temperature during the parts, from nvidia-smi once a second."""
    rows = []
    for name, part in result["parts"].items():
        found = part.get("clocks", {})
        if found:
            rows.append((name, *(" / ".join(f"{value:.0f}" for value in found[key])
                                 if key in found else "–" for key in ("MHz", "W", "degrees C"))))
    return table(("part", "MHz: least, median, most", "W", "°C"), rows)


def page(result):
    lines = [f"# {result['device']['device']}", ""]
    if not result["measured"]:
        lines += ["**Not a measurement.** The kernels' source ran on a CPU "
                  "(validation/gpu/executor); the times below are of no GPU.", ""]
    lines += [*machine(result), "", "## Parts", "", *parts(result), "", "## Tests", "",
              *tests(result)]
    for title, lines_of in SECTIONS:
        lines += ["", f"## {title}", "", *lines_of(result.get("bench", {}))]
    if result.get("counters"):
        lines += ["", "## Counters (Nsight Compute)", "", *counted(result["counters"])]
    if any("clocks" in part for part in result["parts"].values()):
        lines += ["", "## Clock and power", "", *clocks(result)]
    if "peers" in result:
        lines += ["", "## Beside other programs", "", *beside_others(result["peers"])]
    skipped = sum(row["skipped"] for row in result.get("bench", {}).get("rows", []))
    if skipped:
        lines += ["", f"{skipped} rows of the bench were skipped: there was no time."]
    return "\n".join(lines) + "\n"
