use super::evaluate::{Lanes, Network, outputs};

impl Network {
    /// The forecasts from the regressors `x` and their derivatives by the weights: for each output
    /// `forecasts` takes one value and `jacobian` one row of `stride` values, of which those beyond
    /// the weights are left alone.
    pub(crate) fn linearise(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        forecasts: &mut [f64],
        jacobian: &mut [f64],
        stride: usize,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has just been found to have both.
            #[allow(unsafe_code)]
            return unsafe { linearise_avx2(self, x, scratch, forecasts, jacobian, stride) };
        }
        linearise(self, x, scratch, forecasts, jacobian, stride);
    }

    /// The derivatives of output `o` by the regressors, at the activations that `scratch` holds
    /// from the last call of [`linearise`](Self::linearise).
    pub(crate) fn gradient(&self, o: usize, scratch: &Scratch, out: &mut [f64]) {
        let (shape, weights, places) = (self.shape(), self.weights(), self.places());
        let output = &weights[places.output + o * shape.hidden..][..shape.hidden];
        for (k, slope) in out.iter_mut().enumerate() {
            let incoming = &weights[k * shape.hidden..][..shape.hidden];
            let mut sum = self.direct_weight(o, k);
            for ((w, v), a) in incoming
                .iter()
                .zip(output)
                .zip(scratch.activations.as_flattened())
            {
                sum += w * v * (1.0 - a * a);
            }
            *slope = sum;
        }
    }
}

/// Room for the intermediate values of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    activations: Vec<Lanes>,
    slopes: Vec<f64>,
}

impl Scratch {
    pub(crate) fn of(network: &Network) -> Self {
        let hidden = network.shape().hidden;
        Self {
            activations: network.room(),
            slopes: vec![0.0; hidden],
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn linearise_avx2(
    network: &Network,
    x: &[f64],
    scratch: &mut Scratch,
    forecasts: &mut [f64],
    jacobian: &mut [f64],
    stride: usize,
) {
    linearise(network, x, scratch, forecasts, jacobian, stride);
}

#[inline(always)]
fn linearise(
    network: &Network,
    x: &[f64],
    scratch: &mut Scratch,
    forecasts: &mut [f64],
    jacobian: &mut [f64],
    stride: usize,
) {
    outputs(network, x, &mut scratch.activations, forecasts);
    for (o, row) in jacobian.chunks_exact_mut(stride).enumerate() {
        derivatives(network, x, o, scratch, row);
    }
}

#[inline(always)]
fn derivatives(network: &Network, x: &[f64], o: usize, scratch: &mut Scratch, row: &mut [f64]) {
    let (shape, places) = (network.shape(), network.places());
    let hidden = shape.hidden;
    let output = &network.weights()[places.output + o * hidden..][..hidden];
    let activations = &scratch.activations.as_flattened()[..hidden];
    let slopes = &mut scratch.slopes;
    for ((slope, v), a) in slopes.iter_mut().zip(output).zip(activations) {
        *slope = v * (1.0 - a * a);
    }
    if shape.outputs > 1 {
        row[places.output..places.end].fill(0.0);
    }
    if hidden > 0 {
        for (incoming, x) in row[..places.hidden_bias].chunks_exact_mut(hidden).zip(x) {
            for (derivative, slope) in incoming.iter_mut().zip(&*slopes) {
                *derivative = slope * x;
            }
        }
        row[places.hidden_bias..places.output].copy_from_slice(slopes);
        row[places.output + o * hidden..][..hidden].copy_from_slice(activations);
    }
    if places.direct < places.output_bias {
        row[places.direct + o * shape.regressors..][..shape.regressors].copy_from_slice(x);
    }
    row[places.output_bias + o] = 1.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Skip;
    use crate::network::Shape;

    fn network(outputs: usize, skip: Skip) -> Network {
        let shape = Shape {
            regressors: 3,
            hidden: 5,
            outputs,
            skip,
        };
        let weights: Vec<f64> = (0..shape.weights())
            .map(|i| ((i * 29 + 7) % 31) as f64 / 20.0 - 0.75)
            .collect();
        Network::new(shape, &weights, &vec![Some(0); outputs])
    }

    /// (f(z + h) − f(z − h)) / 2h at every weight and every regressor, against the formulas.
    #[test]
    fn derivatives_agree_with_finite_differences() {
        const H: f64 = 1e-5;
        let x = [0.3, -0.8, 1.1];
        for skip in [Skip::None, Skip::Linear, Skip::LastValue] {
            for outputs in [1, 2] {
                let network = network(outputs, skip);
                let count = network.weights().len();
                let mut scratch = Scratch::of(&network);
                let (mut forecasts, mut jacobian) =
                    (vec![0.0; outputs], vec![0.0; outputs * count]);
                network.linearise(&x, &mut scratch, &mut forecasts, &mut jacobian, count);
                let at = |network: &Network, x: &[f64], o: usize| {
                    let mut all = vec![0.0; outputs];
                    network.outputs(x, &mut network.room(), &mut all);
                    all[o]
                };
                for o in 0..outputs {
                    assert_eq!(forecasts[o], at(&network, &x, o));
                    for w in 0..count {
                        let moved = |by: f64| {
                            let mut weights = network.weights().to_vec();
                            weights[w] += by;
                            let mut network = network.clone();
                            network.set_weights(&weights);
                            at(&network, &x, o)
                        };
                        let slope = (moved(H) - moved(-H)) / (2.0 * H);
                        approx::assert_abs_diff_eq!(jacobian[o * count + w], slope, epsilon = 1e-8);
                    }
                    let mut gradient = [0.0; 3];
                    network.gradient(o, &scratch, &mut gradient);
                    for k in 0..3 {
                        let moved = |by: f64| {
                            let mut x = x;
                            x[k] += by;
                            at(&network, &x, o)
                        };
                        let slope = (moved(H) - moved(-H)) / (2.0 * H);
                        approx::assert_abs_diff_eq!(gradient[k], slope, epsilon = 1e-8);
                    }
                }
                assert_eq!(network.first_output(&x).to_bits(), forecasts[0].to_bits());
            }
        }
    }
}
