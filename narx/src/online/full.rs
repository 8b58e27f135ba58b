//! The covariance of all weights: its lower triangle, row by row, each row filled up to a whole
//! number of vectors. The first ones of the numbers that fill it up mirror the triangle. Weights
//! that fill up the last vector have no variance.

use nalgebra::{Cholesky, DMatrix};

/// What rounding may take from a variance, as a share of it.
const ROUNDING: f64 = 1e-9;

/// As many numbers as the widest vectors hold.
const LANES: usize = 8;

type Lanes = [f64; LANES];

/// Numbers of the rows for so many weights.
pub(super) fn size(weights: usize) -> usize {
    place(padded(weights), 0)
}

/// Length of a gradient, filled up with zeros.
pub(super) fn padded(weights: usize) -> usize {
    weights.next_multiple_of(LANES)
}

/// Where the covariance of weights `i` and `j` is, if `j` is at most in the same vector.
fn place(i: usize, j: usize) -> usize {
    let (vector, row) = (i / LANES, i % LANES);
    let before = LANES * LANES * vector * (vector + 1) / 2;
    before + row * LANES * (vector + 1) + j
}

/// No covariances, and this variance.
pub(super) fn set(covariance: &mut [f64], weights: usize, variance: f64) {
    covariance.fill(0.0);
    for i in 0..weights {
        covariance[place(i, i)] = variance;
    }
}

/// `products` = P g, both filled up with zeros; returns gᵀPg.
#[inline(always)]
pub(super) fn multiply(covariance: &[f64], gradient: &[f64], products: &mut [f64]) -> f64 {
    let gradient = gradient.as_chunks::<LANES>().0;
    let products = products.as_chunks_mut::<LANES>().0;
    let mut rest = covariance.as_chunks::<LANES>().0;
    for (vector, own) in gradient.iter().enumerate() {
        let width = vector + 1;
        let (of_vector, after) = rest.split_at(LANES * width);
        rest = after;
        let mut rows: [&[Lanes]; LANES] = [&[]; LANES];
        for (row, of_row) in rows.iter_mut().zip(of_vector.chunks_exact(width)) {
            *row = of_row;
        }
        let mut sums = [[0.0; LANES]; LANES];
        let (before, product) = products.split_at_mut(vector);
        for (j, (other, product)) in gradient.iter().zip(before).enumerate() {
            let mut through = *product;
            for k in 0..LANES {
                sums[k] = multiply_add(rows[k][j], *other, sums[k]);
                through = multiply_add(rows[k][j], [own[k]; LANES], through);
            }
            *product = through;
        }
        for k in 0..LANES {
            sums[k] = multiply_add(rows[k][vector], *own, sums[k]);
            product[0][k] = total(&sums[k]);
        }
    }
    let mut sums = [0.0; LANES];
    for (g, product) in gradient.iter().zip(products) {
        sums = multiply_add(*g, *product, sums);
    }
    total(&sums)
}

// By value: through references the compiler makes a gather of it.
#[inline(always)]
fn multiply_add(a: Lanes, b: Lanes, mut sum: Lanes) -> Lanes {
    for l in 0..LANES {
        sum[l] = a[l].mul_add(b[l], sum[l]);
    }
    sum
}

#[inline(always)]
fn total(s: &Lanes) -> f64 {
    ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

/// P ← keep · P − s sᵀ + `restored` · I, where s is Pg in units of the innovation's standard
/// deviation, times √keep.
///
/// The first two parts lie between keep · P and 0 as long as rounding is small against the noise in
/// the innovation, and the last one adds more than rounding takes: P stays positive definite, and
/// its variances below the prior ones. Rounding errors shrink with `keep` like everything else, and
/// both sides of the diagonal are rounded alike.
#[inline(always)]
pub(super) fn update(
    covariance: &mut [f64],
    weights: usize,
    scaled_products: &[f64],
    keep: f64,
    restored: f64,
) {
    let mut rest = &mut *covariance;
    for (i, own) in scaled_products.iter().enumerate() {
        let (row, after) = rest.split_at_mut((i / LANES + 1) * LANES);
        rest = after;
        for (p, other) in row.iter_mut().zip(scaled_products) {
            *p = (-own).mul_add(*other, keep * *p);
        }
    }
    for i in 0..weights {
        covariance[place(i, i)] += restored;
    }
}

/// Takes away what is known of a weight.
pub(super) fn forget(covariance: &mut [f64], weights: usize, weight: usize, variance: f64) {
    for other in 0..weights {
        if other / LANES <= weight / LANES {
            covariance[place(weight, other)] = 0.0;
        }
        if weight / LANES <= other / LANES {
            covariance[place(other, weight)] = 0.0;
        }
    }
    covariance[place(weight, weight)] = variance;
}

/// Whether it is positive definite, but for rounding.
pub(super) fn is_positive(covariance: &[f64], weights: usize) -> bool {
    is_definite(weights, |i, j| covariance[place(i, j)])
}

/// The same for the covariances of any numbers, `at(i, j)` with j ≤ i.
pub(super) fn is_definite(size: usize, at: impl Fn(usize, usize) -> f64) -> bool {
    let matrix = DMatrix::from_fn(size, size, |i, j| {
        let rounding = if i == j { 1.0 + ROUNDING } else { 1.0 };
        at(i.max(j), i.min(j)) * rounding
    });
    Cholesky::new(matrix).is_some()
}
