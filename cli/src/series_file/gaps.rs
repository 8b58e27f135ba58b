/// A step longer than so many usual steps is a gap: in it a row is missing at least.
const LONGEST: f64 = 1.5;

/// The rows that follow a gap; `times` do not decrease.
///
/// The usual step is the median of those that are steps: rows of equal time do not count.
pub(super) fn behind_gaps(times: &[f64]) -> Vec<usize> {
    let steps = || times.windows(2).map(|pair| pair[1] - pair[0]);
    let Some(usual) = median(steps().filter(|&step| step > 0.0).collect()) else {
        return Vec::new();
    };
    let long = |&(_, step): &(usize, f64)| step > LONGEST * usual;
    let long = steps().enumerate().filter(long);
    long.map(|(row, _)| row + 1).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp);
    Some(match lower {
        // Halves first: the sum could be too large.
        Some(lower) if even => lower / 2.0 + upper / 2.0,
        _ => upper,
    })
}

/// A column with `count` rows more before each of the given rows, which rise; `fill` makes their
/// value of that of the row behind them.
pub(super) fn opened<T: Copy>(
    values: Vec<T>,
    rows: &[usize],
    count: usize,
    fill: impl Fn(T) -> T,
) -> Vec<T> {
    if rows.is_empty() {
        return values;
    }
    let mut all = Vec::with_capacity(values.len() + rows.len() * count);
    let mut from = 0;
    for &row in rows {
        all.extend_from_slice(&values[from..row]);
        all.extend(std::iter::repeat_n(fill(values[row]), count));
        from = row;
    }
    all.extend_from_slice(&values[from..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_a_long_step() {
        assert_eq!(behind_gaps(&[0.0, 1.0, 2.0, 4.0, 5.0, 100.0]), [3, 5]);
        assert!(behind_gaps(&[0.0, 1.0, 2.5, 3.5]).is_empty());
        assert!(behind_gaps(&[0.0, 1.0]).is_empty());
        assert!(behind_gaps(&[7.0]).is_empty());
        assert!(behind_gaps(&[]).is_empty());
    }

    #[test]
    fn equal_times_are_no_steps() {
        assert!(behind_gaps(&[3.0, 3.0, 3.0]).is_empty());
        let four_at_once: Vec<f64> = (0..40).map(|row| f64::from(row / 4)).collect();
        assert!(behind_gaps(&four_at_once).is_empty());
    }

    #[test]
    fn the_usual_step_is_the_median() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn rows_are_put_into_each_gap() {
        let column = vec![1, 2, 3, 4];
        let one = opened(column.clone(), &[1, 3], 1, |_| 0);
        assert_eq!(one, [1, 0, 2, 3, 0, 4]);
        let two = opened(column.clone(), &[3], 2, |next| next);
        assert_eq!(two, [1, 2, 3, 4, 4, 4]);
        assert_eq!(opened(column, &[], 2, |_| 0), [1, 2, 3, 4]);
    }
}
