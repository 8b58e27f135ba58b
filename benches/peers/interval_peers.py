"""ARIMA's 90 % intervals on recorded series: how many values they hold, and how wide they are.

    python interval_peers.py --data DIR --csv interval_peers.csv

The series are the 30 workers of three jobs of Alibaba (speed, 1000 over the time of a mini-batch)
and the CPU of 6 machines of Bitbrains. The order is that of the lowest AIC on the first 40 % or
60 %; the frozen model then filters the rest, one step ahead at a time. Beside it stands the last
value with the one width that turned out best on the scored rows, which nobody knows beforehand.
"""

import argparse
import csv
import functools
import os
import pathlib
import sys
import time
import warnings

# One thread each, as ours.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is missing: pip install --no-deps -r narx_requirements.txt")

COLUMNS = ["series", "method", "coverage", "mean_width", "interval_score"]
ARIMA_ORDERS = [(p, d, q) for p in (1, 2) for d in (0, 1) for q in (0, 1)]
ALPHA = 0.1
say = functools.partial(print, file=sys.stderr, flush=True)


def columns(path, *names):
    with open(path, newline="") as file:
        return np.array([[float(row[name] or "nan") for name in names]
                         for row in csv.DictReader(file)])


def workers(path):
    """The speed of each worker where all have one; the mean of times that stand there twice."""
    times = {}
    for iteration, worker, taken in columns(path, "time", "worker", "batch_time_norm"):
        if not np.isnan(taken):
            times.setdefault(iteration, {}).setdefault(worker, []).append(taken)
    names = sorted({worker for row in times.values() for worker in row})
    rows = [[np.mean(times[i][worker]) for worker in names]
            for i in sorted(times) if len(times[i]) == len(names)]
    return 1e3 / np.array([row for row in rows if min(row) > 0]).T


def tasks(data):
    """Name, series, rows to fit on, first row that is scored."""
    for job in (1, 3, 4):
        for place, y in enumerate(workers(data / f"pai_minibatch_job{job}.csv")):
            n = 2 + int((len(y) - 2) * 0.4)
            yield f"pai_j{job}_w{place}", y, n, n
    for path in sorted((data / "bitbrains").glob("*.csv")):
        y = columns(path, "cpu_pct")[:, 0]
        n = int(len(y) * 0.6)
        yield f"bb_{path.stem.split('_')[-1]}", y, n, n + 4


def scores(y, low, high):
    """Coverage, mean width, and the mean of equation 43 of Gneiting and Raftery (2007)."""
    missed = 2.0 / ALPHA * (np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0))
    inside = (low <= y) & (y <= high)
    return [inside.mean(), (high - low).mean(), (high - low + missed).mean()]


def arima(y, fitted_on, scored_from):
    from statsmodels.tsa.arima.model import ARIMA
    train = y[:fitted_on]
    # A fit that predicts its own data far worse than the last value does has gone astray.
    limit = 4.0 * np.mean(np.diff(train) ** 2)
    fits = [ARIMA(train, order=order).fit() for order in ARIMA_ORDERS]
    best = min((fit for fit in fits if fit.mse < limit), key=lambda fit: fit.aic)
    filtered = best.apply(y).get_prediction(start=scored_from)
    low, high = filtered.conf_int(alpha=ALPHA).T
    return scores(y[scored_from:], low, high)


def best_fixed_width(y, _, scored_from):
    """The best half width is the quantile of the errors, as the score is their pinball loss."""
    last, truth = y[scored_from - 1:-1], y[scored_from:]
    half = np.quantile(np.abs(truth - last), 1.0 - ALPHA, method="inverted_cdf")
    return scores(truth, last - half, last + half)


METHODS = {"ARIMA (statsmodels)": arima, "last value, best fixed width": best_fixed_width}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = os.environ.get("LBBSP_DATA")
    arguments.add_argument("--data", default=known, required=not known,
                           help="the folder that has the folder narx; else that of LBBSP_DATA")
    arguments.add_argument("--csv", default=os.devnull, help="a file to write the rows to")
    chosen = arguments.parse_args()
    # Of iterations that end at their limit.
    warnings.showwarning = lambda *_, **__: None
    with open(chosen.csv, "w", newline="", buffering=1) as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for series, *task in tasks(pathlib.Path(chosen.data) / "narx"):
            for name, method in METHODS.items():
                began = time.perf_counter()
                try:
                    numbers = method(*task)
                except Exception as error:
                    say(f"skipped {name} on {series}: {type(error).__name__}: {error}")
                    continue
                numbers = [float(f"{n:.5g}") for n in numbers]
                table.writerow(dict(zip(COLUMNS, [series, name, *numbers])))
                say(series, name, *numbers, f"{time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
