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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The time that every grain leads to.
    const TIED_S: f64 = 9.0;

    /// The rule itself: larger present time, then larger deficit, then the first worker.
    fn by_rule(ties: &[Tie], left: u32, per_grain: i64) -> Vec<u32> {
        let mut given = vec![0; ties.len()];
        for _ in 0..left {
            let open = (0..ties.len()).filter(|&i| given[i] < ties[i].room);
            let key = |i: usize| {
                let reached = ties[i].reached || given[i] > 0;
                let present_s = if reached { TIED_S } else { ties[i].present_s };
                (present_s, ties[i].deficit - i64::from(given[i]) * per_grain)
            };
            let due = open.reduce(|best, i| if key(i) > key(best) { i } else { best });
            given[due.expect("there is room enough")] += 1;
        }
        given
    }

    fn tie() -> impl Strategy<Value = Tie> {
        (0..4u32, -12..12i64, 1..9u32).prop_map(|(present, deficit, room)| Tie {
            present_s: if present == 0 {
                TIED_S
            } else {
                f64::from(present)
            },
            reached: present == 0,
            deficit,
            room,
            index: 0,
            given: 0,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn ties_go_as_the_rule_says(
            mut ties in prop::collection::vec(tie(), 1..7), part in 0.0..1.0f64, per_grain in 1..5i64,
        ) {
            for (index, tie) in ties.iter_mut().enumerate() {
                tie.index = index as u32;
            }
            let room: u32 = ties.iter().map(|tie| tie.room).sum();
            let left = (f64::from(room) * part) as u32;
            let expected = by_rule(&ties, left, per_grain);
            hand_out(&mut ties, left, per_grain);
            ties.sort_by_key(|tie| tie.index);
            let given: Vec<u32> = ties.iter().map(|tie| tie.given).collect();
            prop_assert_eq!(given, expected);
        }
    }
}
