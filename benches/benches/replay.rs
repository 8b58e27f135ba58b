//! How long does it take to replay 1,000 workers for 1,000 iterations?

use std::hint::black_box;

use benches::wandering_workers;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sizing::replay::{Job, Strategy, replay};
use sizing::{Policy, defaults};

const WORKERS: usize = 1000;
const ITERATIONS: usize = 1000;

fn replays(criterion: &mut Criterion) {
    let traces = wandering_workers(WORKERS, defaults::SEED);
    let job = Job::new(256 * WORKERS as u32);
    let strategies: [(&str, Strategy); 4] = [
        ("equal", Strategy::Online(Policy::Equal)),
        ("ema", Strategy::Online(Policy::default())),
        ("informed", Strategy::Informed),
        ("oracle", Strategy::Oracle),
    ];
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10);
    for (name, strategy) in strategies {
        group.bench_function(BenchmarkId::new(name, WORKERS), |bencher| {
            bencher.iter(|| {
                let mut more = |run: &sizing::replay::Run| run.iterations.len() < ITERATIONS;
                replay(black_box(&traces), &job, &strategy, &mut more)
                    .expect("the job fits")
                    .iterations
                    .len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, replays);
criterion_main!(benches);
