/// A unit of time in which a number of seconds is easy to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    per_second: f64,
}

impl Unit {
    /// The unit for times of which `longest_s` is the longest.
    pub(crate) fn of(longest_s: f64) -> Self {
        let (name, per_second) = match longest_s {
            s if s >= 10.0 => ("s", 1.0),
            s if s >= 1e-3 => ("ms", 1e3),
            _ => ("µs", 1e6),
        };
        Self { name, per_second }
    }

    pub(crate) fn convert(self, seconds: f64) -> f64 {
        seconds * self.per_second
    }

    /// A time as text, without the unit.
    pub(crate) fn format(self, seconds: f64) -> String {
        decimal(self.convert(seconds))
    }

    /// A time as text of three digits or so, without the unit.
    pub(crate) fn short(self, seconds: f64) -> String {
        let value = self.convert(seconds);
        match value.abs() {
            v if v >= 1e4 || (v > 0.0 && v < 1e-2) => format!("{value:.1e}"),
            v if v >= 100.0 => format!("{value:.0}"),
            v if v >= 10.0 => format!("{value:.1}"),
            _ => format!("{value:.2}"),
        }
    }
}

/// Five digits or so, and never a row of zeros hundreds long.
fn decimal(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if !(1e-3..1e7).contains(&v) => format!("{value:.3e}"),
        v if v >= 1000.0 => format!("{value:.1}"),
        v if v >= 100.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A number of any size as text, of four digits or more.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if !(1e-4..1e7).contains(&v) => format!("{value:.3e}"),
        v if v >= 1000.0 => format!("{value:.1}"),
        v => {
            let digits = (3.0 - v.log10().floor()) as usize;
            format!("{value:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        for (value, shown) in [
            (0.0, "0"),
            (12_345.67, "12345.7"),
            (123.456, "123.5"),
            (-1.234_56, "-1.235"),
            (0.003_123_4, "0.003123"),
            (1.5e-7, "1.500e-7"),
            (f64::MAX, "1.798e308"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn times_are_shown_in_a_unit_that_fits() {
        let shown = |seconds| {
            let unit = Unit::of(seconds);
            format!("{} {}", unit.format(seconds), unit.name)
        };
        assert_eq!(shown(1.219_06), "1219.1 ms");
        assert_eq!(shown(0.02), "20.000 ms");
        assert_eq!(shown(12.0), "12.000 s");
        assert_eq!(shown(2.5e-5), "25.000 µs");
        assert_eq!(shown(1e200), "1.000e200 s");
        assert_eq!(shown(0.0), "0 µs");
    }
}
