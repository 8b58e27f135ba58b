use std::str::FromStr;

use lbbsp::narx::{Input, Series};

use crate::error::Error;
use crate::worker_names::plain;

const TARGET_LAGS: [usize; 2] = [1, 2];
const INPUT_LAGS: [usize; 2] = [0, 1];

/// Most that a lag may be, as in the library.
const LONGEST: usize = 1_000_000;
/// Most lags of one column.
const MOST: usize = 1000;

/// The lags of one column, as in `speed=1..4` or `cpu=0+1+24`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnLags {
    pub(crate) column: String,
    /// Rising; none takes the column's past out of the model.
    pub(crate) lags: Vec<usize>,
}

impl FromStr for ColumnLags {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A column's name may have a sign in it, the lags have none.
        let (column, lags) = text
            .rsplit_once('=')
            .ok_or("it should be like speed=1..4, cpu=0 or cpu=0+1+24")?;
        let column = column.trim().to_owned();
        if column.is_empty() {
            return Err("the column's name is missing".to_owned());
        }
        let mut all = Vec::new();
        if lags.trim() != "none" {
            for part in lags.split('+') {
                all.extend(part_of(part.trim())?);
                if all.len() > MOST {
                    return Err(format!("a column may have {MOST} lags at most"));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(Self { column, lags: all })
    }
}

/// One lag, or all from one to another.
fn part_of(text: &str) -> Result<std::ops::RangeInclusive<usize>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (lag(first)?, lag(last)?);
    if first > last {
        return Err(format!(
            "{first}..{last} has no lags, the smaller one comes first"
        ));
    }
    if last - first >= MOST {
        return Err(format!("a column may have {MOST} lags at most"));
    }
    Ok(first..=last)
}

fn lag(text: &str) -> Result<usize, String> {
    let lag = text
        .trim()
        .parse()
        .ok()
        .filter(|&lag: &usize| lag <= LONGEST);
    lag.ok_or_else(|| {
        let got = plain(text);
        format!("`{got}` is no lag, which is a whole number from 0 to {LONGEST}")
    })
}

/// The lags of the outputs, which they share, and those of the inputs in use.
pub(crate) fn of_series(
    series: &Series,
    given: &[ColumnLags],
) -> Result<(Vec<usize>, Vec<Input>), Error> {
    for (place, ColumnLags { column, .. }) in given.iter().enumerate() {
        let known = series.outputs().iter().chain(series.inputs());
        let known: Vec<String> = known.map(|name| plain(name)).collect();
        if !series.outputs().contains(column) && !series.inputs().contains(column) {
            let column = plain(column);
            return Err(Error::LagsOfUnknown { column, known });
        }
        if given[..place].iter().any(|other| other.column == *column) {
            let column = plain(column);
            return Err(Error::LagsTwice { column });
        }
    }
    let of = |name: &String| given.iter().find(|it| it.column == *name);
    let of_outputs: Vec<&ColumnLags> = series.outputs().iter().filter_map(of).collect();
    if let Some(pair) = of_outputs
        .windows(2)
        .find(|pair| pair[0].lags != pair[1].lags)
    {
        let names = [&pair[0].column, &pair[1].column].map(|name| plain(name));
        return Err(Error::LagsDiffer { names });
    }
    if let Some(it) = of_outputs.iter().find(|it| it.lags.first() == Some(&0)) {
        let column = plain(&it.column);
        return Err(Error::LagZero { column });
    }
    let output = of_outputs
        .first()
        .map_or(TARGET_LAGS.to_vec(), |it| it.lags.clone());
    let input = |name: &String| {
        let lags = of(name).map_or(INPUT_LAGS.to_vec(), |it| it.lags.clone());
        Input::new(name, lags)
    };
    let inputs = series.inputs().iter().map(input);
    Ok((
        output,
        inputs.filter(|input| !input.lags.is_empty()).collect(),
    ))
}

/// Lags in words, such as `lags 1 to 4 and 24`.
pub(crate) fn in_words(lags: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &lag in lags {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == lag => *last = lag,
            _ => runs.push((lag, lag)),
        }
    }
    let run = |&(first, last): &(usize, usize)| match last - first {
        0 => vec![first.to_string()],
        1 => vec![first.to_string(), last.to_string()],
        _ => vec![format!("{first} to {last}")],
    };
    let parts: Vec<String> = runs.iter().flat_map(run).collect();
    match parts.split_last() {
        None => "no lags".to_owned(),
        Some((only, [])) if lags.len() == 1 => format!("lag {only}"),
        Some((only, [])) => format!("lags {only}"),
        Some((last, others)) => format!("lags {} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lags(text: &str) -> Vec<usize> {
        text.parse::<ColumnLags>().unwrap().lags
    }

    #[test]
    fn lags_are_ranges_and_lists() {
        assert_eq!(lags("speed=1..4"), [1, 2, 3, 4]);
        assert_eq!(lags("speed=24+1..2"), [1, 2, 24]);
        assert_eq!(lags(" cpu = 0 + 3 "), [0, 3]);
        assert_eq!(lags("cpu=2+1..3+2"), [1, 2, 3]);
        assert!(lags("cpu=none").is_empty());
        let odd: ColumnLags = "a=b=1".parse().unwrap();
        assert_eq!((odd.column.as_str(), odd.lags), ("a=b", vec![1]));
    }

    #[test]
    fn all_else_is_refused() {
        for (text, says) in [
            ("speed", "like speed=1..4"),
            ("=1", "name is missing"),
            ("speed=", "`` is no lag"),
            ("speed=1+", "`` is no lag"),
            ("speed=-1", "`-1` is no lag"),
            ("speed=1...3", "`.3` is no lag"),
            ("speed=4..1", "no lags"),
            ("speed=1000001", "to 1000000"),
            ("speed=0..1000000", "1000 lags at most"),
            ("speed=0..999+5000", "1000 lags at most"),
        ] {
            let refused = text.parse::<ColumnLags>().unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }

    #[test]
    fn lags_read_like_a_sentence() {
        assert_eq!(in_words(&[1]), "lag 1");
        assert_eq!(in_words(&[0, 1]), "lags 0 and 1");
        assert_eq!(in_words(&[1, 2, 3, 24]), "lags 1 to 3 and 24");
        assert_eq!(in_words(&[1, 2, 3]), "lags 1 to 3");
        assert_eq!(in_words(&[]), "no lags");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn any_text_is_lags_or_refused(text in "[a=0-9.+, -]{0,24}|\\PC{0,12}|a=[0-9]{0,30}(\\.\\.[0-9]{0,30})?") {
            if let Ok(read) = text.parse::<ColumnLags>() {
                prop_assert!(read.lags.len() <= MOST);
                prop_assert!(read.lags.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(!in_words(&read.lags).is_empty());
            }
        }
    }
}
