use super::tanh::tanh;
use super::{Places, Shape};
use crate::config::Skip;

/// How many hidden units stand side by side.
pub(crate) const LANES: usize = 4;

/// Values of hidden units, filled up with zeros.
pub(crate) type Lanes = [f64; LANES];

/// A network with its weights laid out for evaluation.
///
/// Every result of the crate goes through the same sums in the same order, so training, batch and
/// live forecasts agree to the last bit. Products are fused with the addition that follows them, on
/// processors without such an instruction by a slower routine: the results stay the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Network {
    shape: Shape,
    weights: Vec<f64>,
    /// Per group of `LANES` hidden units: their biases, then per regressor their weights.
    hidden: Vec<Lanes>,
    /// Per output: the weights of the groups of hidden units.
    output: Vec<Lanes>,
    /// Per output: the direct weights in groups of `LANES` regressors; empty without any.
    direct: Vec<Lanes>,
    output_bias: Vec<f64>,
}

impl Network {
    /// A network with the given trained weights. `last_values[o]` is the regressor that holds the
    /// last value of output o, used by [`Skip::LastValue`] only.
    pub(crate) fn new(shape: Shape, weights: &[f64], last_values: &[Option<usize>]) -> Self {
        let groups = shape.hidden.div_ceil(LANES);
        let direct_groups = match shape.skip {
            Skip::None => 0,
            Skip::Linear | Skip::LastValue => shape.regressors.div_ceil(LANES),
        };
        let mut network = Self {
            shape,
            weights: Vec::new(),
            hidden: vec![[0.0; LANES]; groups * (shape.regressors + 1)],
            output: vec![[0.0; LANES]; groups * shape.outputs],
            direct: vec![[0.0; LANES]; direct_groups * shape.outputs],
            output_bias: vec![0.0; shape.outputs],
        };
        if shape.skip == Skip::LastValue {
            for (o, regressor) in last_values.iter().enumerate() {
                let Some(d) = *regressor else { continue };
                network.direct[o * direct_groups + d / LANES][d % LANES] = 1.0;
            }
        }
        network.set_weights(weights);
        network
    }

    /// The network whose outputs are the mean of those of `networks`, which are of one kind.
    pub(crate) fn average(networks: &[Self]) -> Self {
        let first = &networks[0];
        if networks.len() == 1 {
            return first.clone();
        }
        let hidden = first.shape.hidden * networks.len();
        let shape = Shape {
            hidden,
            ..first.shape
        };
        let (places, old) = (shape.places(), first.shape.places());
        let share = 1.0 / networks.len() as f64;
        let mut weights = vec![0.0; places.end];
        for (n, network) in networks.iter().enumerate() {
            let (from, units) = (&network.weights, first.shape.hidden);
            let offset = n * units;
            for row in 0..=shape.regressors {
                weights[row * hidden + offset..][..units]
                    .copy_from_slice(&from[row * units..][..units]);
            }
            for o in 0..shape.outputs {
                for unit in 0..units {
                    weights[places.output + o * hidden + offset + unit] =
                        share * from[old.output + o * units + unit];
                }
            }
            for (sum, value) in weights[places.direct..].iter_mut().zip(&from[old.direct..]) {
                *sum += share * value;
            }
        }
        let mut average = first.clone();
        let groups = hidden.div_ceil(LANES);
        average.shape = shape;
        average.hidden = vec![[0.0; LANES]; groups * (shape.regressors + 1)];
        average.output = vec![[0.0; LANES]; groups * shape.outputs];
        average.set_weights(&weights);
        average
    }

    pub(crate) fn set_weights(&mut self, weights: &[f64]) {
        let Shape {
            regressors,
            hidden,
            outputs,
            skip,
        } = self.shape;
        let places = self.shape.places();
        assert_eq!(weights.len(), places.end, "one value for each weight");
        self.weights.clear();
        self.weights.extend_from_slice(weights);
        let groups = hidden.div_ceil(LANES);
        for unit in 0..hidden {
            let (group, lane) = (unit / LANES, unit % LANES);
            let start = group * (regressors + 1);
            self.hidden[start][lane] = weights[places.hidden_bias + unit];
            for d in 0..regressors {
                self.hidden[start + 1 + d][lane] = weights[d * hidden + unit];
            }
            for o in 0..outputs {
                self.output[o * groups + group][lane] = weights[places.output + o * hidden + unit];
            }
        }
        if skip == Skip::Linear {
            let direct_groups = regressors.div_ceil(LANES);
            for o in 0..outputs {
                for d in 0..regressors {
                    self.direct[o * direct_groups + d / LANES][d % LANES] =
                        weights[places.direct + o * regressors + d];
                }
            }
        }
        self.output_bias
            .copy_from_slice(&weights[places.output_bias..]);
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The trained weights, in the order of [`Places`].
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(crate) fn places(&self) -> Places {
        self.shape.places()
    }

    /// Room for the values of the hidden units.
    pub(crate) fn room(&self) -> Vec<Lanes> {
        vec![[0.0; LANES]; self.shape.hidden.div_ceil(LANES)]
    }

    pub(crate) fn hidden_bias(&self, unit: usize) -> f64 {
        self.hidden[unit / LANES * (self.shape.regressors + 1)][unit % LANES]
    }

    /// The weight from regressor `d` to a hidden unit.
    pub(crate) fn hidden_weight(&self, d: usize, unit: usize) -> f64 {
        self.hidden[unit / LANES * (self.shape.regressors + 1) + 1 + d][unit % LANES]
    }

    /// The weight from a hidden unit to output `o`.
    pub(crate) fn output_weight(&self, o: usize, unit: usize) -> f64 {
        self.output[o * self.shape.hidden.div_ceil(LANES) + unit / LANES][unit % LANES]
    }

    pub(crate) fn output_bias(&self, o: usize) -> f64 {
        self.output_bias[o]
    }

    pub(crate) fn has_direct(&self) -> bool {
        !self.direct.is_empty()
    }

    /// The weight of the direct connection from regressor `d` to output `o`, trained or not.
    pub(crate) fn direct_weight(&self, o: usize, d: usize) -> f64 {
        let groups = self.direct.len() / self.shape.outputs;
        let group = self.direct[o * groups..(o + 1) * groups].get(d / LANES);
        group.map_or(0.0, |group| group[d % LANES])
    }

    /// The first output for the regressors `x`.
    pub(crate) fn first_output(&self, x: &[f64]) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has just been found to have both.
            #[allow(unsafe_code)]
            return unsafe { first_output_avx2(self, x) };
        }
        first_output(self, x)
    }

    /// All outputs for the regressors `x`; `activations` takes the values of the hidden units,
    /// a slice as made by [`room`](Self::room).
    pub(crate) fn outputs(&self, x: &[f64], activations: &mut [Lanes], out: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has just been found to have both.
            #[allow(unsafe_code)]
            return unsafe { outputs_avx2(self, x, activations, out) };
        }
        outputs(self, x, activations, out);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn first_output_avx2(network: &Network, x: &[f64]) -> f64 {
    first_output(network, x)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn outputs_avx2(network: &Network, x: &[f64], activations: &mut [Lanes], out: &mut [f64]) {
    outputs(network, x, activations, out);
}

/// Groups of hidden units that are worked on at a time.
const CHUNK: usize = 4;

#[inline(always)]
fn first_output(network: &Network, x: &[f64]) -> f64 {
    let stride = network.shape.regressors + 1;
    let mut sums = [0.0; LANES];
    let mut hidden = network.hidden.as_slice();
    let groups = network.shape.hidden.div_ceil(LANES);
    for output in network.output[..groups].chunks(CHUNK) {
        let mut units = [[0.0; LANES]; CHUNK];
        let units = &mut units[..output.len()];
        let (weights, rest) = hidden.split_at(stride * units.len());
        hidden = rest;
        activate(weights, stride, x, units);
        for (weights, units) in output.iter().zip(units) {
            multiply_add(weights, units, &mut sums);
        }
    }
    direct(&network.direct, x, &mut sums);
    total(sums) + network.output_bias[0]
}

#[inline(always)]
pub(super) fn outputs(network: &Network, x: &[f64], activations: &mut [Lanes], out: &mut [f64]) {
    let stride = network.shape.regressors + 1;
    activate(&network.hidden, stride, x, activations);
    let groups = activations.len();
    let direct_groups = network.direct.len() / network.shape.outputs;
    for (o, out) in out.iter_mut().enumerate() {
        let mut sums = [0.0; LANES];
        let weights = &network.output[o * groups..(o + 1) * groups];
        for (weights, activations) in weights.iter().zip(&*activations) {
            multiply_add(weights, activations, &mut sums);
        }
        let weights = &network.direct[o * direct_groups..(o + 1) * direct_groups];
        direct(weights, x, &mut sums);
        *out = total(sums) + network.output_bias[o];
    }
}

/// The values of groups of hidden units.
#[inline(always)]
fn activate(mut weights: &[Lanes], stride: usize, x: &[f64], units: &mut [Lanes]) {
    // Not `chunks_exact`, which divides by the stride: that takes as long as a whole group.
    for sums in &mut *units {
        let (of_group, rest) = weights.split_at(stride);
        weights = rest;
        // Two sums, so that a product waits for half as many before it.
        let mut others = [0.0; LANES];
        *sums = of_group[0];
        let (pairs, last) = of_group[1..].as_chunks::<2>();
        let (x_pairs, x_last) = x.as_chunks::<2>();
        for ([even, odd], [x_even, x_odd]) in pairs.iter().zip(x_pairs) {
            multiply_add(even, &[*x_even; LANES], sums);
            multiply_add(odd, &[*x_odd; LANES], &mut others);
        }
        for (weights, x) in last.iter().zip(x_last) {
            multiply_add(weights, &[*x; LANES], sums);
        }
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum += other;
        }
    }
    // One loop over all of them, which is what a compiler turns into the widest vectors.
    for unit in units.as_flattened_mut() {
        *unit = tanh(*unit);
    }
}

#[inline(always)]
fn direct(weights: &[Lanes], x: &[f64], sums: &mut Lanes) {
    for (weights, x) in weights.iter().zip(x.chunks(LANES)) {
        let mut lanes = [0.0; LANES];
        lanes[..x.len()].copy_from_slice(x);
        multiply_add(weights, &lanes, sums);
    }
}

#[inline(always)]
fn multiply_add(a: &Lanes, b: &Lanes, sums: &mut Lanes) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum = a.mul_add(*b, *sum);
    }
}

#[inline(always)]
fn total(sums: Lanes) -> f64 {
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}
