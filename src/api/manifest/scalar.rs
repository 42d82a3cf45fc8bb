//! What a plain YAML scalar means, by the rules of YAML 1.1 as kubectl's library applies them.
//!
//! Models: `go.yaml.in/yaml/v2` `resolve.go` (the library behind `sigs.k8s.io/yaml` v1.6).
//! Leaves out: nothing.

use serde_json::Value;

/// What a plain scalar resolves to.
#[derive(Debug, Clone, PartialEq)]
pub enum Plain {
    /// The empty scalar, `~`, `null`.
    Null,
    /// `true`, `yes`, `on`, `y` and their opposites.
    Boolean(bool),
    /// A number.
    Number(Value),
    /// `.inf`, `.nan`: numbers JSON has no word for.
    Unwritable(&'static str),
    /// A date or a moment, which stays a text but is quoted when written.
    Timestamp,
    /// `<<`.
    Merge,
    /// Anything else.
    Text,
}

/// Resolves a plain scalar.
pub fn resolve(text: &str) -> Plain {
    let Some(first) = text.chars().next() else { return Plain::Null };
    match first {
        'y' | 'Y' | 'n' | 'N' | 't' | 'T' | 'f' | 'F' | 'o' | 'O' | '~' | '<' => word(text),
        '.' => match text {
            ".nan" | ".NaN" | ".NAN" => Plain::Unwritable("NaN"),
            ".inf" | ".Inf" | ".INF" => Plain::Unwritable("+Inf"),
            _ => float(text).map_or(Plain::Text, Plain::Number),
        },
        '+' | '-' | '0'..='9' => match text {
            "+.inf" | "+.Inf" | "+.INF" => Plain::Unwritable("+Inf"),
            "-.inf" | "-.Inf" | "-.INF" => Plain::Unwritable("-Inf"),
            _ if is_timestamp(text) => Plain::Timestamp,
            _ => {
                let plain = text.replace('_', "");
                integer(&plain).or_else(|| float(&plain)).map_or(Plain::Text, Plain::Number)
            }
        },
        _ => Plain::Text,
    }
}

fn word(text: &str) -> Plain {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Plain::Boolean(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Plain::Boolean(false)
        }
        "~" | "null" | "Null" | "NULL" => Plain::Null,
        "<<" => Plain::Merge,
        _ => Plain::Text,
    }
}

/// A whole number in base 10, 2 (`0b`), 8 (`0`, `0o`) or 16 (`0x`).
fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.get(..2).unwrap_or_default().to_ascii_lowercase();
    let (base, digits) = match lower.as_str() {
        "0x" => (16, &digits[2..]),
        "0b" => (2, &digits[2..]),
        "0o" => (8, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(digits, base).ok()?;
    match (negative, i64::try_from(size)) {
        (false, Ok(size)) => Some(Value::from(size)),
        (false, Err(_)) => Some(Value::from(size)),
        (true, Ok(size)) => Some(Value::from(-size)),
        (true, Err(_)) if size == 1 << 63 => Some(Value::from(i64::MIN)),
        (true, Err(_)) => None,
    }
}

fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if let Some(exponent) = exponent {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if exponent.is_empty() || !all_digits(exponent) {
            return None;
        }
    }
    super::json::number_of(text.parse().ok()?)
}

/// Whether a text has the form of a date or a moment: `2026-01-05`, `2026-1-5T9:00:00Z`, `2026-01-05 09:00:00.5`.
pub fn is_timestamp(text: &str) -> bool {
    fn number<'a>(rest: &mut &'a str, most: usize) -> Option<&'a str> {
        let length = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(length);
        *rest = after;
        (length > 0).then_some(digits)
    }
    fn literal(rest: &mut &str, expected: &[char]) -> Option<()> {
        *rest = rest.strip_prefix(expected)?;
        Some(())
    }
    let in_range =
        |digits: &str, low: u32, high: u32| digits.parse().is_ok_and(|n: u32| (low..=high).contains(&n));
    let parse = || -> Option<bool> {
        let rest = &mut &*text;
        if number(rest, 4)?.len() != 4 {
            return None;
        }
        literal(rest, &['-'])?;
        let month = number(rest, 2)?;
        literal(rest, &['-'])?;
        let day = number(rest, 2)?;
        if !in_range(month, 1, 12) || !in_range(day, 1, 31) {
            return None;
        }
        if rest.is_empty() {
            return Some(true);
        }
        let spaced = rest.starts_with(' ');
        literal(rest, &['T', 't', ' '])?;
        let hour = number(rest, 2)?;
        literal(rest, &[':'])?;
        let minute = number(rest, 2)?;
        literal(rest, &[':'])?;
        let second = number(rest, 2)?;
        if !in_range(hour, 0, 23) || !in_range(minute, 0, 59) || !in_range(second, 0, 59) {
            return None;
        }
        if rest.starts_with('.') {
            literal(rest, &['.'])?;
            number(rest, 9)?;
        }
        if spaced {
            return Some(rest.is_empty());
        }
        if *rest == "Z" {
            return Some(true);
        }
        literal(rest, &['+', '-'])?;
        let (hours, minutes) = rest.split_once(':')?;
        Some(hours.len() == 2 && minutes.len() == 2 && in_range(hours, 0, 24) && in_range(minutes, 0, 60))
    };
    parse().unwrap_or(false)
}

/// Whether a text looks like a number in base 60, such as `12:30`, which old readers take for one.
pub fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    if !first.starts_with(|c: char| c.is_ascii_digit())
        || !first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
    {
        return false;
    }
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return false };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let sixtieth = |part: &str| match part.as_bytes() {
        [units] => units.is_ascii_digit(),
        [tens, units] => (b'0'..=b'5').contains(tens) && units.is_ascii_digit(),
        _ => false,
    };
    middle.iter().all(|part| sixtieth(part))
        && sixtieth(last)
        && fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_yaml_1_1_says() {
        let number = |value: i64| Plain::Number(Value::from(value));
        let table = [
            ("yes is true", "yes", Plain::Boolean(true)),
            ("On is true", "On", Plain::Boolean(true)),
            ("n is false", "n", Plain::Boolean(false)),
            ("but yEs is a text", "yEs", Plain::Text),
            ("a tilde is null", "~", Plain::Null),
            ("nothing is null", "", Plain::Null),
            ("a leading zero means octal", "0644", number(420)),
            ("an eight makes it decimal again", "08", number(8)),
            ("hexadecimal", "0x1F", number(31)),
            ("underscores are skipped", "1_000", number(1000)),
            ("a float that is whole", "1e3", number(1000)),
            ("a float that is not", "1.5", Plain::Number(Value::from(1.5))),
            ("a version is a text", "1.2.3", Plain::Text),
            ("a quantity is a text", "100m", Plain::Text),
            ("a date", "2026-01-05", Plain::Timestamp),
            ("a moment", "2026-01-05T09:00:00Z", Plain::Timestamp),
            ("no such month", "2026-13-05", Plain::Text),
            ("a time of day is a text", "12:30", Plain::Text),
            ("a dash is a text", "-", Plain::Text),
            ("no number at all", ".inf", Plain::Unwritable("+Inf")),
            ("larger than 64 bits", "99999999999999999999", Plain::Number(Value::from(1e20))),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(resolve(text), expected, "{sentence}");
        }
        assert!(is_base_60("12:30") && is_base_60("1:2:3.5") && !is_base_60("12:75") && !is_base_60("a:1"));
    }
}
