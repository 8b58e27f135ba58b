//! The split rule where every grain that can be given next leads to one and the same time, so that
//! only its tie-breaks decide. There may be many more grains than workers: flat curves.

/// A worker that could take more grains without any change of the time they lead to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tie {
    pub(super) present_s: f64,
    /// Whether the worker takes that time already.
    pub(super) reached: bool,
    pub(super) deficit: i64,
    pub(super) room: u32,
    pub(super) index: u32,
    /// The result.
    pub(super) given: u32,
}

/// Hands out `left` grains, each of which lowers a deficit by `per_grain`.
///
/// The larger present time comes first. So workers that have reached the time share among
/// themselves, always the largest deficit first, until they are full; and a worker that gets its
/// first grain then reaches the time itself and is filled before any other gets one.
pub(super) fn hand_out(ties: &mut [Tie], mut left: u32, per_grain: i64) {
    ties.sort_unstable_by(|a, b| {
        b.present_s
            .total_cmp(&a.present_s)
            .then(b.deficit.cmp(&a.deficit))
            .then(a.index.cmp(&b.index))
    });
    // Those that have reached the time have the largest present time of all, so they stand first.
    let reached = ties.partition_point(|tie| tie.reached);
    let (sharing, filling) = ties.split_at_mut(reached);
    let room: u64 = sharing.iter().map(|tie| u64::from(tie.room)).sum();
    if room > u64::from(left) {
        level(sharing, left, per_grain);
        return;
    }
    left -= room as u32;
    sharing.iter_mut().for_each(|tie| tie.given = tie.room);
    for tie in filling {
        tie.given = tie.room.min(left);
        left -= tie.given;
    }
}

/// Gives `left` grains, fewer than there is room for, always to the largest deficit; of several
/// to the first worker.
fn level(ties: &mut [Tie], left: u32, per_grain: i64) {
    let above = |tie: &Tie, line: i64| -> u32 {
        if tie.deficit <= line {
            return 0;
        }
        let grains = (tie.deficit - line - 1) / per_grain + 1;
        grains.min(i64::from(tie.room)) as u32
    };
    let sum = |line: i64| -> u64 { ties.iter().map(|tie| u64::from(above(tie, line))).sum() };
    // The lowest line such that the grains given to deficits above it are no more than there are.
    let (mut low, mut high) = (i64::MIN / 4, i64::MAX / 4);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if sum(middle) <= u64::from(left) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let mut left = left - sum(high) as u32;
    for tie in ties.iter_mut() {
        tie.given = above(tie, high);
    }
    // What is left goes to those exactly on the line, a grain each.
    ties.sort_unstable_by_key(|tie| tie.index);
    for tie in ties {
        let on_line = tie.deficit - i64::from(tie.given) * per_grain == high;
        if left > 0 && on_line && tie.given < tie.room {
            tie.given += 1;
            left -= 1;
        }
    }
}
