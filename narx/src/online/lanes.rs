//! Sums and products of L workers at once.
//!
//! Each result is a value of its own: a loop over lanes that writes where it might read could not
//! become one vector instruction.

/// a · b + c, rounded once.
#[inline(always)]
pub(super) fn fused<const L: usize>(a: &[f64; L], b: &[f64; L], c: &[f64; L]) -> [f64; L] {
    let mut sum = [0.0; L];
    for l in 0..L {
        sum[l] = a[l].mul_add(b[l], c[l]);
    }
    sum
}

/// c − a · b, rounded once.
#[inline(always)]
pub(super) fn fused_less<const L: usize>(a: &[f64; L], b: &[f64; L], c: &[f64; L]) -> [f64; L] {
    let mut difference = [0.0; L];
    for l in 0..L {
        difference[l] = (-a[l]).mul_add(b[l], c[l]);
    }
    difference
}

/// a · b.
#[inline(always)]
pub(super) fn times<const L: usize>(a: &[f64; L], b: &[f64; L]) -> [f64; L] {
    let mut product = [0.0; L];
    for l in 0..L {
        product[l] = a[l] * b[l];
    }
    product
}
