//! The covariance of the weights into the same unit only (node-decoupled extended Kalman filter,
//! Puskorius and Feldkamp 1991, "Decoupled extended Kalman filter training of feedforward layered
//! networks").
//!
//! First the hidden units: for each pair (i, j), j ≤ i, of their regressors and the bias, the
//! covariances of all units side by side. Then the triangle of the output's weights, row by row.

use super::learner::Step;
use crate::network::Shape;

/// Numbers of a triangle of so many weights.
fn size(weights: usize) -> usize {
    weights * (weights + 1) / 2
}

/// Numbers of all triangles.
pub(super) fn size_of(shape: &Shape) -> usize {
    shape.hidden * size(shape.regressors + 1) + size(outgoing(shape))
}

/// Weights into the output.
fn outgoing(shape: &Shape) -> usize {
    shape.hidden + shape.regressors + 1
}

/// No covariances, and this variance.
pub(super) fn set(covariance: &mut [f64], shape: &Shape, variance: f64) {
    covariance.fill(0.0);
    let hidden = shape.hidden;
    for k in 0..=shape.regressors {
        covariance[(size(k) + k) * hidden..][..hidden].fill(variance);
    }
    let of_output = size(shape.regressors + 1) * hidden;
    for i in 0..outgoing(shape) {
        covariance[of_output + size(i) + i] = variance;
    }
}

/// `products` = P g.
#[inline(always)]
pub(super) fn multiply<const L: usize>(
    shape: &Shape,
    covariance: &[[f64; L]],
    gradient: &[[f64; L]],
    products: &mut [[f64; L]],
) {
    let (hidden, nodes) = (shape.hidden, shape.regressors + 1);
    let (of_hidden, of_output) = covariance.split_at(size(nodes) * hidden);
    let (g_hidden, g_output) = gradient.split_at(nodes * hidden);
    let (hidden_products, output_products) = products.split_at_mut(nodes * hidden);
    triangle(
        of_hidden.as_flattened(),
        g_hidden.as_flattened(),
        hidden_products.as_flattened_mut(),
        hidden * L,
    );
    triangle(
        of_output.as_flattened(),
        g_output.as_flattened(),
        output_products.as_flattened_mut(),
        L,
    );
}

/// P g for `width` triangles side by side.
#[inline(always)]
fn triangle(covariance: &[f64], gradient: &[f64], products: &mut [f64], width: usize) {
    if width == 0 {
        return;
    }
    let mut rest = covariance;
    for i in 0..gradient.len() / width {
        let (before, own) = products.split_at_mut(i * width);
        let own = &mut own[..width];
        let g = &gradient[i * width..][..width];
        own.fill(0.0);
        for j in 0..i {
            let (p, after) = rest.split_at(width);
            rest = after;
            let other = &gradient[j * width..][..width];
            let product = &mut before[j * width..][..width];
            for l in 0..width {
                own[l] = p[l].mul_add(other[l], own[l]);
                product[l] = p[l].mul_add(g[l], product[l]);
            }
        }
        let (p, after) = rest.split_at(width);
        rest = after;
        for l in 0..width {
            own[l] = p[l].mul_add(g[l], own[l]);
        }
    }
}

/// P ← keep · (P − shrink · Pg (Pg)ᵀ) + restore · prior in every triangle, see
/// [`full::update`](super::full::update).
#[inline(always)]
pub(super) fn update<const L: usize>(
    shape: &Shape,
    covariance: &mut [[f64; L]],
    products: &[[f64; L]],
    prior: f64,
    step: &Step<L>,
) {
    let (hidden, nodes) = (shape.hidden, shape.regressors + 1);
    let (of_hidden, of_output) = covariance.split_at_mut(size(nodes) * hidden);
    let (hidden_products, output_products) = products.split_at(nodes * hidden);
    shrink(of_hidden, hidden_products, prior, step, hidden);
    shrink(of_output, output_products, prior, step, 1);
}

#[inline(always)]
fn shrink<const L: usize>(
    covariance: &mut [[f64; L]],
    products: &[[f64; L]],
    prior: f64,
    step: &Step<L>,
    width: usize,
) {
    if width == 0 {
        return;
    }
    let mut rest = covariance;
    for i in 0..products.len() / width {
        let own = &products[i * width..][..width];
        for j in 0..=i {
            let (p, after) = rest.split_at_mut(width);
            rest = after;
            let others = &products[j * width..][..width];
            for ((p, own), other) in p.iter_mut().zip(own).zip(others) {
                for l in 0..L {
                    let both = own[l] * other[l];
                    p[l] = step.keep[l] * (-step.shrink[l]).mul_add(both, p[l]);
                }
            }
            if j == i {
                for p in p {
                    for (p, restore) in p.iter_mut().zip(step.restore) {
                        *p = restore.mul_add(prior, *p);
                    }
                }
            }
        }
    }
}

/// See [`full::is_positive`](super::full::is_positive).
pub(super) fn is_positive(covariance: &[f64], shape: &Shape) -> bool {
    let of_hidden = size(shape.regressors + 1) * shape.hidden;
    let (of_hidden, of_output) = covariance.split_at(of_hidden);
    let hidden = shape.hidden == 0 || triangle_is_positive(of_hidden, shape.hidden);
    hidden && triangle_is_positive(of_output, 1)
}

/// The same for `width` triangles side by side.
fn triangle_is_positive(covariance: &[f64], width: usize) -> bool {
    let variance = |i: usize, unit: usize| covariance[(size(i) + i) * width + unit];
    let mut rest = covariance.chunks_exact(width.max(1)).enumerate();
    let mut i = 0;
    while size(i) * width < covariance.len() {
        for j in 0..=i {
            let Some((_, of_units)) = rest.next() else {
                return false;
            };
            let fits = of_units.iter().enumerate().all(|(unit, p)| {
                let (own, other) = (variance(i, unit), variance(j, unit));
                own > 0.0 && p * p <= own * other * (1.0 + 1e-9)
            });
            if !fits {
                return false;
            }
        }
        i += 1;
    }
    true
}
