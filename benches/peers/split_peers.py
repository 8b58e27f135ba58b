"""The exact split against general solvers: HiGHS (mixed integers) and SLSQP, on the same instances.

    python split_peers.py TARGET/release/examples/split_instance --out peers.csv

Prints a table and writes one row a solver and instance. README.md says what the columns mean.
"""

import argparse
import csv
import json
import math
import os
import random
import subprocess
import time

# One thread each: ours has one, and NumPy's own threads slow small matrices down on busy cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp, minimize
from scipy.sparse import coo_array

SEED = 0
SHARE = 256  # samples a worker has on average
MILP_LIMIT_S = 120.0
SLSQP_LIMIT_S = 60.0

# Ours may not be above what another solver found by more than rounding.
WORSE_THAN_OTHERS = 1e-9

# Nor below what HiGHS says nobody can beat: it takes a row as kept up to 1e-6 (here: 1e-6 ms), and
# an integer as whole up to 1e-6 of a sample, of which the slowest here takes 5 ms.
HIGHS_SLACK_S = 1e-6 * (1e-3 + 5e-3)

COLUMNS = ["solver", "workers", "seconds", "ratio_to_ours", "iteration_s", "above_ours_percent",
           "status", "gap_percent"]


def instance(workers):
    """Affine workers: speeds over a factor of 25, every fourth with a limit, some ms of communication."""
    source = random.Random(SEED * 1_000_003 + workers)
    made = []
    for index in range(workers):
        speed = 1000.0 * math.exp(source.uniform(math.log(0.2), math.log(5.0)))
        worker = {"speed": speed, "min": 1, "comm_s": source.uniform(0.001, 0.010)}
        if index % 4 == 0:
            worker["max"] = source.randrange(SHARE // 2, SHARE * 2)
        made.append(worker)
    return {"global_batch": SHARE * workers, "workers": made}


class Arrays:
    """An instance as the solvers want it."""

    def __init__(self, given):
        workers = given["workers"]
        self.total = given["global_batch"]
        self.speed = np.array([worker["speed"] for worker in workers])
        self.comm_s = np.array([worker["comm_s"] for worker in workers])
        self.low = np.array([worker["min"] for worker in workers], dtype=float)
        self.high = np.array([worker.get("max", self.total) for worker in workers], dtype=float)

    def iteration_s(self, sizes):
        """The time of the slowest worker, after a look whether the sizes are a split at all."""
        assert sizes.sum() == self.total, "the sizes do not add up"
        assert (sizes >= self.low).all() and (sizes <= self.high).all(), "a size breaks its limits"
        return float((sizes / self.speed + self.comm_s).max())


def ours(binary, given):
    answer = subprocess.run(
        [binary], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    answer = json.loads(answer.stdout)
    return np.array(answer["sizes"]), answer["median_us"] * 1e-6


def by_milp(arrays, relative_gap):
    """Minimise T over (x, T) with x / v + comm <= T; T in milliseconds, so that the absolute gap at
    which HiGHS stops, 1e-6, is a nanosecond."""
    n = len(arrays.speed)
    each = np.arange(n)
    late = coo_array(
        (np.concatenate([1e3 / arrays.speed, -np.ones(n)]),
         (np.concatenate([each, each]), np.concatenate([each, np.full(n, n)]))),
        shape=(n, n + 1),
    )
    whole = np.append(np.ones(n), 0.0)[np.newaxis, :]
    start = time.perf_counter()
    found = milp(
        c=np.append(np.zeros(n), 1.0),
        integrality=np.append(np.ones(n), 0),
        bounds=Bounds(np.append(arrays.low, 0.0), np.append(arrays.high, np.inf)),
        constraints=[
            LinearConstraint(late.tocsr(), -np.inf, -1e3 * arrays.comm_s),
            LinearConstraint(whole, arrays.total, arrays.total),
        ],
        options={"time_limit": MILP_LIMIT_S, "mip_rel_gap": relative_gap},
    )
    seconds = time.perf_counter() - start
    status = {0: "optimal within its gap", 1: "time limit"}.get(found.status, found.message)
    sizes = None if found.x is None else np.round(found.x[:-1])
    bound_s = None if found.mip_dual_bound is None else found.mip_dual_bound * 1e-3
    gap = None if found.mip_gap is None else found.mip_gap * 100.0
    return sizes, seconds, status, gap, bound_s


class OutOfTime(Exception):
    pass


def by_slsqp(arrays):
    """The same without the integers, by sequential quadratic programming from equal shares; then
    rounded. Sizes in shares and T in units of the time of equal speeds, so that all are near 1."""
    n, share = len(arrays.speed), arrays.total / len(arrays.speed)
    unit_s = arrays.total / arrays.speed.sum()
    per_share = share / arrays.speed / unit_s
    comm = arrays.comm_s / unit_s
    rows = np.hstack([-np.diag(per_share), np.ones((n, 1))])
    whole = np.append(np.ones(n), 0.0)
    first = np.clip(np.ones(n), arrays.low / share, arrays.high / share)
    start = time.perf_counter()

    def look_at_the_clock(_):
        if time.perf_counter() - start > SLSQP_LIMIT_S:
            raise OutOfTime

    try:
        found = minimize(
            lambda z: z[-1],
            np.append(first, (first * per_share + comm).max()),
            jac=lambda z: np.append(np.zeros(n), 1.0),
            method="SLSQP",
            bounds=Bounds(np.append(arrays.low / share, 0.0),
                          np.append(arrays.high / share, np.inf)),
            constraints=[
                {"type": "ineq", "fun": lambda z: rows @ z - comm, "jac": lambda z: rows},
                {"type": "eq", "fun": lambda z: whole @ z - n, "jac": lambda z: whole},
            ],
            options={"maxiter": 1000, "ftol": 1e-10},
            callback=look_at_the_clock,
        )
    except OutOfTime:
        return None, time.perf_counter() - start, "time limit"
    sizes = rounded(arrays, found.x[:-1] * share)
    seconds = time.perf_counter() - start
    status = "converged" if found.success else found.message
    return sizes, seconds, f"{status} after {found.nit} iterations"


def by_speed(arrays):
    """Shares in proportion to speed within the limits, rounded: what is commonly done; knows no
    communication."""
    start = time.perf_counter()
    early, late = 0.0, arrays.total / arrays.speed.min()
    for _ in range(60):
        middle = (early + late) / 2
        shares = np.clip(arrays.speed * middle, arrays.low, arrays.high)
        early, late = (middle, late) if shares.sum() < arrays.total else (early, middle)
    sizes = rounded(arrays, shares)
    return sizes, time.perf_counter() - start, "a rule of thumb"


def rounded(arrays, shares):
    """Rounds down, and gives the samples left over to the largest remainders with room."""
    shares = np.clip(shares, arrays.low, arrays.high)
    sizes = np.floor(shares)
    left = int(arrays.total - sizes.sum())
    order = np.argsort(sizes - shares, kind="stable")
    while left > 0:
        due = [worker for worker in order if sizes[worker] < arrays.high[worker]][:left]
        sizes[due] += 1
        left -= len(due)
    while left < 0:
        due = [worker for worker in order[::-1] if sizes[worker] > arrays.low[worker]][:-left]
        sizes[due] -= 1
        left += len(due)
    return sizes


def compare(binary, workers):
    """The rows of one instance."""
    given = instance(workers)
    arrays = Arrays(given)
    our_sizes, our_seconds = ours(binary, given)
    best_s = arrays.iteration_s(our_sizes)
    rows = []

    def note(solver, sizes, seconds, status, gap=None):
        iteration_s = None if sizes is None else arrays.iteration_s(sizes)
        above = None if sizes is None else iteration_s / best_s - 1.0
        if above is not None and -above > WORSE_THAN_OTHERS:
            raise SystemExit(f"{workers} workers: {solver} finishes in {iteration_s!r} s, "
                             f"before ours in {best_s!r} s: ours is not optimal")
        row = [solver, workers, seconds, seconds / our_seconds, iteration_s,
               None if above is None else above * 100.0, status, gap]
        rows.append(dict(zip(COLUMNS, row)))
        print_row(rows[-1])

    note("ours", our_sizes, our_seconds, "exact")
    for solver, relative_gap in [("milp to the optimum", 0.0), ("milp to 0.01 %", 1e-4)]:
        sizes, seconds, status, gap, bound_s = by_milp(arrays, relative_gap)
        note(solver, sizes, seconds, status, gap)
        if bound_s is not None and best_s < bound_s - HIGHS_SLACK_S:
            raise SystemExit(f"{workers} workers: ours, {best_s!r} s, is below what HiGHS says is "
                             f"the least, {bound_s!r} s: one of the two is wrong")
    note("slsqp, rounded", *by_slsqp(arrays))
    note("by speed, rounded", *by_speed(arrays))
    return rows


def shown(value, form):
    return "-" if value is None else format(value, form)


def print_row(row):
    print(f"{row['workers']:>7} {row['solver']:<20} {row['seconds']:>12.3g} s "
          f"{row['ratio_to_ours']:>12,.0f}x {shown(row['iteration_s'], '.9f'):>12} s "
          f"{shown(row['above_ours_percent'], '.5f'):>9} % above  "
          f"{row['status']}, gap {shown(row['gap_percent'], '.2g')} %", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("binary", help="the built example split_instance")
    arguments.add_argument("--workers", type=int, nargs="+", default=[16, 64, 128, 256, 512])
    arguments.add_argument("--out", default="peers.csv")
    chosen = arguments.parse_args()
    with open(chosen.out, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for workers in chosen.workers:
            table.writerows(compare(chosen.binary, workers))
            file.flush()


if __name__ == "__main__":
    main()
