use super::evaluate::{LANES, Network};
use super::tanh::tanh;

/// Rows that are worked on at a time.
pub(crate) const ROWS: usize = 32;

/// One value for each row of a block.
pub(crate) type Strip = [f64; ROWS];

/// Several rows side by side: the regressors, and what a network makes of them. The results are
/// those of [`Network::outputs`] for each row, bit for bit; only that a vector of the processor
/// holds one value of several rows here and several values of one row there.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// Per regressor.
    pub(crate) regressors: Vec<Strip>,
    /// Per output.
    pub(crate) outputs: Vec<Strip>,
    /// Per hidden unit.
    activations: Vec<Strip>,
    slopes: Vec<Strip>,
    /// Activations and slopes of one row after the other.
    of_rows: Vec<f64>,
}

impl Block {
    pub(crate) fn new(regressors: usize, outputs: usize) -> Self {
        Self {
            regressors: vec![[0.0; ROWS]; regressors],
            outputs: vec![[0.0; ROWS]; outputs],
            activations: Vec::new(),
            slopes: Vec::new(),
            of_rows: Vec::new(),
        }
    }

    /// Computes the outputs from the regressors.
    pub(crate) fn forecast(&mut self, network: &Network) {
        self.activations.resize(network.shape().hidden, [0.0; ROWS]);
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("avx512dq") {
                // SAFETY: the processor has just been found to have both.
                #[allow(unsafe_code)]
                return unsafe { forecast_avx512(self, network) };
            }
            if has!("avx2") && has!("fma") {
                // SAFETY: the processor has just been found to have both.
                #[allow(unsafe_code)]
                return unsafe { forecast_avx2(self, network) };
            }
        }
        forecast(self, network);
    }

    /// Computes the outputs, and the derivatives of output `o` by the weights as rows of `jacobian`,
    /// each `stride` long; as many rows as there is room for. Values beyond the weights are left
    /// alone.
    pub(crate) fn linearise(
        &mut self,
        network: &Network,
        o: usize,
        jacobian: &mut [f64],
        stride: usize,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has just been found to have both.
            #[allow(unsafe_code)]
            return unsafe { linearise_avx2(self, network, o, jacobian, stride) };
        }
        linearise(self, network, o, jacobian, stride);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn forecast_avx512(block: &mut Block, network: &Network) {
    forecast(block, network);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn forecast_avx2(block: &mut Block, network: &Network) {
    forecast(block, network);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn linearise_avx2(
    block: &mut Block,
    network: &Network,
    o: usize,
    jacobian: &mut [f64],
    stride: usize,
) {
    linearise(block, network, o, jacobian, stride);
}

#[inline(always)]
fn forecast(block: &mut Block, network: &Network) {
    for (unit, activations) in block.activations.iter_mut().enumerate() {
        let (mut sums, mut others) = ([network.hidden_bias(unit); ROWS], [0.0; ROWS]);
        let (pairs, last) = block.regressors.as_chunks::<2>();
        for (pair, [even, odd]) in pairs.iter().enumerate() {
            add_product(network.hidden_weight(2 * pair, unit), even, &mut sums);
            add_product(network.hidden_weight(2 * pair + 1, unit), odd, &mut others);
        }
        for x in last {
            add_product(network.hidden_weight(2 * pairs.len(), unit), x, &mut sums);
        }
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum = tanh(*sum + other);
        }
        *activations = sums;
    }
    for (o, output) in block.outputs.iter_mut().enumerate() {
        let mut sums = [[0.0; ROWS]; LANES];
        for (unit, activations) in block.activations.iter().enumerate() {
            add_product(
                network.output_weight(o, unit),
                activations,
                &mut sums[unit % LANES],
            );
        }
        if network.has_direct() {
            for (d, x) in block.regressors.iter().enumerate() {
                add_product(network.direct_weight(o, d), x, &mut sums[d % LANES]);
            }
        }
        let bias = network.output_bias(o);
        for (row, output) in output.iter_mut().enumerate() {
            *output = (sums[0][row] + sums[2][row]) + (sums[1][row] + sums[3][row]) + bias;
        }
    }
}

#[inline(always)]
fn add_product(weight: f64, x: &Strip, sums: &mut Strip) {
    for (sum, x) in sums.iter_mut().zip(x) {
        *sum = weight.mul_add(*x, *sum);
    }
}

#[inline(always)]
fn linearise(block: &mut Block, network: &Network, o: usize, jacobian: &mut [f64], stride: usize) {
    let (shape, places) = (network.shape(), network.places());
    let hidden = shape.hidden;
    block.slopes.resize(hidden, [0.0; ROWS]);
    for (unit, slopes) in block.slopes.iter_mut().enumerate() {
        let weight = network.output_weight(o, unit);
        for (slope, a) in slopes.iter_mut().zip(&block.activations[unit]) {
            *slope = weight * (1.0 - a * a);
        }
    }
    // Row after row from here on, as the normal equations want it.
    block.of_rows.resize(2 * hidden * ROWS, 0.0);
    for unit in 0..hidden {
        for row in 0..ROWS {
            block.of_rows[row * 2 * hidden + unit] = block.slopes[unit][row];
            block.of_rows[row * 2 * hidden + hidden + unit] = block.activations[unit][row];
        }
    }
    for (row, derivatives) in jacobian.chunks_exact_mut(stride).enumerate() {
        let of_row = &block.of_rows[row * 2 * hidden..(row + 1) * 2 * hidden];
        let (slopes, activations) = of_row.split_at(hidden);
        if shape.outputs > 1 {
            derivatives[places.output..places.end].fill(0.0);
        }
        if hidden > 0 {
            let incoming = derivatives[..places.hidden_bias].chunks_exact_mut(hidden);
            for (incoming, x) in incoming.zip(&block.regressors) {
                for (derivative, slope) in incoming.iter_mut().zip(slopes) {
                    *derivative = slope * x[row];
                }
            }
            derivatives[places.hidden_bias..places.output].copy_from_slice(slopes);
            derivatives[places.output + o * hidden..][..hidden].copy_from_slice(activations);
        }
        if places.direct < places.output_bias {
            let direct = &mut derivatives[places.direct + o * shape.regressors..];
            for (derivative, x) in direct.iter_mut().zip(&block.regressors) {
                *derivative = x[row];
            }
        }
        derivatives[places.output_bias + o] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Skip;
    use crate::network::{Scratch, Shape};

    #[test]
    fn gives_the_bits_that_each_row_gives_alone() {
        for skip in [Skip::None, Skip::Linear, Skip::LastValue] {
            for (hidden, outputs) in [(1, 1), (10, 1), (21, 2)] {
                let shape = Shape {
                    regressors: 7,
                    hidden,
                    outputs,
                    skip,
                };
                let value = |i: usize| ((i * 29 + 7) % 31) as f64 / 10.3 - 1.4;
                let weights: Vec<f64> = (0..shape.weights()).map(value).collect();
                let network = Network::new(shape, &weights, &vec![Some(2); outputs]);
                let mut block = Block::new(7, outputs);
                for (d, strip) in block.regressors.iter_mut().enumerate() {
                    for (row, x) in strip.iter_mut().enumerate() {
                        *x = value(d * 41 + row * 3) * 2.0;
                    }
                }
                block.forecast(&network);
                for o in 0..outputs {
                    let count = weights.len();
                    let mut jacobian = vec![0.0; ROWS * count];
                    block.linearise(&network, o, &mut jacobian, count);
                    for row in 0..ROWS {
                        let x: Vec<f64> = block.regressors.iter().map(|x| x[row]).collect();
                        let mut scratch = Scratch::of(&network);
                        let (mut alone, mut derivatives) =
                            (vec![0.0; outputs], vec![0.0; outputs * count]);
                        network.linearise(&x, &mut scratch, &mut alone, &mut derivatives, count);
                        assert_eq!(block.outputs[o][row].to_bits(), alone[o].to_bits());
                        let expected = &derivatives[o * count..(o + 1) * count];
                        assert_eq!(&jacobian[row * count..(row + 1) * count], expected);
                    }
                }
            }
        }
    }
}
