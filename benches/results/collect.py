"""Gathers what `cargo bench` left in its folder into one table, in microseconds a call.

    python3 benches/results/collect.py target/criterion > raw.csv

`times_yardstick` is the median over that of the yardstick with as many workers in the same run:
`largest remainder` for splits, `equal` batches for replays, nalgebra for networks; a fleet has
none, the same workers alone are beside it.
"""

import csv
import json
import pathlib
import statistics
import sys


def row(folder):
    about = json.loads((folder / "benchmark.json").read_text())
    sample = json.loads((folder / "sample.json").read_text())
    times = sorted(time / count / 1e3 for time, count in zip(sample["times"], sample["iters"]))
    low, middle, high = statistics.quantiles(times, n=4)
    return {
        "bench": about["group_id"],
        "what": about["function_id"],
        "workers": int(about["value_str"] or 0) or "",
        "min_us": round(times[0], 3),
        "quarter_us": round(low, 3),
        "median_us": round(middle, 3),
        "three_quarters_us": round(high, 3),
        "max_us": round(times[-1], 3),
        "samples": len(times),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    found = [*folder.glob("*/*/*/new"), *folder.glob("*/*/new")]
    order = lambda row: (row["bench"], row["workers"] or 0, row["what"])
    rows = sorted((row(folder) for folder in found), key=order)
    yardsticks = {
        (row["bench"], row["workers"]): row["median_us"]
        for row in rows
        if row["what"] in ("largest remainder", "equal") or row["what"].startswith("nalgebra")
    }
    for each in rows:
        yardstick = yardsticks.get((each["bench"], each["workers"]))
        each["times_yardstick"] = round(each["median_us"] / yardstick, 2) if yardstick else ""
    table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)


if __name__ == "__main__":
    main()
