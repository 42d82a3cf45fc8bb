//! Spans of time: as kubectl prints ages, and as Go reads and writes durations.
//!
//! Models: `apimachinery/pkg/util/duration/duration.go`, Go's `time.ParseDuration` and `time.Duration.String`.
//! Leaves out: parts below a second, which a simulated clock does not have.

use crate::api::time::Timestamp;

/// An age in one or two units: `5s`, `2m10s`, `3h`, `2d4h`.
pub fn human(seconds: i64) -> String {
    let two = |large: i64, large_unit: char, small: i64, small_unit: char| match small {
        0 => format!("{large}{large_unit}"),
        _ => format!("{large}{large_unit}{small}{small_unit}"),
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match seconds {
        ..=-2 => "<invalid>".to_string(),
        -1 => "0s".to_string(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

/// The age of something that happened `then`.
pub fn age(then: Option<Timestamp>, now: Timestamp) -> String {
    then.map_or("<unknown>".to_string(), |then| human(now.seconds_since(then)))
}

/// Reads a Go duration such as `90s`, `1m30s` or `0`, in whole seconds (rounded up).
///
/// # Errors
/// In Go's words.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration \"{text}\"");
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut millis: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(digits);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_length = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_length);
        let unit_millis: i64 = match unit {
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1000,
            "ms" => 1,
            "us" | "µs" | "ns" => 0,
            "" => return Err(format!("time: missing unit in duration \"{text}\"")),
            unknown => return Err(format!("time: unknown unit \"{unknown}\" in duration \"{text}\"")),
        };
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let thousandths: i64 = format!("{fraction:0<3}").get(..3).and_then(|t| t.parse().ok()).unwrap_or(0);
        let part =
            whole.checked_mul(unit_millis).and_then(|p| p.checked_add(thousandths * unit_millis / 1000));
        millis = part.and_then(|part| millis.checked_add(part)).ok_or_else(invalid)?;
        rest = after;
    }
    let seconds = millis.div_euclid(1000) + i64::from(millis.rem_euclid(1000) != 0);
    Ok(if negative { -seconds } else { seconds })
}

/// A duration as Go prints it: `1m30s`, `300s` is `5m0s`.
pub fn go(seconds: i64) -> String {
    let (sign, seconds) = if seconds < 0 { ("-", -seconds) } else { ("", seconds) };
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{rest}s"),
        (0, _) => format!("{sign}{minutes}m{rest}s"),
        _ => format!("{sign}{hours}h{minutes}m{rest}s"),
    }
}

/// A time as `describe` prints it: `Mon, 05 Jan 2026 09:00:00 +0000`.
pub fn rfc1123(time: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let weekday = DAYS[usize::try_from(time.0.div_euclid(86_400).rem_euclid(7)).unwrap_or(0)];
    let text = time.to_string();
    let month = text[5..7].parse::<usize>().unwrap_or(1);
    format!("{weekday}, {} {} {} {} +0000", &text[8..10], MONTHS[month - 1], &text[..4], &text[11..19])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_use_one_or_two_units() {
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (190, "3m10s"),
            (599, "9m59s"),
            (601, "10m"),
            (10_799, "179m"),
            (10_860, "3h1m"),
            (28_740, "7h59m"),
            (32_340, "8h"),
            (169_200, "47h"),
            (176_400, "2d1h"),
            (687_600, "7d23h"),
            (774_000, "8d"),
            (62_985_600, "729d"),
            (63_162_000, "2y1d"),
            (252_201_600, "7y364d"),
            (252_288_000, "8y"),
        ] {
            assert_eq!(human(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn durations_read_as_go_reads_them() {
        for (text, expected) in [
            ("30s", Ok(30)),
            ("1m30s", Ok(90)),
            ("1.5m", Ok(90)),
            ("500ms", Ok(1)),
            ("0", Ok(0)),
            ("-1s", Ok(-1)),
            ("5", Err("time: missing unit in duration \"5\"".to_string())),
            ("x", Err("time: invalid duration \"x\"".to_string())),
            ("5d", Err("time: unknown unit \"d\" in duration \"5d\"".to_string())),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        assert_eq!((go(45), go(90), go(3600)), ("45s".into(), "1m30s".into(), "1h0m0s".into()));
    }

    #[test]
    fn days_of_the_week_are_right() {
        let time = Timestamp::parse("2026-01-05T09:00:00Z").unwrap();
        assert_eq!(rfc1123(time), "Mon, 05 Jan 2026 09:00:00 +0000");
    }
}
