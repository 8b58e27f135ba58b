use std::collections::BTreeMap;

use crate::curve::LONGEST_S;
use crate::{Curve, Error};

/// A recorded worker: its speed as a function of time, and the driving series recorded with it.
///
/// The speed of a row holds until the next row begins; the last row lasts as long as the rows do
/// in the median. A replay starts every worker with its first row, whatever time that row names;
/// [`on_clock`](Self::on_clock) keeps workers in step that were recorded together.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Time of the first row, as recorded, in seconds.
    origin_s: f64,
    /// Where each row starts, and the end of the last one, in seconds.
    bounds_s: Vec<f64>,
    speeds: Vec<f64>,
    /// Samples done before each row, and in all.
    done: Vec<f64>,
    series: Vec<Series>,
    at_end: AtEnd,
}

/// What a trace does when its last row is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtEnd {
    /// It begins again.
    #[default]
    Wrap,
    /// The replay ends.
    Stop,
    /// The last speed holds for ever.
    Hold,
}

#[derive(Debug, Clone, PartialEq)]
struct Series {
    name: String,
    values: Vec<f64>,
    known_before: bool,
}

impl Trace {
    /// A trace of rows that start at `starts_s` (seconds) with `speeds` (samples per second).
    ///
    /// # Errors
    /// [`Error::NoRows`]; [`Error::Length`] if the slices differ in length; [`Error::Trace`] with
    /// the row where a start is not above the one before or a speed is negative or no number, or
    /// if all speeds are 0.
    pub fn new(starts_s: &[f64], speeds: &[f64]) -> Result<Self, Error> {
        if starts_s.is_empty() {
            return Err(Error::NoRows);
        }
        check_length("speed", starts_s.len(), speeds.len())?;
        let refuse = |column: &str, row, expected, got| {
            let column = column.to_owned();
            Err(Error::Trace {
                column,
                row,
                expected,
                got,
            })
        };
        for (row, &start_s) in starts_s.iter().enumerate() {
            if !start_s.is_finite() || start_s.abs() > LONGEST_S {
                return refuse("t", row, "finite", start_s);
            }
            if row > 0 && start_s <= starts_s[row - 1] {
                return refuse("t", row, "above the one before", start_s);
            }
            let speed = speeds[row];
            if !(0.0..=FASTEST).contains(&speed) {
                return refuse("speed", row, "between 0 and 1e100", speed);
            }
        }
        if speeds.iter().all(|&speed| speed == 0.0) {
            return refuse("speed", 0, "above 0 in at least one row", 0.0);
        }
        let mut bounds_s: Vec<f64> = starts_s.iter().map(|start| start - starts_s[0]).collect();
        bounds_s.push(bounds_s[bounds_s.len() - 1] + usual_length(starts_s));
        Ok(Self {
            origin_s: starts_s[0],
            done: done(&bounds_s, speeds),
            bounds_s,
            speeds: speeds.to_vec(),
            series: Vec::new(),
            at_end: AtEnd::default(),
        })
    }

    /// Adds a driving series, one value a row, NaN where there is none. `known_before` says that
    /// a row's value is known when the row begins; otherwise it is known when the row is over.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one value a row.
    pub fn with_series(
        mut self,
        name: &str,
        values: Vec<f64>,
        known_before: bool,
    ) -> Result<Self, Error> {
        check_length(name, self.speeds.len(), values.len())?;
        self.series.push(Series {
            name: name.to_owned(),
            values,
            known_before,
        });
        Ok(self)
    }

    /// Stretches the recording from `start_s` to `end_s`, times as its rows name them: the first
    /// row begins that early and the last one ends that late. Workers recorded on one clock stay
    /// in step, round after round, if all of them are given the same two times.
    ///
    /// # Errors
    /// [`Error::Trace`] if `start_s` is after the first row's start, or `end_s` not after the last
    /// row's.
    pub fn on_clock(mut self, start_s: f64, end_s: f64) -> Result<Self, Error> {
        let last = self.speeds.len() - 1;
        let refuse = |row, expected, got| {
            let column = "t".to_owned();
            Err(Error::Trace {
                column,
                row,
                expected,
                got,
            })
        };
        if !(-LONGEST_S..=self.origin_s).contains(&start_s) {
            return refuse(0, "at or before the first row's", start_s);
        }
        let shift_s = self.origin_s - start_s;
        for bound_s in &mut self.bounds_s[1..=last] {
            *bound_s += shift_s;
        }
        let length_s = end_s - start_s;
        if !(length_s > self.bounds_s[last] && end_s <= LONGEST_S) {
            return refuse(last, "after the last row's start", end_s);
        }
        self.origin_s = start_s;
        self.bounds_s[last + 1] = length_s;
        self.done = done(&self.bounds_s, &self.speeds);
        Ok(self)
    }

    /// Time of the first row, as recorded, in seconds.
    pub fn start_s(&self) -> f64 {
        self.origin_s
    }

    /// Says what happens after the last row.
    pub fn at_end(mut self, at_end: AtEnd) -> Self {
        self.at_end = at_end;
        self
    }

    /// Length of the recording in seconds, the last row included.
    pub fn length_s(&self) -> f64 {
        self.bounds_s[self.speeds.len()]
    }

    /// Speed at a time since the start, in samples per second.
    pub(crate) fn speed_at(&self, seconds: f64) -> f64 {
        self.speeds[self.row_at(self.local(seconds))]
    }

    /// Driving series as they can be known at a time: of the row in progress only what is known
    /// before, of the others the value of the row before it. Missing values are left out.
    pub(crate) fn driving_at(&self, seconds: f64) -> BTreeMap<String, f64> {
        let row = self.row_at(self.local(seconds));
        let first_round = seconds < self.length_s();
        let known = |series: &Series| {
            let value = if series.known_before {
                series.values[row]
            } else if row > 0 {
                series.values[row - 1]
            } else if first_round {
                f64::NAN
            } else {
                series.values[self.speeds.len() - 1]
            };
            value.is_finite().then(|| (series.name.clone(), value))
        };
        self.series.iter().filter_map(known).collect()
    }

    /// The worker from a time on.
    pub(crate) fn from(&self, start_s: f64) -> Ahead<'_> {
        let start_s = self.local(start_s);
        let row = self.row_at(start_s);
        Ahead {
            trace: self,
            start_s,
            row,
            done: self.done[row] + (start_s - self.bounds_s[row]) * self.speeds[row],
        }
    }

    /// Whether a time is past the end of a trace that does not go on.
    pub(crate) fn is_over(&self, seconds: f64) -> bool {
        // The times of many iterations were added up; rounding must not cost the last one.
        const ROUNDING: f64 = 1e-12;
        self.at_end == AtEnd::Stop && seconds > self.length_s() * (1.0 + ROUNDING)
    }

    /// A time since the start as a time within the rows, or past them if the last one goes on.
    fn local(&self, seconds: f64) -> f64 {
        let length_s = self.length_s();
        if self.at_end != AtEnd::Wrap || seconds < length_s {
            return seconds;
        }
        let rest = seconds - (seconds / length_s).floor() * length_s;
        rest.clamp(0.0, length_s)
    }

    fn row_at(&self, local_s: f64) -> usize {
        self.row_from(0, local_s)
    }

    /// The row of a time, if that is `first` or a later one.
    fn row_from(&self, first: usize, local_s: f64) -> usize {
        let last = self.speeds.len() - 1;
        count_from(&self.bounds_s[1..=last], first, |start_s| {
            start_s <= local_s
        })
    }

    /// Earliest time within the rows at which `done` samples are done, if that is in row `first`
    /// or a later one.
    fn reach(&self, first: usize, done: f64) -> f64 {
        let last = self.speeds.len() - 1;
        let row = count_from(&self.done[1..=last], first, |d| d < done);
        let more = done - self.done[row];
        if more <= 0.0 {
            return self.bounds_s[row];
        }
        let reached = self.bounds_s[row] + more / self.speeds[row];
        if row == last && self.at_end != AtEnd::Wrap {
            return reached;
        }
        reached.min(self.bounds_s[row + 1])
    }
}

/// How many sorted values, of which `first` are known to, hold a condition. It looks near `first`:
/// a step of training spans few rows.
fn count_from(values: &[f64], first: usize, holds: impl Fn(f64) -> bool) -> usize {
    let (mut from, mut step) = (first, 1);
    while from + step <= values.len() && holds(values[from + step - 1]) {
        from += step;
        step *= 2;
    }
    let to = (from + step).min(values.len());
    from + values[from..to].partition_point(|&value| holds(value))
}

/// What stands for a time that never comes: the longest one, in seconds.
pub(crate) const NEVER_S: f64 = LONGEST_S;

/// Samples done before each row, and in all.
fn done(bounds_s: &[f64], speeds: &[f64]) -> Vec<f64> {
    let mut done = vec![0.0];
    for (row, speed) in speeds.iter().enumerate() {
        done.push(done[row] + speed * (bounds_s[row + 1] - bounds_s[row]));
    }
    done
}

/// So that samples and seconds of any trace multiply to a finite number.
const FASTEST: f64 = 1e100;

fn check_length(what: &str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got {
        return Ok(());
    }
    let what = format!("column `{what}`");
    Err(Error::Length {
        what,
        expected,
        got,
    })
}

/// Median length of the rows; any length will do for a trace of one.
fn usual_length(starts_s: &[f64]) -> f64 {
    let mut lengths: Vec<f64> = starts_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(1.0)
}

/// What a worker will do from a moment on. It knows the future: only a clairvoyant strategy and
/// the replay itself may hold one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead<'a> {
    trace: &'a Trace,
    start_s: f64,
    /// The row it starts in.
    row: usize,
    /// Samples done in this round before the start.
    done: f64,
}

impl Curve for Ahead<'_> {
    /// When `batch` samples are done; [`NEVER_S`] or more if never. It never decreases in the
    /// batch: every step is clamped so that rounding cannot reorder two times.
    fn seconds(&self, batch: u32) -> f64 {
        let trace = self.trace;
        // Within the row no time of day comes in, in which a very short time would be lost.
        let in_row_s = f64::from(batch) / trace.speeds[self.row];
        let left_s = trace.bounds_s[self.row + 1] - self.start_s;
        let goes_on = self.row + 1 == trace.speeds.len() && trace.at_end != AtEnd::Wrap;
        if in_row_s <= left_s || goes_on {
            return in_row_s.min(NEVER_S);
        }
        self.seconds_beyond_row(batch).max(left_s)
    }

    fn batch_within(&self, seconds: f64) -> Option<f64> {
        let trace = self.trace;
        let until_s = self.start_s + seconds.max(0.0);
        let local_s = trace.local(until_s);
        let rounds = if trace.at_end == AtEnd::Wrap {
            (until_s / trace.length_s()).floor()
        } else {
            0.0
        };
        let first = if rounds > 0.0 { 0 } else { self.row };
        let row = trace.row_from(first, local_s);
        let done = trace.done[row] + (local_s - trace.bounds_s[row]) * trace.speeds[row];
        Some(rounds * trace.done[trace.speeds.len()] + done - self.done)
    }
}

impl Ahead<'_> {
    /// As [`seconds`](Curve::seconds), for a batch that the row it starts in does not finish.
    fn seconds_beyond_row(&self, batch: u32) -> f64 {
        let trace = self.trace;
        let target = self.done + f64::from(batch);
        if trace.at_end != AtEnd::Wrap {
            return (trace.reach(self.row, target) - self.start_s).clamp(0.0, NEVER_S);
        }
        let (round_s, round) = (trace.length_s(), trace.done[trace.speeds.len()]);
        // Work that ends with a round ends before its idle rows, if there are some.
        let rounds = ((target / round).ceil() - 1.0).max(0.0);
        let rest = (target - rounds * round).clamp(0.0, round);
        let first = if rounds > 0.0 { 0 } else { self.row };
        let reached = (rounds * round_s + trace.reach(first, rest)).min((rounds + 1.0) * round_s);
        (reached - self.start_s).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    const ROUNDING: f64 = 1e-12;

    /// 10, 0 and 40 samples/s for 1, 1 and 1 s (the median).
    fn stop_and_go(at_end: AtEnd) -> Trace {
        let trace = Trace::new(&[5.0, 6.0, 7.0], &[10.0, 0.0, 40.0]).unwrap();
        trace.at_end(at_end)
    }

    #[test]
    fn a_batch_takes_until_the_integral_of_speed_reaches_it() {
        let trace = stop_and_go(AtEnd::Wrap);
        assert_eq!(trace.length_s(), 3.0);
        for (start, batch, seconds) in [
            (0.0, 5, 0.5),
            (0.0, 10, 1.0),
            (0.0, 11, 2.025),
            (0.5, 6, 1.525),
            (1.25, 4, 0.85),
            (2.5, 25, 1.0),
            (0.0, 50, 3.0),
            (0.0, 105, 6.5),
            (6.5, 5, 0.5),
        ] {
            let got = trace.from(start).seconds(batch);
            assert_relative_eq!(got, seconds, max_relative = ROUNDING);
        }
    }

    #[test]
    fn work_that_fills_a_round_is_done_before_its_idle_rows() {
        let trace = Trace::new(&[0.0, 1.0], &[10.0, 0.0]).unwrap();
        let seconds = [9, 10, 11, 20].map(|batch| trace.from(0.0).seconds(batch));
        assert_eq!(seconds, [0.9, 1.0, 2.1, 3.0]);
    }

    #[test]
    fn after_the_last_row_its_speed_may_hold() {
        let trace = stop_and_go(AtEnd::Hold);
        assert_relative_eq!(trace.from(0.0).seconds(90), 4.0, max_relative = ROUNDING);
        assert_relative_eq!(trace.from(9.0).seconds(80), 2.0, max_relative = ROUNDING);
        assert_eq!(trace.speed_at(100.0), 40.0);
        let stopped = Trace::new(&[0.0, 1.0], &[3.0, 0.0]).unwrap();
        let stopped = stopped.at_end(AtEnd::Hold);
        assert_eq!(stopped.from(0.0).seconds(4), NEVER_S);
    }

    #[test]
    fn only_what_can_be_known_is_shown() {
        let trace = stop_and_go(AtEnd::Wrap)
            .with_series("queue", vec![1.0, 2.0, 3.0], true)
            .unwrap()
            .with_series("cpu", vec![0.1, 0.2, f64::NAN], false)
            .unwrap();
        let at = |seconds| trace.driving_at(seconds).into_iter().collect::<Vec<_>>();
        let queue = |value| ("queue".to_owned(), value);
        let cpu = |value| ("cpu".to_owned(), value);
        assert_eq!(at(0.0), [queue(1.0)]);
        assert_eq!(at(0.999), [queue(1.0)]);
        assert_eq!(at(1.0), [cpu(0.1), queue(2.0)]);
        assert_eq!(at(2.5), [cpu(0.2), queue(3.0)]);
        assert_eq!(at(3.1), [queue(1.0)], "the last row's value is missing");
    }

    #[test]
    fn workers_on_one_clock_stay_in_step() {
        let early = Trace::new(&[5.0, 6.0, 7.0], &[10.0, 0.0, 40.0]).unwrap();
        let late = Trace::new(&[6.0, 7.0], &[0.0, 40.0]).unwrap();
        let both = [early, late].map(|trace| trace.on_clock(4.0, 9.0).unwrap());
        for trace in &both {
            assert_eq!((trace.start_s(), trace.length_s()), (4.0, 5.0));
            for (second, speed) in [(2.5, 0.0), (3.5, 40.0), (7.5, 0.0), (8.5, 40.0)] {
                assert_eq!(trace.speed_at(second), speed);
            }
        }
        assert_eq!([both[0].speed_at(0.0), both[1].speed_at(0.0)], [10.0, 0.0]);
        let row = |start_s, end_s| match both[0].clone().on_clock(start_s, end_s) {
            Err(Error::Trace { row, .. }) => row,
            other => panic!("{other:?}"),
        };
        assert_eq!(row(4.5, 9.0), 0);
        assert_eq!(row(f64::NAN, 9.0), 0);
        assert_eq!(row(4.0, 7.0), 2);
        assert_eq!(row(4.0, f64::INFINITY), 2);
    }

    #[test]
    fn bad_rows_are_refused_by_number() {
        assert_eq!(Trace::new(&[], &[]), Err(Error::NoRows));
        assert!(matches!(Trace::new(&[0.0], &[]), Err(Error::Length { .. })));
        let row = |starts: &[f64], speeds: &[f64]| match Trace::new(starts, speeds) {
            Err(Error::Trace { row, column, .. }) => (row, column),
            other => panic!("{other:?}"),
        };
        assert_eq!(row(&[0.0, 1.0, 1.0], &[1.0; 3]), (2, "t".to_owned()));
        assert_eq!(row(&[0.0, f64::NAN], &[1.0; 2]), (1, "t".to_owned()));
        assert_eq!(row(&[0.0, 1.0], &[1.0, -1.0]), (1, "speed".to_owned()));
        assert_eq!(row(&[0.0, 1.0], &[f64::NAN, 1.0]), (0, "speed".to_owned()));
        assert_eq!(row(&[0.0, 1.0], &[0.0, 0.0]), (0, "speed".to_owned()));
        let trace = Trace::new(&[0.0], &[1.0]).unwrap();
        assert!(matches!(
            trace.with_series("x", vec![], true),
            Err(Error::Length { .. })
        ));
    }

    #[test]
    fn the_future_of_a_recorded_worker_is_a_curve_and_its_inverse() {
        let csv = fixtures::WORKER_TRACES[0].csv;
        let (starts, speeds) = (fixtures::column(csv, "t"), fixtures::column(csv, "speed"));
        let trace = Trace::new(&starts, &speeds).unwrap();
        let mut start_s = 0.0;
        while start_s < 3.0 * trace.length_s() {
            let ahead = trace.from(start_s);
            let mut before = 0.0;
            for batch in (1..3_000_000).step_by(7001) {
                let seconds = ahead.seconds(batch);
                assert!(seconds >= before);
                let inverse = ahead.batch_within(seconds).unwrap();
                assert_relative_eq!(inverse, f64::from(batch), max_relative = 1e-9);
                before = seconds;
            }
            start_s += 1.7;
        }
    }
}
