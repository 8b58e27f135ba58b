/// The Cholesky factor U of a positive definite matrix A = UᵀU, which the steps of
/// Levenberg–Marquardt are solved with.
///
/// Every loop runs along a row, so that it works on neighbouring values and does not wait for the
/// one before; for the sizes here that is several times as fast as a general factorisation.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    size: usize,
    /// The upper triangle, row by row, `size` apart. What is below the diagonal means nothing.
    rows: Vec<f64>,
}

impl Factor {
    /// Room for the factor of a matrix with that many rows.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            rows: vec![0.0; size * size],
        }
    }

    /// Factors a matrix; `fill` writes a row of it, given the place of the row and room for the
    /// values from the diagonal on. False if the matrix is not positive definite.
    pub(crate) fn set(&mut self, fill: impl Fn(usize, &mut [f64])) -> bool {
        for (i, row) in self.rows.chunks_exact_mut(self.size.max(1)).enumerate() {
            fill(i, &mut row[i..]);
        }
        factor(&mut self.rows, self.size)
    }

    /// Solves A x = `right`.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        self.divide_by_transpose(&mut x, 0);
        for k in (0..self.size).rev() {
            let row = &self.rows[k * self.size..(k + 1) * self.size];
            let sum: f64 = row[k + 1..]
                .iter()
                .zip(&x[k + 1..])
                .map(|(u, x)| u * x)
                .sum();
            x[k] = (x[k] - sum) / row[k];
        }
        x
    }

    /// The trace of A⁻¹ = U⁻¹U⁻ᵀ: the sum of the squares of U⁻ᵀ.
    pub(crate) fn trace_of_inverse(&self) -> f64 {
        let mut trace = 0.0;
        let mut column = vec![0.0; self.size];
        for k in 0..self.size {
            column[k..].fill(0.0);
            column[k] = 1.0;
            self.divide_by_transpose(&mut column, k);
            trace += column[k..].iter().map(|value| value * value).sum::<f64>();
        }
        trace
    }

    /// Replaces x, whose values before `from` are 0, by U⁻ᵀx.
    fn divide_by_transpose(&self, x: &mut [f64], from: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") {
                // SAFETY: the processor has just been found to have it.
                #[allow(unsafe_code)]
                return unsafe { divide_avx512(&self.rows, self.size, x, from) };
            }
            if has!("avx2") && has!("fma") {
                // SAFETY: the processor has just been found to have both.
                #[allow(unsafe_code)]
                return unsafe { divide_avx2(&self.rows, self.size, x, from) };
            }
        }
        divide_plain(&self.rows, self.size, x, from);
    }
}

/// Replaces the upper triangle of a matrix by its factor.
fn factor(rows: &mut [f64], size: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") {
            // SAFETY: the processor has just been found to have it.
            #[allow(unsafe_code)]
            return unsafe { factor_avx512(rows, size) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: the processor has just been found to have both.
            #[allow(unsafe_code)]
            return unsafe { factor_avx2(rows, size) };
        }
    }
    factor_plain(rows, size)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn factor_avx512(rows: &mut [f64], size: usize) -> bool {
    factor_plain(rows, size)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn factor_avx2(rows: &mut [f64], size: usize) -> bool {
    factor_plain(rows, size)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn divide_avx512(rows: &[f64], size: usize, x: &mut [f64], from: usize) {
    divide_plain(rows, size, x, from);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn divide_avx2(rows: &[f64], size: usize, x: &mut [f64], from: usize) {
    divide_plain(rows, size, x, from);
}

#[inline(always)]
fn factor_plain(rows: &mut [f64], size: usize) -> bool {
    for k in 0..size {
        let (above, below) = rows.split_at_mut((k + 1) * size);
        let row = &mut above[k * size + k..];
        let pivot = row[0].sqrt();
        // False for NaN as well.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        for value in &mut *row {
            *value /= pivot;
        }
        for (i, &factor) in row[1..].iter().enumerate() {
            let start = i * size + k + 1 + i;
            subtract_product(&mut below[start..(i + 1) * size], factor, &row[1 + i..]);
        }
    }
    true
}

#[inline(always)]
fn divide_plain(rows: &[f64], size: usize, x: &mut [f64], from: usize) {
    for k in from..size {
        let row = &rows[k * size..(k + 1) * size];
        let (done, rest) = x.split_at_mut(k + 1);
        done[k] /= row[k];
        subtract_product(rest, done[k], &row[k + 1..]);
    }
}

/// x − factor · y, in place.
#[inline(always)]
fn subtract_product(x: &mut [f64], factor: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = (-factor).mul_add(*y, *x);
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Cholesky, DMatrix, DVector};

    use super::*;

    fn definite(size: usize) -> DMatrix<f64> {
        let root = DMatrix::from_fn(size + 3, size, |i, j| {
            ((i * 31 + j * 17) % 23) as f64 / 11.0
        });
        root.transpose() * &root + DMatrix::identity(size, size)
    }

    #[test]
    fn agrees_with_a_general_factorisation() {
        for size in [1, 2, 7, 33, 101] {
            let matrix = definite(size);
            let right = DVector::from_fn(size, |i, _| (i as f64).sin());
            let reference = Cholesky::new(matrix.clone()).expect("positive definite");
            let mut factor = Factor::new(size);
            let is_definite = factor.set(|i, row| {
                for (j, value) in row.iter_mut().enumerate() {
                    *value = matrix[(i, i + j)];
                }
            });
            assert!(is_definite);
            let solution = factor.solve(right.as_slice());
            for (ours, theirs) in solution.iter().zip(&reference.solve(&right)) {
                approx::assert_relative_eq!(*ours, *theirs, epsilon = 1e-10, max_relative = 1e-9);
            }
            approx::assert_relative_eq!(
                factor.trace_of_inverse(),
                reference.inverse().trace(),
                max_relative = 1e-10
            );
        }
    }

    #[test]
    fn refuses_what_is_not_positive_definite() {
        let is_definite = |matrix: &[[f64; 2]; 2]| {
            Factor::new(2).set(|i, row| row.copy_from_slice(&matrix[i][i..]))
        };
        assert!(is_definite(&[[1.0, 0.5], [0.5, 1.0]]));
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert!(!is_definite(&[[bad, 0.0], [0.0, 1.0]]));
        }
        assert!(!is_definite(&[[1.0, 2.0], [2.0, 1.0]]));
    }
}
