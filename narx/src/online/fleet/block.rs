use smallvec::SmallVec;

use super::lines::{LANES, Lines};
use super::plan::Plan;
use crate::online::gate::{Gate, Shift, Verdict};
use crate::online::history::Term;
use crate::online::learner::{Room, View};
use crate::online::single::finite;
use crate::online::track::regressor;

/// Eight workers that are worked on side by side.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Records and history, see [`Plan::lines`]; none while nobody is here.
    lines: Lines,
    /// The last value that was taken in; NaN before the first one.
    last: [f64; LANES],
    gates: [Gate; LANES],
    /// Bits of the lanes that a worker is in.
    present: u8,
    /// Bits of the lanes whose last value is held back.
    held: u8,
}

/// What a step of a block needs to work with, so that no step allocates.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    /// The inputs at the start of the step.
    pub(super) now: Vec<[f64; LANES]>,
    pub(super) raw: Vec<[f64; LANES]>,
    room: Room<LANES>,
}

impl Desk {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            now: vec![[0.0; LANES]; plan.columns - 1],
            raw: vec![[0.0; LANES]; plan.design.shape.regressors],
            room: Room::new(&plan.design.shape),
        }
    }
}

/// What a forecast of a block needs to work with.
#[derive(Debug)]
pub(super) struct Sight {
    raw: SmallVec<[[f64; LANES]; 24]>,
    view: View<LANES>,
}

impl Sight {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            raw: SmallVec::from_elem([0.0; LANES], plan.design.shape.regressors),
            view: View::new(&plan.design.shape),
        }
    }
}

impl Block {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            lines: Lines::default(),
            last: [f64::NAN; LANES],
            gates: std::array::from_fn(|_| Gate::new(plan.jumps)),
            present: 0,
            held: 0,
        }
    }

    pub(super) fn is_present(&self, lane: usize) -> bool {
        self.present & 1 << lane != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present == 0
    }

    pub(super) fn record(&self, plan: &Plan) -> &[[f64; LANES]] {
        &self.lines.get()[plan.record()..]
    }

    pub(super) fn last(&self, lane: usize) -> f64 {
        self.last[lane]
    }

    pub(super) fn gate(&self, lane: usize) -> &Gate {
        &self.gates[lane]
    }

    /// What the worker in a lane observed.
    pub(super) fn seen(&self, plan: &Plan, step: usize, term: Term, lane: usize) -> f64 {
        self.lines.get()[plan.line(step, term)][lane]
    }

    pub(super) fn see(&mut self, plan: &Plan, step: usize, term: Term, lane: usize, value: f64) {
        self.lines.get_mut()[plan.line(step, term)][lane] = value;
    }

    /// A worker that has seen nothing comes into a lane.
    pub(super) fn enter(&mut self, plan: &Plan, lane: usize, record: &[f64]) {
        if self.lines.is_empty() {
            self.lines = Lines::new(plan.lines());
        }
        let history = std::iter::repeat_n(&f64::NAN, plan.record());
        let numbers = history.chain(record);
        for (line, number) in self.lines.get_mut().iter_mut().zip(numbers) {
            line[lane] = *number;
        }
        self.resume(lane, f64::NAN, Gate::new(plan.jumps));
        self.present |= 1 << lane;
    }

    /// Where the worker in a lane stands.
    pub(super) fn resume(&mut self, lane: usize, last: f64, gate: Gate) {
        self.last[lane] = last;
        self.note_held(lane, gate.held().is_some());
        self.gates[lane] = gate;
    }

    pub(super) fn leave(&mut self, lane: usize) {
        self.present &= !(1 << lane);
        self.held &= !(1 << lane);
        self.last[lane] = f64::NAN;
        if self.is_empty() {
            self.lines = Lines::default();
        }
    }

    fn note_held(&mut self, lane: usize, held: bool) {
        self.held = self.held & !(1 << lane) | u8::from(held) << lane;
    }

    /// The regressors of the next step.
    #[inline]
    fn regressors(&self, plan: &Plan, step: usize, now: &[[f64; LANES]], raw: &mut [[f64; LANES]]) {
        let lines = self.lines.get();
        for (raw, &term) in raw.iter_mut().zip(&plan.terms) {
            *raw = match term.lag {
                0 => now[term.column - 1],
                _ => lines[plan.line(step, term)],
            };
        }
    }

    /// What the networks forecast; NaN where nothing was observed.
    #[inline]
    fn after(
        &self,
        plan: &Plan,
        last: &[f64; LANES],
        raw: &[[f64; LANES]],
        view: &mut View<LANES>,
    ) -> [f64; LANES] {
        let record = self.record(plan);
        let change = plan.design.forecast(record, raw, &[0.0; LANES], view);
        let mut next = *last;
        for (next, change) in next.iter_mut().zip(change) {
            *next = finite(*next + change);
        }
        next
    }

    /// Does what the forecasts of the next step, `step`, take that does not depend on its inputs.
    pub(super) fn prepare(&mut self, plan: &Plan, step: usize, raw: &mut [[f64; LANES]]) {
        let past = &mut raw[..plan.past];
        for (raw, &term) in past.iter_mut().zip(&plan.terms) {
            *raw = self.lines.get()[plan.line(step, term)];
        }
        let (ahead, record) =
            self.lines.get_mut()[plan.ahead()..].split_at_mut(plan.record() - plan.ahead());
        plan.design.prepare(record, past, ahead);
    }

    /// Asks for what a forecast reads, so that it comes while others are made.
    #[inline]
    pub(super) fn fetch(&self, plan: &Plan) {
        if !self.is_empty() {
            plan.read()
                .into_iter()
                .for_each(|lines| self.lines.fetch(lines));
        }
    }

    /// The forecasts of the next step.
    pub(super) fn forecast(
        &self,
        plan: &Plan,
        now: &[[f64; LANES]],
        Sight { raw, view }: &mut Sight,
    ) -> [f64; LANES] {
        if self.is_empty() {
            return [f64::NAN; LANES];
        }
        let of_now = &plan.terms[plan.past..];
        let raw = &mut raw[..of_now.len()];
        for (raw, term) in raw.iter_mut().zip(of_now) {
            *raw = now[term.column - 1];
        }
        let ahead = &self.lines.get()[plan.ahead()..plan.record()];
        let change = plan.design.resume(self.record(plan), ahead, raw, view);
        let mut next = self.last;
        for (next, change) in next.iter_mut().zip(change) {
            *next = finite(*next + change);
        }
        if self.held != 0 {
            for (next, gate) in next.iter_mut().zip(&self.gates) {
                *next = finite(gate.blend(*next));
            }
        }
        for (next, last) in next.iter_mut().zip(self.last) {
            *next = if last.is_nan() { f64::NAN } else { *next };
        }
        next
    }

    /// The forecasts of the next steps of one worker.
    pub(super) fn forecast_one(
        &self,
        plan: &Plan,
        step: usize,
        lane: usize,
        inputs_now: &[f64],
        Sight { raw, view }: &mut Sight,
        out: &mut [f64],
    ) {
        if self.last[lane].is_nan() {
            return out.fill(f64::NAN);
        }
        let mut last = self.last;
        for ahead in 0..out.len() {
            let (past, rest) = out.split_at_mut(ahead);
            for (raw, &term) in raw.iter_mut().zip(&plan.terms) {
                let before = |before| self.seen(plan, step, before, lane);
                raw[lane] = regressor(term, inputs_now, past, before);
            }
            last = self.after(plan, &last, raw, view);
            rest[0] = last[lane];
        }
        for forecast in out {
            *forecast = finite(self.gates[lane].blend(*forecast));
        }
    }

    /// Learns from the values of all workers, and takes in the step.
    pub(super) fn observe(&mut self, plan: &Plan, step: usize, y: &[f64; LANES], desk: &mut Desk) {
        if self.is_empty() {
            return;
        }
        let values = self.learn(plan, step, self.present, y, desk);
        let first = plan.line(step, Term { column: 0, lag: 0 });
        let row = &mut self.lines.get_mut()[first..][..plan.columns];
        row[0] = values;
        row[1..].copy_from_slice(&desk.now);
        self.prepare(plan, step.wrapping_add(1), &mut desk.raw);
    }

    /// The same for one worker, when `step` has not begun for the others. Its history is moved on
    /// by hand.
    pub(super) fn observe_one(
        &mut self,
        plan: &Plan,
        step: usize,
        lane: usize,
        y: f64,
        desk: &mut Desk,
    ) {
        let values = self.learn(plan, step, 1 << lane, &[y; LANES], desk);
        let newest = values[lane..=lane]
            .iter()
            .chain(desk.now.iter().map(|now| &now[lane]));
        for (column, value) in newest.enumerate() {
            for lag in (2..plan.rows).rev() {
                let moved = self.seen(
                    plan,
                    step,
                    Term {
                        column,
                        lag: lag - 1,
                    },
                    lane,
                );
                self.see(plan, step, Term { column, lag }, lane, moved);
            }
            self.see(plan, step, Term { column, lag: 1 }, lane, *value);
        }
        self.prepare(plan, step, &mut desk.raw);
    }

    /// Learns from the values of the workers in `lanes`. Returns the values taken in, or in place of
    /// them the forecasts.
    fn learn(
        &mut self,
        plan: &Plan,
        step: usize,
        lanes: u8,
        y: &[f64; LANES],
        Desk { now, raw, room }: &mut Desk,
    ) -> [f64; LANES] {
        self.regressors(plan, step, now, raw);
        let mut values = self.after(plan, &self.last, raw, &mut room.view);
        let mut target = [f64::NAN; LANES];
        let mut shifted = false;
        for lane in (0..LANES).filter(|lane| lanes & 1 << lane != 0) {
            let (taken, shift) = self.judge(plan, step, lane, y[lane], values[lane]);
            if let Some(shift) = shift {
                let record = &mut self.lines.get_mut()[plan.record()..];
                plan.design.shift_output(record, lane, shift);
                shifted = true;
            }
            if taken {
                target[lane] = y[lane] - self.last[lane];
                values[lane] = y[lane];
                self.last[lane] = y[lane];
            }
        }
        if shifted {
            self.regressors(plan, step, now, raw);
            self.after(plan, &self.last, raw, &mut room.view);
        }
        if target.iter().any(|target| target.is_finite()) {
            let record = &mut self.lines.get_mut()[plan.record()..];
            plan.design.learn(record, raw, &target, room);
        }
        values
    }

    /// Whether to take a value in, and how the level has moved.
    #[inline]
    fn judge(
        &mut self,
        plan: &Plan,
        step: usize,
        lane: usize,
        y: f64,
        forecast: f64,
    ) -> (bool, Option<Shift>) {
        if !y.is_finite() || forecast.is_nan() {
            return (y.is_finite(), None);
        }
        let verdict = self.gates[lane].judge(y, forecast);
        self.note_held(lane, verdict == Verdict::Hold);
        match verdict {
            Verdict::Take => (true, None),
            Verdict::Hold => (false, None),
            Verdict::Shift { shift, first } => {
                for lag in 0..plan.rows {
                    let term = Term { column: 0, lag };
                    let moved = shift.apply(self.seen(plan, step, term, lane));
                    self.see(plan, step, term, lane, moved);
                }
                self.see(plan, step, Term { column: 0, lag: 1 }, lane, first);
                self.last[lane] = first;
                (true, Some(shift))
            }
        }
    }
}
