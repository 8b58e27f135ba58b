use std::collections::{BTreeMap, VecDeque};

use narx::{AnyForecaster, Forecaster};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::member::{MOST_UNREPORTED, Member};
use crate::{
    Error, IterationPlan, Limits, Plan, Policy, Report, Share, Splitter, Worker, defaults,
};

/// Sizes the batches of a running job, one plan an iteration (the paper's BatchSizeManager).
///
/// Workers [`join`](Self::join) and [`leave`](Self::leave), [`report`](Self::report) at every
/// barrier, and get their part from [`plan`](Self::plan). The global batch stays constant through
/// all of it. There is no clock and no I/O here: the same calls make the same plans.
///
/// - A plan is frozen once it is issued; joins and leaves act from the next one. The newest 8
///   ([`defaults::PLANS_KEPT`]) are kept.
/// - A worker whose report is missing is forecast without it, one step further ahead; after
///   [`missing_limit`](Self::missing_limit) such iterations it counts as unknown.
/// - A worker that is unknown, or new, is taken to be what the known ones are on average, in speed
///   and in communication time. As long as they differ in speed alone that gives it the equal
///   share X/n, within its limits. An iteration in which it sits out does not count as missing,
///   and one that was passed over was none.
/// - A snapshot is what serde makes of the balancer, JSON for one; restored it continues bit for
///   bit. A forecaster of the caller's must serialise all of its state; JSON has no NaN.
///
/// # Example
/// ```
/// use sizing::{Balancer, Limits, Policy, Report};
///
/// let mut balancer = Balancer::new(96, Policy::default())?;
/// balancer.join(0, Limits::default())?;
/// balancer.join(1, Limits::default())?;
/// assert_eq!(balancer.plan(0)?.share(0).unwrap().batch, 48);
/// balancer.report(0, Report::new(0, 48, 0.1))?;
/// balancer.report(1, Report::new(0, 48, 0.3))?;
/// let plan = balancer.plan(1)?;
/// assert_eq!((plan.shares()[0].batch, plan.shares()[1].batch), (72, 24));
/// # Ok::<(), sizing::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Balancer<F = AnyForecaster> {
    state: State<F>,
    /// Where each worker stands among the members.
    places: BTreeMap<u64, usize>,
    splitter: Splitter,
    plan: Plan,
}

/// All that a snapshot holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State<F> {
    version: Version,
    global_batch: u32,
    policy: Policy<F>,
    missing_limit: u32,
    /// In the order in which they joined.
    members: Vec<Member<F>>,
    plans: VecDeque<IterationPlan>,
}

/// Version of the snapshot's form.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Version(u32);

const VERSION: u32 = 1;

impl<F: Forecaster + Clone> Balancer<F> {
    /// A job without workers that trains `global_batch` samples an iteration.
    ///
    /// # Errors
    /// [`Error::EmptyGlobalBatch`] if `global_batch` is 0.
    pub fn new(global_batch: u32, policy: Policy<F>) -> Result<Self, Error> {
        Self::from_state(State {
            version: Version(VERSION),
            global_batch,
            policy,
            missing_limit: defaults::MISSING_LIMIT,
            members: Vec::new(),
            plans: VecDeque::new(),
        })
    }

    /// Sets after how many iterations without a report a worker counts as unknown, from 1 to 1,000;
    /// what is outside counts as the nearer of them.
    pub fn missing_limit(mut self, iterations: u32) -> Self {
        self.state.missing_limit = iterations.clamp(1, MOST_UNREPORTED);
        self
    }

    /// Samples of every iteration over all workers.
    pub fn global_batch(&self) -> u32 {
        self.state.global_batch
    }

    /// The workers of the next plan, in the order in which they joined.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.state.members.iter().map(|member| member.worker)
    }

    /// Takes a worker into the next plan that is issued.
    ///
    /// # Errors
    /// [`Error::AlreadyJoined`]; [`Error::Limits`] if no size is within its limits.
    pub fn join(&mut self, worker: u64, limits: Limits) -> Result<(), Error> {
        if self.places.contains_key(&worker) {
            return Err(Error::AlreadyJoined { worker });
        }
        Member::<F>::check_limits(worker, &limits)?;
        let member = Member::new(worker, limits, &self.state.policy);
        self.places.insert(worker, self.state.members.len());
        self.state.members.push(member);
        Ok(())
    }

    /// Leaves a worker out of the next plan that is issued; the others share its part. If it comes
    /// back it starts anew.
    ///
    /// # Errors
    /// [`Error::UnknownWorker`].
    pub fn leave(&mut self, worker: u64) -> Result<(), Error> {
        let place = self.place(worker)?;
        self.state.members.remove(place);
        self.places = places(&self.state.members);
        Ok(())
    }

    /// Takes in what a worker measured. The next plan issued makes use of it.
    ///
    /// # Errors
    /// Every error leaves the balancer as it was. [`Error::UnknownWorker`]; [`Error::Stale`] if
    /// the worker has reported that iteration or a later one; [`Error::NoPart`] if no plan has
    /// given it a batch in that iteration since it joined; [`Error::Report`] if a number is not
    /// usable.
    pub fn report(&mut self, worker: u64, report: Report) -> Result<(), Error> {
        let place = self.place(worker)?;
        self.state.members[place].accept(report, &self.state.policy)
    }

    /// The plan of an iteration: the one issued before, or a new one if the iteration comes after
    /// all that were issued.
    ///
    /// Whoever plans ahead of the reports, for a loader that fetches ahead, gets forecasts as many
    /// steps ahead as there are plans without a report. Those reports count as missing, so let
    /// [`missing_limit`](Self::missing_limit) be larger than that.
    ///
    /// # Errors
    /// [`Error::PlanNotKept`] for an iteration that is too old or was passed over. If there is no
    /// plan because the job is not feasible, the error is that of [`split`](crate::split), nothing
    /// is issued, and the same iteration can be asked for again after the cause is mended.
    pub fn plan(&mut self, iteration: u64) -> Result<&IterationPlan, Error> {
        let plans = &self.state.plans;
        let kept = plans.iter().position(|plan| plan.iteration == iteration);
        if let Some(index) = kept {
            return Ok(&self.state.plans[index]);
        }
        if let (Some(oldest), Some(newest)) = (plans.front(), plans.back())
            && iteration < newest.iteration
        {
            return Err(Error::PlanNotKept {
                iteration,
                oldest: oldest.iteration,
                newest: newest.iteration,
            });
        }
        self.issue(iteration)?;
        Ok(self.state.plans.back().expect("a plan was just issued"))
    }

    fn issue(&mut self, iteration: u64) -> Result<(), Error> {
        let speeds = self.state.speeds();
        let workers = self.state.workers(&speeds);
        let state = &mut self.state;
        self.splitter
            .split_into(state.global_batch, &workers, &mut self.plan)?;
        let mut shares = Vec::with_capacity(workers.len());
        for (i, member) in state.members.iter_mut().enumerate() {
            let batch = self.plan.sizes()[i];
            member.issue(iteration, batch);
            shares.push(Share {
                worker: member.worker,
                batch,
                predicted_s: speeds[i].map(|_| self.plan.times_s()[i]),
                limit: self.plan.limits()[i],
            });
        }
        state.plans.push_back(IterationPlan {
            iteration,
            global_batch: state.global_batch,
            shares,
        });
        if state.plans.len() > defaults::PLANS_KEPT {
            state.plans.pop_front();
        }
        Ok(())
    }

    fn place(&self, worker: u64) -> Result<usize, Error> {
        let place = self.places.get(&worker).copied();
        place.ok_or(Error::UnknownWorker { worker })
    }

    fn from_state(state: State<F>) -> Result<Self, Error> {
        state.check()?;
        Ok(Self {
            places: places(&state.members),
            state,
            splitter: Splitter::new(),
            plan: Plan::default(),
        })
    }
}

impl<F: Forecaster + Clone> State<F> {
    /// Speed of each worker in the coming iteration, where it is known.
    fn speeds(&self) -> Vec<Option<f64>> {
        let (mut horizon, mut inputs) = (Vec::new(), Vec::new());
        let mut speed = |member: &Member<F>| {
            member.speed(&self.policy, self.missing_limit, &mut horizon, &mut inputs)
        };
        self.members.iter().map(&mut speed).collect()
    }

    /// The workers of the split, the unknown ones taken to be what the known ones are on average.
    fn workers(&self, speeds: &[Option<f64>]) -> Vec<Worker<'static>> {
        let average = mean(speeds.iter().flatten()).unwrap_or(1.0);
        let communications_s: Vec<Option<f64>> =
            self.members.iter().map(Member::communication_s).collect();
        let average_s = mean(communications_s.iter().flatten()).unwrap_or(0.0);
        let worker = |(i, member): (usize, &Member<F>)| {
            let worker = Worker::proportional(speeds[i].unwrap_or(average));
            let worker = member.limits.apply(worker);
            let worker = match member.previous {
                Some(size) => worker.previous(size),
                None => worker,
            };
            // Of an unknown worker not even what it once said is taken for true.
            let communication_s = speeds[i].and(communications_s[i]).unwrap_or(average_s);
            match self.policy {
                Policy::Equal => worker,
                Policy::Predictive { .. } => worker.communication(communication_s),
            }
        };
        self.members.iter().enumerate().map(worker).collect()
    }

    fn check(&self) -> Result<(), Error> {
        if self.global_batch == 0 {
            return Err(Error::EmptyGlobalBatch);
        }
        let refuse = |what| Err(Error::Snapshot { what });
        if !(1..=MOST_UNREPORTED).contains(&self.missing_limit) {
            return refuse("`missing_limit` is not between 1 and 1000");
        }
        if places(&self.members).len() != self.members.len() {
            return refuse("a worker is there twice");
        }
        for member in &self.members {
            Member::<F>::check_limits(member.worker, &member.limits)?;
            if member.forecaster.is_some() != matches!(self.policy, Policy::Predictive { .. }) {
                return refuse("a worker's forecaster does not fit the policy");
            }
            if !member.fits(self.plans.back().map(|plan| plan.iteration)) {
                return refuse("a worker's iterations do not fit the plans");
            }
        }
        if self.plans.len() > defaults::PLANS_KEPT {
            return refuse("there are more than 8 plans");
        }
        let rises = |(a, b): (&IterationPlan, &IterationPlan)| a.iteration < b.iteration;
        if !self.plans.iter().zip(self.plans.iter().skip(1)).all(rises) {
            return refuse("the plans are not in the order of their iterations");
        }
        for plan in &self.plans {
            let sum: u64 = plan.shares.iter().map(|share| u64::from(share.batch)).sum();
            if plan.global_batch != self.global_batch || sum != u64::from(self.global_batch) {
                return refuse("the batches of a plan do not add up to the global batch");
            }
        }
        Ok(())
    }
}

fn mean<'a>(values: impl Iterator<Item = &'a f64> + Clone) -> Option<f64> {
    let count = values.clone().count();
    // Divided first: a sum of large numbers might not be finite.
    (count > 0).then(|| values.map(|value| value / count as f64).sum())
}

fn places<F>(members: &[Member<F>]) -> BTreeMap<u64, usize> {
    let place = |(place, member): (usize, &Member<F>)| (member.worker, place);
    members.iter().enumerate().map(place).collect()
}

impl<F: Serialize> Serialize for Balancer<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.state.serialize(serializer)
    }
}

impl<'de, F: Forecaster + Clone + Deserialize<'de>> Deserialize<'de> for Balancer<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let state = State::deserialize(deserializer)?;
        Self::from_state(state).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let version = u32::deserialize(deserializer)?;
        if version == VERSION {
            return Ok(Self(version));
        }
        Err(serde::de::Error::custom(format!(
            "version {version} of a balancer's snapshot is not known, only {VERSION}"
        )))
    }
}
