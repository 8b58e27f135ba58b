"""Forecasters of Python on the series of the NARX benchmarks: error, time to fit, time to predict.

    python narx_peers.py --data DIR --csv narx_peers.csv

Prints one JSON object a task and method. README.md says what the columns mean.
"""

import argparse
import csv
import functools
import itertools
import json
import math
import os
import pathlib
import statistics
import sys
import time
import timeit
import warnings

# One thread each, as ours.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is missing: pip install --no-deps -r narx_requirements.txt")

COLUMNS = ["task", "method", "one_step_rmse", "free_run_rmse", "fit_cpu_s", "fit_wall_s",
           "predict_us", "note"]
ARIMA_ORDERS = [(p, d, q) for p in (1, 2) for d in (0, 1) for q in (0, 1)]
say = functools.partial(print, file=sys.stderr, flush=True)


class Task:
    """y[t] is to be predicted from y[t-1..t-ny] and u[t-1..t-nu] of every input. The first `given`
    outputs of the test part may be used, and do not count."""

    def __init__(self, train, test, ny, nu, given, free_run=False):
        (self.u, self.y), (self.test_u, self.test_y) = train, test
        self.ny, self.nu, self.given, self.free_run = ny, nu, given, free_run
        self.x, self.target = self.rows(self.u, self.y), self.y[max(ny, nu):]

    def rows(self, u, y):
        """The regressors: the output's lags, newest first, then those of each input."""
        first, end = max(self.ny, self.nu), len(y)
        columns = [y[first - lag:end - lag] for lag in range(1, self.ny + 1)]
        for each in u.T:
            columns += [each[first - lag:end - lag] for lag in range(1, self.nu + 1)]
        return np.column_stack(columns)

    def scaled(self):
        """The same with a training part of mean 0 and spread 1, and the spread of the output."""
        def scale(values, fitted):
            spread = fitted.std(axis=0)
            return (values - fitted.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        train, test = [(scale(u, self.u), scale(y, self.y))
                       for u, y in [(self.u, self.y), (self.test_u, self.test_y)]]
        return Task(train, test, self.ny, self.nu, self.given, self.free_run), self.y.std()

    def error(self, predicted):
        """The RMSE of predictions of the end of the test part; infinite if they diverged."""
        scored = self.test_y[self.given:]
        error = float(np.sqrt(np.mean((predicted[-len(scored):] - scored) ** 2)))
        return error if math.isfinite(error) else math.inf

    def measure(self, predict):
        """One step, free run and latency of predict(rows)."""
        one_step = self.error(predict(self.rows(self.test_u, self.test_y)))
        free, y = None, self.test_y.copy()
        if self.free_run:
            for t in range(self.given, len(y)):
                row = [y[t - self.ny:t][::-1]] + [u[t - self.nu:t][::-1] for u in self.test_u.T]
                y[t] = predict(np.concatenate(row)[np.newaxis])[0]
            free = self.error(y)
        return one_step, free, latency_us(functools.partial(predict, self.x[7:8]))


def columns(path, *names):
    with open(path, newline="") as file:
        return np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])


def known_before(u):
    """Shifts inputs that are known before the output of their own step, so that they are u[t-1]."""
    return np.vstack([u[1:], u[-1:]])


def first_60_percent(u, y, **lags):
    n = int(len(y) * 0.6)
    return Task((u[:n], y[:n]), (u[n:], y[n:]), given=4, **lags)


def tanks(data):
    table = columns(data / "cascaded_tanks.csv", "uEst", "yEst", "uVal", "yVal")
    return Task((table[:, :1], table[:, 1]), (table[:, 2:3], table[:, 3]),
                ny=4, nu=4, given=5, free_run=True)


def gas(data):
    u, y = columns(data / "gas_furnace.csv", "InputGasRate", "CO2").T
    return Task((u[:200, np.newaxis], y[:200]), (u[200:, np.newaxis], y[200:]),
                ny=3, nu=6, given=6, free_run=True)


def silverbox(data):
    table = columns(data / "silverbox_SNLS80mV.csv", "V1", "V2")[40_650:127_400]  # the multisine
    n = int(len(table) * 0.75)
    train, test = [(known_before(part[:, :1]), part[:, 1]) for part in (table[:n], table[n:])]
    return Task(train, test, ny=4, nu=5, given=50, free_run=True)


def bitbrains97(data):
    cpu, memory, memory_cap, disk, network = columns(
        data / "bitbrains" / "rnd_2013-7_vm97.csv",
        "cpu_pct", "mem_kb", "mem_cap_kb", "disk_w_kbs", "net_rx_kbs").T
    u = np.column_stack([100.0 * memory / memory_cap, np.log1p(disk), np.log1p(network)])
    return first_60_percent(u, cpu, ny=3, nu=2)


def worker2(data):
    table = columns(data / "worker_trace2.csv",
                    "speed_samples_per_s", "runnable", "cpu_before_pct", "mem_used_pct")
    return first_60_percent(known_before(table[:, 1:]), table[:, 0] / 1e3, ny=2, nu=2)


def pai4w6(data):
    """The speed of one worker, from the others' median and minimum, where every worker has one."""
    table, times = columns(data / "pai_minibatch_job4.csv", "time", "worker", "batch_time_norm"), {}
    for iteration, worker, taken in table:
        times.setdefault(iteration, {})[worker] = taken
    workers = np.unique(table[:, 1])
    speeds = np.array([[1e3 / times[i][worker] for worker in workers] for i in sorted(times)
                       if len(times[i]) == len(workers) and min(times[i].values()) > 0])
    others = np.delete(speeds, 6, axis=1)
    u = np.column_stack([np.median(others, axis=1), others.min(axis=1)])
    return first_60_percent(u, speeds[:, 6], ny=2, nu=2)


def semi0(data):
    table = columns(data / "semi_worker_speed.csv", "worker", "speed", "cpu_pct", "mem_pct")
    table = table[table[:, 0] == 0]
    return first_60_percent(known_before(table[:, 2:]), table[:, 1], ny=2, nu=3)


TASKS = {f.__name__: f for f in [tanks, gas, silverbox, bitbrains97, worker2, pai4w6, semi0]}


def timed(fit):
    """What fit() returns, and its processor and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    return fit(), time.process_time() - cpu, time.perf_counter() - wall


def five_fits(measure, fit, unit=1.0):
    """Medians over five seeds: errors, in `unit`, of measure(fit(seed)), and the times."""
    rows = []
    for seed in range(5):
        model, *seconds = timed(lambda: fit(seed))
        one_step, free, us = measure(model)
        rows.append([one_step * unit, None if free is None else free * unit, *seconds, us])
    low, high = min(rows)[0], max(rows)[0]
    numbers = [None if None in column else statistics.median(column) for column in zip(*rows)]
    return [*numbers, "" if low == high else f"5 seeds: one step {low:.4g} to {high:.4g}"]


def latency_us(predict):
    """The median time of a call, of 50 groups of calls that take a millisecond or one call."""
    timer = timeit.Timer(predict)
    timer.timeit(2)
    calls = 1 + int(1e-3 / timer.timeit(1))
    return 1e6 * statistics.median(timer.repeat(50, calls)) / calls


# The methods: each returns the columns from one_step_rmse on.

def least_squares(task, n):
    """The first n regressors and a constant."""
    def fit(_):
        rows = np.column_stack([task.x[:, :n], np.ones(len(task.x))])
        *weights, constant = np.linalg.lstsq(rows, task.target, rcond=None)[0]
        weights = np.array(weights)
        return lambda x: x[:, :n] @ weights + constant
    return five_fits(task.measure, fit)


def arima(task):
    from statsmodels.tsa.arima.model import ARIMA
    def measure(fitted):
        one_step, free = task.error(fitted.apply(task.test_y).predict()), None
        if task.free_run:
            start = fitted.apply(task.test_y[:task.given])
            free = task.error(start.forecast(len(task.test_y) - task.given))
        history, new = fitted.apply(task.y[-200:]), task.test_y[:1]
        return one_step, free, latency_us(lambda: history.extend(new).forecast(1))
    # A fit that predicts its own data far worse than the last value does has gone astray.
    limit = 4.0 * np.mean(np.diff(task.y) ** 2)
    runs = [timed(lambda: ARIMA(task.y, order=order).fit()) for order in ARIMA_ORDERS]
    fitted, *seconds = min((r for r in runs if r[0].mse < limit), key=lambda r: r[0].aic)
    *errors, us = measure(fitted)
    ended = "" if fitted.mle_retvals["converged"] else ", not converged"
    return [*errors, *seconds, us, "order " + " ".join(map(str, fitted.model.order)) + ended]


def mlp(task):
    from sklearn.neural_network import MLPRegressor
    scaled, unit = task.scaled()

    def fit(seed):
        net = MLPRegressor(hidden_layer_sizes=(10,), activation="tanh", solver="lbfgs",
                           max_iter=500, random_state=seed)
        return net.fit(scaled.x, scaled.target).predict
    return five_fits(scaled.measure, fit, unit)


def by_sysidentpy(task, model_of, unit=1.0):
    u, y, lag, given = task.test_u, task.test_y[:, np.newaxis], max(task.ny, task.nu), task.given
    lags = list(range(1, task.nu + 1))

    def fit(seed):
        model = model_of(seed, ylag=task.ny, xlag=task.nu)
        # A list for each input, which the constructor of NARXNN refuses.
        model.xlag = lags if task.u.shape[1] == 1 else [lags] * task.u.shape[1]
        return model.fit(X=task.u, y=task.y[:, np.newaxis])
    def measure(model):
        one_step, free = task.error(model.predict(X=u, y=y, steps_ahead=1)[:, 0]), None
        if task.free_run:
            free = task.error(model.predict(X=u[given - lag:], y=y[given - lag:given])[:, 0])
        return one_step, free, latency_us(functools.partial(
            model.predict, X=u[:lag + 1], y=y[:lag + 1], steps_ahead=1))
    return five_fits(measure, fit, unit)


def frols(task):
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import FROLS
    from sysidentpy.parameter_estimation import LeastSquares
    # To choose by the criterion takes 20 s or more on the rows of silverbox, for the same errors.
    few = {"order_selection": False, "n_terms": 15}
    terms = few if len(task.y) > 20_000 else {"order_selection": True, "n_info_values": 25}
    return by_sysidentpy(task, lambda _, **lags: FROLS(
        **lags, **terms, estimator=LeastSquares(), basis_function=Polynomial(degree=2)))


def narxnn(task):
    import torch
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.neural_network import NARXNN
    torch.set_num_threads(1)
    scaled, unit = task.scaled()
    return by_sysidentpy(scaled, lambda seed, **lags: NARXNN(
        **lags, random_state=seed, basis_function=Polynomial(degree=1), net=torch.nn.Sequential(
            torch.nn.Linear(task.x.shape[1], 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))), unit)


METHODS = {
    "last value": lambda task: five_fits(task.measure, lambda _: lambda x: x[:, 0]),
    "AR": lambda task: least_squares(task, task.ny),
    "ARX": lambda task: least_squares(task, task.x.shape[1]),
    "ARIMA (statsmodels)": arima,
    "MLPRegressor NARX (scikit-learn)": mlp,
    "FROLS degree 2 (SysIdentPy)": frols,
    "NARXNN (SysIdentPy)": narxnn,
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = os.environ.get("LBBSP_DATA")
    arguments.add_argument("--data", default=known, required=not known,
                           help="the folder that has the folder narx; else that of LBBSP_DATA")
    arguments.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    arguments.add_argument("--all", action="store_true", help="NARXNN too, which needs torch")
    arguments.add_argument("--csv", default=os.devnull, help="a file to write the rows to as well")
    chosen = arguments.parse_args()
    # Of iterations that end at their limit, and of overflows; statsmodels would undo a filter.
    warnings.showwarning = lambda *_, **__: None
    if not chosen.all:
        METHODS.pop("NARXNN (SysIdentPy)")
        say("skipped NARXNN (SysIdentPy): it needs torch, and is measured with --all only")
    with open(chosen.csv, "w", newline="", buffering=1) as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for task_name, (name, method) in itertools.product(chosen.tasks, METHODS.items()):
            try:
                *numbers, note = method(TASKS[task_name](pathlib.Path(chosen.data) / "narx"))
            except Exception as error:
                say(f"skipped {name} on {task_name}: {type(error).__name__}: {error}")
                continue
            note += "; diverged" if math.inf in numbers else ""
            numbers = [None if n in (None, math.inf) else float(f"{n:.5g}") for n in numbers]
            row = dict(zip(COLUMNS, [task_name, name, *numbers, note]))
            table.writerow(row)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
