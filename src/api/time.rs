//! Points in time as Kubernetes writes them.

use std::fmt;

use serde_json::Value;

use super::codec::{Codec, CodecError};

/// Seconds since 1970-01-01T00:00:00Z, as in `metav1.Time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

const SECONDS_PER_DAY: i64 = 86_400;

impl Timestamp {
    /// Reads `2026-01-05T09:00:00Z`, with an optional fraction (cut) and an optional offset.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = text.get(from..to)?;
            digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
        if separators.iter().any(|&(at, byte)| bytes.get(at) != Some(&byte))
            || !matches!(bytes.get(10), Some(b'T' | b't' | b' '))
        {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let mut rest = text.get(19..)?;
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let offset_seconds = match rest {
            "Z" | "z" => 0,
            _ => {
                let at = text.len() - rest.len();
                let sign = match rest.as_bytes().first()? {
                    b'+' => 1,
                    b'-' => -1,
                    _ => return None,
                };
                if rest.len() != 6 || rest.as_bytes()[3] != b':' {
                    return None;
                }
                sign * (number(at + 1, at + 3)? * 3600 + number(at + 4, at + 6)? * 60)
            }
        };
        let days = days_from_civil(year, month, day);
        Some(Self(days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset_seconds))
    }

    /// What a letter of a format of `date` stands for, in UTC: `Y`, `m`, `d`, `H`, `M`, `S`, `a`, `b`, `e`, `F`, `T`, `Z`, `s` or
    /// `N`; `None` for other letters.
    pub fn part(self, letter: char) -> Option<String> {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        // 1970-01-01 was a Thursday.
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        // 2026-01-05T09:00:05Z
        let text = self.to_string();
        let cut = |from: usize, to: usize| text.get(from..to).map(str::to_string);
        let named = |names: &[&str], index: i64| {
            let name = usize::try_from(index).ok().and_then(|index| names.get(index));
            name.map(ToString::to_string)
        };
        match letter {
            'Y' => cut(0, 4),
            'm' => cut(5, 7),
            'd' => cut(8, 10),
            'H' => cut(11, 13),
            'M' => cut(14, 16),
            'S' => cut(17, 19),
            'F' => cut(0, 10),
            'T' => cut(11, 19),
            'a' => named(&DAYS, self.0.div_euclid(SECONDS_PER_DAY).rem_euclid(7)),
            'b' => named(&MONTHS, cut(5, 7)?.parse::<i64>().ok()? - 1),
            'e' => Some(format!("{:>2}", cut(8, 10)?.trim_start_matches('0'))),
            'Z' => Some("UTC".to_string()),
            's' => Some(self.0.to_string()),
            'N' => Some("000000000".to_string()),
            _ => None,
        }
    }

    /// Whole seconds from `earlier` to this.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, seconds) = (self.0.div_euclid(SECONDS_PER_DAY), self.0.rem_euclid(SECONDS_PER_DAY));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Days since 1970-01-01 of a day of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`].
pub(super) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl Codec for Timestamp {
    fn decode(value: Value) -> Result<Self, CodecError> {
        value
            .as_str()
            .and_then(Self::parse)
            .ok_or(CodecError::expected("a time such as 2026-01-05T09:00:00Z"))
    }
    fn encode(&self) -> Value {
        Value::String(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_a_format_of_date_asks_for() {
        let at = Timestamp::parse("2026-01-05T09:00:05Z").unwrap();
        let all: Vec<String> = "abeTZY".chars().filter_map(|letter| at.part(letter)).collect();
        assert_eq!(all.join(" "), "Mon Jan  5 09:00:05 UTC 2026");
        let all: Vec<String> = "FYmdHMSs".chars().filter_map(|letter| at.part(letter)).collect();
        assert_eq!(all.join(" "), "2026-01-05 2026 01 05 09 00 05 1767603605");
        assert_eq!(at.part('Q'), None);
    }

    #[test]
    fn times_read_and_write_alike() {
        for text in
            ["1970-01-01T00:00:00Z", "2026-01-05T09:00:00Z", "2024-02-29T23:59:59Z", "1999-12-31T00:00:01Z"]
        {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Timestamp::parse("1970-01-02T00:00:00Z"), Some(Timestamp(86_400)));
        assert_eq!(Timestamp::parse("1970-01-01T01:00:00.5+01:00"), Some(Timestamp(0)));
        assert_eq!(Timestamp::parse("yesterday"), None);
        assert_eq!(Timestamp::parse("2026-13-05T09:00:00Z"), None);
    }
}
