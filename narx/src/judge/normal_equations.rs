use nalgebra::{DMatrix, DVector};

/// How much of a column's square must be left once the columns before are taken out of it;
/// with less, its coefficient would be made of rounding.
const COLLINEAR: f64 = 1e-9;

/// Sums over rows of the products of every two columns. The last column is what the others are to
/// explain; in training rows, all have mean 0 and mean square 1 or are 0 throughout.
#[derive(Debug, Clone)]
pub(super) struct NormalEquations {
    products: DMatrix<f64>,
    rows: usize,
}

impl NormalEquations {
    /// No row yet, for `regressors` columns and the target.
    pub(super) fn new(regressors: usize) -> Self {
        Self {
            products: DMatrix::zeros(regressors + 1, regressors + 1),
            rows: 0,
        }
    }

    /// Adds rows, each a column of `block`: the regressors, then the target.
    pub(super) fn add(&mut self, block: &DMatrix<f64>) {
        self.products.gemm(1.0, block, &block.transpose(), 1.0);
        self.rows += block.ncols();
    }

    fn target(&self) -> usize {
        self.products.ncols() - 1
    }
}

/// A linear least-squares model of some of the columns.
#[derive(Debug, Clone)]
pub(super) struct Model {
    columns: Vec<usize>,
    /// L of the Cholesky factors L · Lᵀ of the products of these columns.
    factor: DMatrix<f64>,
    /// L⁻¹ · (products with the target).
    projection: DVector<f64>,
}

impl Model {
    /// The one without a column: it says 0.
    pub(super) fn empty() -> Self {
        Self {
            columns: Vec::new(),
            factor: DMatrix::zeros(0, 0),
            projection: DVector::zeros(0),
        }
    }

    /// The columns, in the order in which they joined.
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The model with one more column, fitted to `train`; `None` if that column tells nothing that
    /// the others do not. Takes O(k²) for k columns: a Cholesky factor grows by one row.
    pub(super) fn with(&self, column: usize, train: &NormalEquations) -> Option<Self> {
        let count = self.columns.len();
        let products = &train.products;
        let shared = DVector::from_fn(count, |i, _| products[(self.columns[i], column)]);
        let row = self.factor.solve_lower_triangular(&shared)?;
        let rest = products[(column, column)] - row.norm_squared();
        if rest.is_nan() || rest <= COLLINEAR * train.rows as f64 {
            return None;
        }
        let pivot = rest.sqrt();
        let target = products[(column, train.target())];
        let mut factor = self.factor.clone().resize(count + 1, count + 1, 0.0);
        factor
            .row_mut(count)
            .columns_mut(0, count)
            .tr_copy_from(&row);
        factor[(count, count)] = pivot;
        let last = (target - row.dot(&self.projection)) / pivot;
        Some(Self {
            columns: [self.columns.as_slice(), &[column]].concat(),
            factor,
            projection: self.projection.clone().insert_row(count, last),
        })
    }

    /// Root of the mean squared error over the rows of `judged`.
    pub(super) fn rmse(&self, judged: &NormalEquations) -> f64 {
        let (products, target) = (&judged.products, judged.target());
        let coefficients = self.coefficients();
        let of = |i: usize, with: usize| products[(self.columns[i], with)];
        let mut sum = products[(target, target)];
        for (i, a) in coefficients.iter().enumerate() {
            sum -= 2.0 * a * of(i, target);
            for (j, b) in coefficients.iter().enumerate() {
                sum += a * b * of(i, self.columns[j]);
            }
        }
        (sum.max(0.0) / judged.rows as f64).sqrt()
    }

    fn coefficients(&self) -> DVector<f64> {
        let solved = self.factor.tr_solve_lower_triangular(&self.projection);
        solved.expect("every pivot is positive")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns a, b, `share` · a + 0.6 · b, one without any value, and the target 2 a − b.
    fn sums(share: f64) -> NormalEquations {
        let mut sums = NormalEquations::new(4);
        for k in 0..50 {
            let (a, b) = (f64::from(k * 7 % 11) - 5.0, f64::from(k * 5 % 13) - 6.0);
            let row = [a, b, share * a + 0.6 * b, 0.0, 2.0 * a - b];
            sums.add(&DMatrix::from_column_slice(5, 1, &row));
        }
        sums
    }

    #[test]
    fn a_column_that_tells_nothing_new_is_refused() {
        for share in [0.1, 0.2, 0.3, 0.7, 0.9, 1.1] {
            let sums = sums(share);
            let both = Model::empty().with(0, &sums).unwrap();
            let both = both.with(1, &sums).unwrap();
            for column in 0..4 {
                assert!(both.with(column, &sums).is_none(), "{share}: {column}");
            }
            assert!(Model::empty().with(3, &sums).is_none());
        }
    }

    #[test]
    fn the_order_in_which_columns_join_does_not_matter() {
        let sums = sums(0.3);
        let of = |columns: &[usize]| {
            let grown = |model: Model, column: &usize| model.with(*column, &sums).unwrap();
            let model = columns.iter().fold(Model::empty(), grown);
            model.coefficients().iter().copied().collect::<Vec<f64>>()
        };
        for (columns, expected) in [([0, 1], [2.0, -1.0]), ([1, 0], [-1.0, 2.0])] {
            for (found, expected) in of(&columns).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found}");
            }
        }
        // 2 a - b = -5/3 (0.3 a + 0.6 b) + 2.5 a
        let found = of(&[2, 0]);
        assert!((found[0] + 5.0 / 3.0).abs() < 1e-12 && (found[1] - 2.5).abs() < 1e-12);
    }
}
