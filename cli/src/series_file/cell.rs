/// How logs write that there is no value, besides NaN, infinities and nothing at all.
const MISSING: [&str; 6] = ["NA", "N/A", "null", "none", "-", "?"];

/// The number in a cell, NaN if its value is missing; None if it holds anything else.
pub(super) fn value(cell: &str, decimal_comma: bool) -> Option<f64> {
    if let Some(number) = number(cell, decimal_comma) {
        return Some(if number.is_finite() { number } else { f64::NAN });
    }
    let is_cell = |text: &&str| text.eq_ignore_ascii_case(cell);
    (cell.is_empty() || MISSING.iter().any(is_cell)).then_some(f64::NAN)
}

/// The number in a cell, which may be NaN or infinite.
pub(super) fn number(cell: &str, decimal_comma: bool) -> Option<f64> {
    let with_comma = || {
        let point = cell.replacen(',', ".", 1);
        decimal_comma.then(|| point.parse().ok()).flatten()
    };
    cell.parse().ok().or_else(with_comma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_have_many_names() {
        let names = "|NaN|nan|NAN|-nan|NA|na|N/A|n/a|null|NULL|None|none|-|?|inf|-inf|+Inf|INF|Infinity|-infinity|1e999";
        for cell in names.split('|') {
            for decimal_comma in [false, true] {
                let value = value(cell, decimal_comma);
                assert!(value.is_some_and(f64::is_nan), "{cell}: {value:?}");
            }
        }
    }

    #[test]
    fn numbers_are_those_of_rust() {
        for (cell, expected) in [
            ("0", 0.0),
            ("-1.5", -1.5),
            ("+2", 2.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-3", 1e-3),
            ("1E3", 1e3),
        ] {
            assert_eq!(value(cell, false), Some(expected), "{cell}");
            assert_eq!(value(cell, true), Some(expected), "{cell}");
        }
        for cell in [
            "fast", "1 2", "1_000", "0x10", "--", "1,5,2", "1.000,5", "True", ",",
        ] {
            assert_eq!(value(cell, false), None, "{cell}");
            assert_eq!(value(cell, true), None, "{cell}");
        }
    }

    #[test]
    fn a_decimal_comma_counts_where_it_separates_nothing() {
        assert_eq!(value("1,5", true), Some(1.5));
        assert_eq!(value("-1,5e2", true), Some(-150.0));
        assert_eq!(value("1,5", false), None);
    }
}
