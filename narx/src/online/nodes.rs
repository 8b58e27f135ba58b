//! The covariance of the weights into the same unit only (node-decoupled extended Kalman filter,
//! Puskorius and Feldkamp 1991, "Decoupled extended Kalman filter training of feedforward layered
//! networks").
//!
//! First the hidden units: for each pair (i, j), j ≤ i, of their regressors and the bias, the
//! covariances of all units side by side. Then the triangle of the output's weights, row by row.

use super::full::is_definite;
use super::lanes::{fused, fused_less, times};
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

/// `products` = P g; returns gᵀPg.
#[inline(always)]
pub(super) fn multiply<const L: usize>(
    shape: &Shape,
    covariance: &[[f64; L]],
    gradient: &[[f64; L]],
    products: &mut [[f64; L]],
) -> [f64; L] {
    let (hidden, nodes) = (shape.hidden, shape.regressors + 1);
    let (of_hidden, of_output) = covariance.split_at(size(nodes) * hidden);
    let (g_hidden, g_output) = gradient.split_at(nodes * hidden);
    let (hidden_products, output_products) = products.split_at_mut(nodes * hidden);
    if L > 1 {
        side_by_side(of_hidden, g_hidden, hidden_products, hidden);
        side_by_side(of_output, g_output, output_products, 1);
    } else {
        triangle(
            of_hidden.as_flattened(),
            g_hidden.as_flattened(),
            hidden_products.as_flattened_mut(),
            hidden,
        );
        triangle(
            of_output.as_flattened(),
            g_output.as_flattened(),
            output_products.as_flattened_mut(),
            1,
        );
    }
    let mut spread = [0.0; L];
    for (g, product) in gradient.iter().zip(&*products) {
        spread = fused(g, product, &spread);
    }
    spread
}

/// P g for `width` triangles of several workers: the sums of [`triangle`], half of them in registers.
#[inline(always)]
fn side_by_side<const L: usize>(
    covariance: &[[f64; L]],
    gradient: &[[f64; L]],
    products: &mut [[f64; L]],
    width: usize,
) {
    if width == 0 {
        return;
    }
    let mut rest = covariance;
    for (i, g) in gradient.chunks_exact(width).enumerate() {
        let (row, after) = rest.split_at((i + 1) * width);
        rest = after;
        let (before, own) = products.split_at_mut(i * width);
        for u in 0..width {
            let mut sum = [0.0; L];
            let others = gradient.chunks_exact(width);
            let products = before.chunks_exact_mut(width);
            for ((p, other), product) in row.chunks_exact(width).zip(others).zip(products) {
                sum = fused(&p[u], &other[u], &sum);
                product[u] = fused(&p[u], &g[u], &product[u]);
            }
            own[u] = fused(&row[i * width + u], &g[u], &sum);
        }
    }
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
    // Copies, so that they stay in registers.
    let (keep, less, restore) = (step.keep, step.shrink, step.restore);
    let mut rest = covariance;
    for i in 0..products.len() / width {
        let own = &products[i * width..][..width];
        let (row, after) = rest.split_at_mut((i + 1) * width);
        rest = after;
        if L == 1 {
            for (p, others) in row
                .chunks_exact_mut(width)
                .zip(products.chunks_exact(width))
            {
                for ((p, own), other) in p.iter_mut().zip(own).zip(others) {
                    *p = times(&keep, &fused_less(&less, &times(own, other), p));
                }
            }
        } else {
            // The other way round, so that it is lanes, not units, that become vectors.
            for (u, own) in own.iter().enumerate() {
                for (p, others) in row
                    .chunks_exact_mut(width)
                    .zip(products.chunks_exact(width))
                {
                    p[u] = times(&keep, &fused_less(&less, &times(own, &others[u]), &p[u]));
                }
            }
        }
        for p in &mut row[i * width..] {
            *p = fused(&restore, &[prior; L], p);
        }
    }
}

/// Whether all triangles are positive definite, but for rounding.
pub(super) fn is_positive(covariance: &[f64], shape: &Shape) -> bool {
    let (hidden, nodes) = (shape.hidden, shape.regressors + 1);
    let (of_hidden, of_output) = covariance.split_at(size(nodes) * hidden);
    let of_unit = |unit: usize| is_definite(nodes, |i, j| of_hidden[(size(i) + j) * hidden + unit]);
    (0..hidden).all(of_unit) && is_definite(outgoing(shape), |i, j| of_output[size(i) + j])
}
