//! Mean and spread of finite values of any size: nothing here overflows or loses digits that a
//! sum of squares would.

/// The mean. The second pass takes back what rounding left over in the first.
pub(super) fn mean(values: &[f64]) -> f64 {
    let rough = scaled_mean(values);
    rough + scaled_mean(&differences(values, rough))
}

/// The values less their mean.
pub(super) fn deviations(values: &[f64]) -> Vec<f64> {
    differences(values, mean(values))
}

/// The root of the mean square.
pub(super) fn root_mean_square(values: &[f64]) -> f64 {
    let unit = unit(values);
    let squares: f64 = values.iter().map(|v| (v / unit).powi(2)).sum();
    unit * (squares / values.len() as f64).sqrt()
}

/// Whether no two values differ.
pub(super) fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|v| *v == values[0])
}

/// `left` − `right`, or the largest number there is where that has no room for it.
pub(super) fn difference(left: f64, right: f64) -> f64 {
    (left - right).clamp(-f64::MAX, f64::MAX)
}

fn differences(values: &[f64], from: f64) -> Vec<f64> {
    values.iter().map(|v| difference(*v, from)).collect()
}

fn scaled_mean(values: &[f64]) -> f64 {
    let unit = unit(values);
    values.iter().map(|v| v / unit).sum::<f64>() / values.len() as f64 * unit
}

/// The power of two at or below the largest magnitude: dividing by it does not round.
fn unit(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |max, v| max.max(v.abs()));
    let exponent = largest.to_bits() & f64::INFINITY.to_bits();
    f64::from_bits(exponent).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_come_out_exactly() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(root_mean_square(&[3.0, -3.0, 3.0]), 3.0);
        assert_eq!(root_mean_square(&[0.0, 0.0]), 0.0);
    }

    #[test]
    fn the_largest_and_smallest_numbers_have_a_mean_and_a_spread() {
        assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!(root_mean_square(&[f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(root_mean_square(&[1e-200, 1e-200]), 1e-200);
        assert_eq!(difference(f64::MAX, -f64::MAX), f64::MAX);
    }

    #[test]
    fn a_large_offset_does_not_hide_a_small_spread() {
        let values: Vec<f64> = (0..100_000).map(|k| 1e12 + f64::from(k % 2)).collect();
        assert_eq!(mean(&values), 1e12 + 0.5);
        assert_eq!(root_mean_square(&deviations(&values)), 0.5);
    }
}
