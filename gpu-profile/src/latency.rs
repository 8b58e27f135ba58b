use crate::{Error, Point};

/// Seconds of one step against the batch: straight lines between knots that never fall.
///
/// Holds at least one knot; batches strictly increase, seconds never decrease.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LatencyCurve {
    knots: Vec<(u32, f64)>,
}

impl LatencyCurve {
    /// Fits the non-decreasing curve nearest to the medians of points sorted by batch.
    pub(crate) fn fit(points: &[Point]) -> Self {
        let mut blocks: Vec<Block> = Vec::with_capacity(points.len());
        for point in points {
            let mut block = Block::of(point);
            while let Some(before) = blocks.pop_if(|before| before.seconds > block.seconds) {
                block = before.pooled_with(&block);
            }
            blocks.push(block);
        }
        let levels = blocks
            .iter()
            .flat_map(|block| std::iter::repeat_n(block.seconds, block.points));
        let knots = points.iter().map(|point| point.batch).zip(levels).collect();
        Self { knots }
    }

    pub(crate) fn knots(&self) -> &[(u32, f64)] {
        &self.knots
    }

    pub(crate) fn last_batch(&self) -> u32 {
        let (batch, _) = self.knots.last().expect("a curve has at least one knot");
        *batch
    }

    pub(crate) fn seconds(&self, batch: u32) -> Result<f64, Error> {
        if batch == 0 {
            return Err(Error::EmptyBatch);
        }
        match self.knots.binary_search_by_key(&batch, |&(knot, _)| knot) {
            Ok(at) => Ok(self.knots[at].1),
            Err(0) => Ok(self.knots[0].1),
            Err(next) if next < self.knots.len() => {
                Ok(between(self.knots[next - 1], self.knots[next], batch))
            }
            Err(_) => Err(Error::BeyondMeasured {
                batch,
                last_measured: self.last_batch(),
            }),
        }
    }
}

/// The line through two knots. Each operation rounds monotonically, so the result does not fall as
/// `x` grows; it can round past the upper knot, hence `min`.
fn between((x0, y0): (u32, f64), (x1, y1): (u32, f64), x: u32) -> f64 {
    (y0 + (y1 - y0) * (f64::from(x - x0) / f64::from(x1 - x0))).min(y1)
}

/// Neighbouring points that share one level.
struct Block {
    seconds: f64,
    timings: u64,
    points: usize,
}

impl Block {
    fn of(point: &Point) -> Self {
        Self {
            seconds: point.median_s,
            timings: u64::from(point.n),
            points: 1,
        }
    }

    /// Pools with a faster block behind it. The mean is taken as a step from this block's level,
    /// since a sum of products could overflow, and held between the two levels against rounding.
    fn pooled_with(&self, faster: &Self) -> Self {
        let timings = self.timings + faster.timings;
        let share = faster.timings as f64 / timings as f64;
        let mean = self.seconds + (faster.seconds - self.seconds) * share;
        Self {
            seconds: mean.clamp(faster.seconds, self.seconds),
            timings,
            points: self.points + faster.points,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u32, f64, u32)]) -> LatencyCurve {
        let point = |&(batch, median_s, n): &(u32, f64, u32)| Point {
            n,
            ..Point::new(batch, median_s)
        };
        LatencyCurve::fit(&points.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn rising_medians_are_kept_to_the_last_bit() {
        let rising = curve(&[(1, 0.1, 3), (2, 0.1, 1), (5, 0.3, 7)]);
        assert_eq!(rising.knots(), [(1, 0.1), (2, 0.1), (5, 0.3)]);
    }

    #[test]
    fn a_dip_is_pooled_by_number_of_timings() {
        let dipped = curve(&[(1, 1.0, 1), (2, 5.0, 3), (3, 1.0, 1), (4, 6.0, 1)]);
        assert_eq!(dipped.knots(), [(1, 1.0), (2, 4.0), (3, 4.0), (4, 6.0)]);
    }

    #[test]
    fn pooling_reaches_back_as_far_as_it_must() {
        let falling = curve(&[(1, 3.0, 1), (2, 4.0, 1), (3, 2.0, 1), (4, 1.0, 1)]);
        assert_eq!(falling.knots(), [(1, 2.5), (2, 2.5), (3, 2.5), (4, 2.5)]);
    }

    #[test]
    fn pooling_huge_times_does_not_overflow() {
        let huge = curve(&[(1, f64::MAX, u32::MAX), (2, f64::MAX / 2.0, u32::MAX)]);
        assert_eq!(huge.knots(), [(1, f64::MAX * 0.75), (2, f64::MAX * 0.75)]);
    }

    #[test]
    fn seconds_follow_the_line_between_knots() {
        let line = curve(&[(2, 1.0, 1), (4, 2.0, 1), (8, 4.0, 1)]);
        let asked = [1, 2, 3, 4, 5, 8].map(|batch| line.seconds(batch));
        assert_eq!(asked, [1.0, 1.0, 1.5, 2.0, 2.5, 4.0].map(Ok));
    }

    #[test]
    fn seconds_are_refused_outside_what_was_measured() {
        let line = curve(&[(2, 1.0, 1), (4, 2.0, 1)]);
        assert_eq!(line.seconds(0), Err(Error::EmptyBatch));
        let beyond = Error::BeyondMeasured {
            batch: 5,
            last_measured: 4,
        };
        assert_eq!(line.seconds(5), Err(beyond));
    }
}
