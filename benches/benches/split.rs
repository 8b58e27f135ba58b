//! How long does an exact split take, against the rule it equals and against plain rounding?

use std::hint::black_box;
use std::time::Duration;

use benches::{Instance, LargestRemainder, greedy};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use sizing::defaults::SEED;
use sizing::{Plan, Splitter, Worker};

const WORKERS: [u32; 3] = [96, 1_024, 100_000];

/// Above this many workers the rule to the letter takes seconds.
const GREEDY_UP_TO: u32 = 1_024;

fn split(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("split");
    group
        .sample_size(40)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    for workers in WORKERS {
        let instance = Instance::new(workers, SEED);
        let curves = [
            ("proportional", instance.proportional()),
            ("20 points", instance.measured()),
            ("20 points, floor binds", instance.held_up_by_a_floor()),
        ];
        for (curve, workers) in curves {
            exact(&mut group, curve, &instance, &workers);
        }
        group.bench_function(BenchmarkId::new("largest remainder", workers), |bencher| {
            let mut rounding = LargestRemainder::default();
            bencher.iter(|| rounding.split(black_box(&instance)).len());
        });
        if workers <= GREEDY_UP_TO {
            group.bench_function(BenchmarkId::new("greedy", workers), |bencher| {
                bencher.iter(|| greedy(black_box(&instance)));
            });
        }
    }
    group.finish();
}

/// The library's split, in memory that is there already.
fn exact(
    group: &mut BenchmarkGroup<'_, WallTime>,
    curve: &str,
    instance: &Instance,
    workers: &[Worker<'_>],
) {
    let (mut splitter, mut plan) = (Splitter::new(), Plan::default());
    group.bench_function(BenchmarkId::new(curve, workers.len()), |bencher| {
        bencher.iter(|| {
            splitter
                .split_into(instance.global_batch, black_box(workers), &mut plan)
                .expect("the instance has a split");
            plan.binding()
        });
    });
}

criterion_group!(benches, split);
criterion_main!(benches);
