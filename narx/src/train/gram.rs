use nalgebra::{Cholesky, DMatrix, DVector};

use super::factor::Factor;

/// Columns that a tile of the product spans; the stride of a row is a multiple of it.
const TILE: usize = 8;

/// The normal equations of a least-squares problem, summed row by row: JᵀJ, Jᵀe and eᵀe, where a
/// row of J holds the derivatives of one forecast by the weights and e is the error of the forecast.
///
/// The rows come in blocks, so that J never exists as a whole.
#[derive(Debug, Clone)]
pub(crate) struct Gram {
    weights: usize,
    stride: usize,
    /// The upper triangle of (J|e)ᵀ(J|e), row by row, `stride` apart.
    sums: Vec<f64>,
}

impl Gram {
    pub(crate) fn new(weights: usize) -> Self {
        let stride = Self::stride_of(weights);
        Self {
            weights,
            stride,
            sums: vec![0.0; stride * stride],
        }
    }

    /// Length of a row (J|e) of a block, filled up with zeros.
    pub(crate) fn stride_of(weights: usize) -> usize {
        (weights + 1).next_multiple_of(TILE)
    }

    /// Adds a block of rows, each [`stride_of`](Self::stride_of) long: derivatives, error, zeros.
    pub(crate) fn add(&mut self, block: &[f64]) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") {
                // SAFETY: the processor has just been found to have it.
                #[allow(unsafe_code)]
                return unsafe { add_avx512(&mut self.sums, self.stride, block) };
            }
            if has!("avx2") && has!("fma") {
                // SAFETY: the processor has just been found to have both.
                #[allow(unsafe_code)]
                return unsafe { add_avx2(&mut self.sums, self.stride, block) };
            }
        }
        add::<4>(&mut self.sums, self.stride, block);
    }

    /// Adds the sums of other rows.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum += other;
        }
    }

    /// Jᵀe.
    pub(crate) fn gradient(&self) -> Vec<f64> {
        (0..self.weights)
            .map(|i| self.at(i, self.weights))
            .collect()
    }

    /// Solves for the weights from `from` on, all others being held: (JᵀJ + `ridge` · I) w = Jᵀe.
    pub(crate) fn solve_from(&self, from: usize, ridge: f64) -> Option<DVector<f64>> {
        let count = self.weights - from;
        let matrix = DMatrix::from_fn(count, count, |i, j| {
            let (i, j) = (i.min(j) + from, i.max(j) + from);
            self.at(i, j) + if i == j { ridge } else { 0.0 }
        });
        let right = DVector::from_fn(count, |i, _| self.at(from + i, self.weights));
        Some(Cholesky::new(matrix)?.solve(&right))
    }

    /// Factors `scale` · JᵀJ + `ridge` · I; false if that is not positive definite.
    pub(crate) fn factor(&self, scale: f64, ridge: f64, factor: &mut Factor) -> bool {
        factor.set(|i, row| {
            let sums = &self.sums[i * self.stride + i..];
            for (value, sum) in row.iter_mut().zip(sums) {
                *value = scale * sum;
            }
            row[0] += ridge;
        })
    }

    /// JᵀJ as a whole.
    pub(crate) fn products(&self) -> DMatrix<f64> {
        let at = |i: usize, j: usize| self.at(i.min(j), i.max(j));
        DMatrix::from_fn(self.weights, self.weights, at)
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.sums[i * self.stride + j]
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_avx512(sums: &mut [f64], stride: usize, block: &[f64]) {
    add::<8>(sums, stride, block);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_avx2(sums: &mut [f64], stride: usize, block: &[f64]) {
    add::<4>(sums, stride, block);
}

/// Adds the upper triangle of blockᵀ·block, in tiles of `HEIGHT` × `TILE` that fit the registers.
/// Every element is summed over the rows in their order, whatever the tile: the bits do not depend
/// on the processor.
#[inline(always)]
fn add<const HEIGHT: usize>(sums: &mut [f64], stride: usize, block: &[f64]) {
    for left in (0..stride).step_by(TILE) {
        for top in (0..left + TILE).step_by(HEIGHT) {
            let tile = product::<HEIGHT>(block, stride, top, left);
            for (i, row) in tile.iter().enumerate() {
                let start = (top + i) * stride + left;
                for (sum, value) in sums[start..start + TILE].iter_mut().zip(row) {
                    *sum += value;
                }
            }
        }
    }
}

#[inline(always)]
fn product<const HEIGHT: usize>(
    block: &[f64],
    stride: usize,
    top: usize,
    left: usize,
) -> [[f64; TILE]; HEIGHT] {
    let mut tile = [[0.0; TILE]; HEIGHT];
    for row in block.chunks_exact(stride) {
        let a: &[f64; HEIGHT] = row[top..top + HEIGHT]
            .try_into()
            .expect("a range of that length");
        let b: &[f64; TILE] = row[left..left + TILE]
            .try_into()
            .expect("a range of that length");
        for (sums, &a) in tile.iter_mut().zip(a) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = a.mul_add(b, *sum);
            }
        }
    }
    tile
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: usize, weights: usize) -> Vec<f64> {
        let stride = Gram::stride_of(weights);
        let mut block = vec![0.0; rows * stride];
        for (r, row) in block.chunks_exact_mut(stride).enumerate() {
            for (c, value) in row[..=weights].iter_mut().enumerate() {
                *value = ((r * 37 + c * 101) % 89) as f64 / 44.0 - 1.0;
            }
        }
        block
    }

    #[test]
    fn equals_the_product_of_the_whole_matrix() {
        for weights in [1, 7, 8, 23, 101] {
            let stride = Gram::stride_of(weights);
            let rows = block(200, weights);
            let mut gram = Gram::new(weights);
            for part in rows.chunks(64 * stride) {
                gram.add(part);
            }
            let whole = DMatrix::from_row_slice(200, stride, &rows);
            let expected = whole.transpose() * whole;
            for i in 0..=weights {
                for j in i..=weights {
                    approx::assert_relative_eq!(gram.at(i, j), expected[(i, j)], epsilon = 1e-11);
                }
            }
        }
    }

    #[test]
    fn gives_the_same_bits_in_every_tile_shape() {
        let weights = 45;
        let stride = Gram::stride_of(weights);
        let rows = block(64, weights);
        let mut gram = Gram::new(weights);
        gram.add(&rows);
        let mut other = vec![0.0; stride * stride];
        add::<4>(&mut other, stride, &rows);
        for i in 0..stride {
            for j in i..stride {
                assert_eq!(gram.at(i, j).to_bits(), other[i * stride + j].to_bits());
            }
        }
    }
}
