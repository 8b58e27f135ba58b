const DAY_S: f64 = 86_400.0;

/// Seconds since 1970 of an ISO 8601 date with or without a time of day, such as
/// `2013-07-01T00:05:00.25+02:00`; of Greenwich where it says nothing else.
///
/// Read by hand: the one form is all that is needed, and a library for dates brings time zones.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let (date, rest) = text.split_at_checked("2013-07-01".len())?;
    let day_s = days(date)? as f64 * DAY_S;
    if rest.is_empty() {
        return Some(day_s);
    }
    let (clock, zone) = split_zone(rest.strip_prefix(['T', 't', ' '])?);
    Some(day_s + clock_seconds(clock)? - zone_seconds(zone)?)
}

/// Days since 1970, by the calendar of today.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let year = i64::from(digits(year, 4)?);
    let (month, day) = (digits(month, 2)?, digits(day, 2)?);
    if !(1..=12).contains(&month) || !(1..=month_days(year, month)).contains(&day) {
        return None;
    }
    let before: u32 = (1..month).map(|month| month_days(year, month)).sum();
    Some(new_year(year) - new_year(1970) + i64::from(before + day - 1))
}

/// Days from the beginning of year 1 to that of a year from 0 on.
fn new_year(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400)
}

fn month_days(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The time of day and what follows it: nothing, `Z`, or the hours ahead of Greenwich.
fn split_zone(text: &str) -> (&str, &str) {
    let zone = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    text.split_at(zone)
}

/// `00:05`, `00:05:00` or `00:05:00.25`, also with the comma of Python's logs.
fn clock_seconds(clock: &str) -> Option<f64> {
    let (hours, rest) = clock.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
    let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
    let hours = digits(hours, 2).filter(|&hours| hours < 24)?;
    let minutes = digits(minutes, 2).filter(|&minutes| minutes < 60)?;
    // A minute may have a leap second.
    let whole = if rest.contains(':') {
        digits(whole, 2).filter(|&seconds| seconds <= 60)?
    } else {
        0
    };
    let fraction: f64 = all_digits(fraction).then(|| format!("0.{fraction}").parse().ok())??;
    Some(f64::from((hours * 60 + minutes) * 60 + whole) + fraction)
}

/// Seconds ahead of Greenwich: of `+02:00`, `+0200` or `+02`.
fn zone_seconds(zone: &str) -> Option<f64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0.0);
    }
    let ahead = zone.strip_prefix('+');
    let (hours, rest) = ahead.or(zone.strip_prefix('-'))?.split_at_checked(2)?;
    let hours = digits(hours, 2).filter(|&hours| hours < 24)?;
    let minutes = match rest.strip_prefix(':').unwrap_or(rest) {
        "" if rest.is_empty() => 0,
        minutes => digits(minutes, 2).filter(|&minutes| minutes < 60)?,
    };
    let seconds = f64::from((hours * 60 + minutes) * 60);
    Some(if ahead.is_some() { seconds } else { -seconds })
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && all_digits(text)).then(|| text.parse().ok())?
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_are_seconds_since_1970() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("1970-01-01 00:00", 0.0),
            ("1969-12-31T23:59:59Z", -1.0),
            ("2013-07-01 00:05:00", 1_372_637_100.0),
            ("2013-07-01t00:05:00z", 1_372_637_100.0),
            ("2013-07-01T00:05:00.25", 1_372_637_100.25),
            ("2013-07-01 00:05:00,250", 1_372_637_100.25),
            ("2013-07-01T02:05:00+02:00", 1_372_637_100.0),
            ("2013-06-30T20:35:00-0330", 1_372_637_100.0),
            ("2013-07-01 01:05+01", 1_372_637_100.0),
            ("2000-02-29", 951_782_400.0),
            ("2016-12-31 23:59:60", 1_483_228_800.0),
            ("9999-12-31 23:59:59", 253_402_300_799.0),
            ("0000-01-01", -62_167_219_200.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn all_else_is_no_date() {
        for text in [
            "",
            "2013",
            "2013-7-1",
            "2013/07/01",
            "01.07.2013",
            "2013-02-29",
            "1900-02-29",
            "2013-13-01",
            "2013-00-01",
            "2013-01-00",
            "2013-01-01-",
            "2013-01-01T",
            "2013-01-01 ",
            "2013-01-01 00",
            "2013-01-01 24:00",
            "2013-01-01 00:60",
            "2013-01-01 00:00:61",
            "2013-01-01 0:00:00",
            "2013-01-01 00:00:",
            "2013-01-01 00:00:00.",
            "2013-01-01 00:00:00.-1",
            "2013-01-01 00:00:+1",
            "2013-01-01 00:00:00 UTC",
            "2013-01-01 00:00+",
            "2013-01-01 00:00+2",
            "2013-01-01 00:00+02:",
            "2013-01-01 00:00+02:0",
            "2013-01-01 00:00Zulu",
            "+013-01-01",
            "2013-01-0é",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut last = days("1895-12-31").unwrap();
        for year in 1896..=2104 {
            for month in 1..=12 {
                for day in 1..=month_days(year, month) {
                    let next = days(&format!("{year}-{month:02}-{day:02}"));
                    assert_eq!(next, Some(last + 1));
                    last += 1;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_a_date_or_none(text in "[-0-9]{4}-[0-9é]{2}-[0-9]{2}[T é]?[-0-9:.,+Zé]{0,12}") {
            if let Some(seconds) = seconds(&text) {
                prop_assert!(seconds.is_finite());
            }
        }
    }
}
