//! Amounts of a resource: `250m`, `1.5`, `64Mi`, `1e3`.
//!
//! A quantity is held as a whole number of billionths, so that no float is ever involved, together with the family of
//! suffixes it was written in, which decides how it is printed.
//!
//! Models: `k8s.io/apimachinery/pkg/api/resource/{quantity,suffix,math}.go` (v1.36).
//! Leaves out: nothing that a manifest can express; values beyond 2⁶³-1 are capped as upstream caps them.

use std::cmp::Ordering;
use std::fmt;

const NANOS: i128 = 1_000_000_000;
const MAX_NANOS: i128 = i64::MAX as i128 * NANOS;

/// Why a text is not a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityError {
    /// The text does not have the form of a quantity.
    Format,
    /// The digits make no number.
    Numeric,
    /// The suffix is none that exists.
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Numeric => "unable to parse numeric part of quantity",
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

/// The family of suffixes a quantity is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Powers of 1000: `m`, `k`, `M` …
    Decimal,
    /// Powers of 1024: `Ki`, `Mi` …
    Binary,
    /// `e3`, `E-3` …
    Exponent,
}

/// An amount of a resource, exact to a billionth.
///
/// Two quantities are equal when their amounts are, however they are written: `1Ki` equals `1024`.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

impl Default for Quantity {
    fn default() -> Self {
        Self { nanos: 0, format: Format::Decimal }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// The text of a quantity, taken apart.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    has_digits: bool,
    suffix: &'a str,
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits_of = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole_length = digits_of(rest);
    let (whole, mut rest) = rest.split_at(whole_length);
    let mut fraction = "";
    if let Some(after_dot) = rest.strip_prefix('.') {
        (fraction, rest) = after_dot.split_at(digits_of(after_dot));
    }
    let suffix = rest;
    let letters = suffix.bytes().take_while(|byte| b"eEinumkKMGTP".contains(byte)).count();
    let signed = &suffix[letters..];
    let exponent = signed.strip_prefix(['-', '+']).unwrap_or(signed);
    if digits_of(exponent) != exponent.len() {
        return Err(QuantityError::Format);
    }
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    Ok(Parts { negative, whole: whole.trim_start_matches('0'), fraction, has_digits, suffix })
}

/// The base (2 or 10), its exponent, and the family of a suffix.
fn interpret(suffix: &str) -> Option<(u32, i32, Format)> {
    Some(match suffix {
        "n" => (10, -9, Format::Decimal),
        "u" => (10, -6, Format::Decimal),
        "m" => (10, -3, Format::Decimal),
        "" => (10, 0, Format::Decimal),
        "k" => (10, 3, Format::Decimal),
        "M" => (10, 6, Format::Decimal),
        "G" => (10, 9, Format::Decimal),
        "T" => (10, 12, Format::Decimal),
        "P" => (10, 15, Format::Decimal),
        "E" => (10, 18, Format::Decimal),
        "Ki" => (2, 10, Format::Binary),
        "Mi" => (2, 20, Format::Binary),
        "Gi" => (2, 30, Format::Binary),
        "Ti" => (2, 40, Format::Binary),
        "Pi" => (2, 50, Format::Binary),
        "Ei" => (2, 60, Format::Binary),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            (10, exponent.parse().ok()?, Format::Exponent)
        }
    })
}

/// `digits × 10^shift` billionths, rounded up, capped.
fn decimal_nanos(whole: &str, fraction: &str, exponent: i32) -> i128 {
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).skip_while(|&byte| byte == b'0').collect();
    if digits.is_empty() {
        return 0;
    }
    let shift = i64::from(exponent) - fraction.len() as i64 + 9;
    let total = digits.len() as i64 + shift;
    if total > 29 {
        return MAX_NANOS;
    }
    if total <= 0 {
        return 1;
    }
    let kept = digits.len().min(total as usize);
    let mut nanos: i128 = 0;
    for byte in &digits[..kept] {
        nanos = nanos * 10 + i128::from(byte - b'0');
    }
    for _ in kept as i64..total {
        nanos *= 10;
    }
    if digits[kept..].iter().any(|&byte| byte != b'0') {
        nanos += 1;
    }
    nanos.min(MAX_NANOS)
}

/// `number × 2^exponent` in billionths, rounded up, capped.
fn binary_nanos(whole: &str, fraction: &str, exponent: u32) -> i128 {
    if whole.len() > 19 {
        return MAX_NANOS;
    }
    let whole: i128 = whole.bytes().fold(0, |sum, byte| sum * 10 + i128::from(byte - b'0'));
    let scaled = whole << exponent;
    if scaled > i128::from(i64::MAX) {
        return MAX_NANOS;
    }
    let kept = fraction.len().min(18);
    let mut part: i128 = fraction[..kept].bytes().fold(0, |sum, byte| sum * 10 + i128::from(byte - b'0'));
    for _ in kept..18 {
        part *= 10;
    }
    let product = part << exponent;
    let part_nanos = product / NANOS + i128::from(product % NANOS != 0);
    (scaled * NANOS + part_nanos).min(MAX_NANOS)
}

impl Quantity {
    /// Reads a quantity as a manifest writes it.
    ///
    /// # Errors
    /// In the words of the API server, see [`QuantityError`].
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let parts = split(text)?;
        let (base, exponent, mut format) = interpret(parts.suffix).ok_or(QuantityError::Suffix)?;
        if !parts.has_digits {
            return Err(QuantityError::Numeric);
        }
        let size = if base == 10 {
            decimal_nanos(parts.whole, parts.fraction, exponent)
        } else {
            binary_nanos(parts.whole, parts.fraction, exponent.unsigned_abs())
        };
        let nanos = if parts.negative { -size } else { size };
        if format == Format::Binary && nanos > 0 && nanos < NANOS {
            format = Format::Decimal;
        }
        Ok(Self { nanos, format })
    }

    /// A quantity of `milli` thousandths.
    pub fn from_milli(milli: i64) -> Self {
        Self { nanos: i128::from(milli) * 1_000_000, format: Format::Decimal }
    }

    /// A quantity of `value` units, printed with decimal suffixes.
    pub fn from_value(value: i64) -> Self {
        Self { nanos: i128::from(value) * NANOS, format: Format::Decimal }
    }

    /// A quantity of `value` units, printed with binary suffixes: bytes.
    pub fn from_bytes(value: i64) -> Self {
        Self { nanos: i128::from(value) * NANOS, format: Format::Binary }
    }

    /// The amount in thousandths, rounded up, saturating.
    pub fn milli(&self) -> i64 {
        self.scaled(1_000_000)
    }

    /// The amount in units, rounded up.
    pub fn value(&self) -> i64 {
        self.scaled(NANOS)
    }

    fn scaled(&self, unit_nanos: i128) -> i64 {
        i64::try_from(round_away(self.nanos, unit_nanos)).unwrap_or(if self.nanos < 0 {
            i64::MIN
        } else {
            i64::MAX
        })
    }

    /// The family of suffixes it prints with.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the amount is nothing.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// Whether the amount is below nothing.
    pub fn is_negative(&self) -> bool {
        self.nanos < 0
    }

    /// Whether the amount is a whole number of units.
    pub fn is_whole(&self) -> bool {
        self.nanos % NANOS == 0
    }

    /// Whether the amount is a whole number of thousandths.
    pub fn is_whole_milli(&self) -> bool {
        self.nanos % 1_000_000 == 0
    }

    /// The amount rounded up (away from nothing) to thousandths, as the API server keeps the resources of a container.
    pub fn rounded_to_milli(&self) -> Self {
        Self { nanos: round_away(self.nanos, 1_000_000) * 1_000_000, format: self.format }
    }

    /// The sum; a zero takes on the other's family of suffixes.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// The difference; a zero takes on the other's family of suffixes.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
    }
}

fn round_away(nanos: i128, unit: i128) -> i128 {
    let whole = nanos / unit;
    if nanos % unit == 0 { whole } else { whole + nanos.signum() }
}

/// The canonical form: no fraction, the largest suffix that loses nothing.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        let small = self.nanos.abs() < 1024 * NANOS;
        if self.format == Format::Binary && !small && self.is_whole() {
            let mut mantissa = self.nanos / NANOS;
            let mut step = 0;
            while mantissa % 1024 == 0 && step < 6 {
                mantissa /= 1024;
                step += 1;
            }
            return write!(f, "{mantissa}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][step]);
        }
        let mut mantissa = self.nanos;
        let mut exponent = -9;
        while mantissa % 1000 == 0 && exponent < 18 {
            mantissa /= 1000;
            exponent += 3;
        }
        match self.format {
            Format::Exponent if exponent == 0 => write!(f, "{mantissa}"),
            Format::Exponent => write!(f, "{mantissa}e{exponent}"),
            _ => write!(
                f,
                "{mantissa}{}",
                ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"][(exponent / 3 + 3) as usize]
            ),
        }
    }
}

impl std::str::FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_in_their_canonical_form() {
        let table = [
            ("nothing is plain zero", "0", "0"),
            ("a zero loses its suffix", "0Mi", "0"),
            ("a half becomes thousandths", "0.5", "500m"),
            ("a thousand thousandths are one", "1000m", "1"),
            ("hundreds stay thousandths", "1500m", "1500m"),
            ("a fraction of a binary unit goes one unit down", "1.5Gi", "1536Mi"),
            ("small binary amounts lose their suffix", "0.5Ki", "512"),
            ("a kibi of kibis is a mebi", "1024Ki", "1Mi"),
            ("odd bytes stay bytes", "1025", "1025"),
            ("decimal thousands get a suffix", "5000", "5k"),
            ("an exponent stays an exponent", "12e6", "12e6"),
            ("an exponent of nothing vanishes", "5e0", "5"),
            ("an exponent becomes a multiple of three", "1E2", "100"),
            ("a sign is kept", "-1.5", "-1500m"),
            ("a plus sign is not", "+1", "1"),
            ("below a billionth rounds up", "0.0000000001", "1n"),
            ("leading zeros go", "007", "7"),
            ("a dot may end the number", "3.", "3"),
            ("a dot may begin it", ".5", "500m"),
            ("too much is capped", "1000E", "9223372036854775807"),
            ("a tiny share of a binary unit is exact", "0.001Ki", "1024m"),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(Quantity::parse(text).map(|q| q.to_string()), Ok(expected.to_string()), "{sentence}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        let table = [
            ("nothing at all", "", QuantityError::Format),
            ("a word", "lots", QuantityError::Format),
            ("a space", "1 Gi", QuantityError::Format),
            ("an unknown suffix of known letters", "1mm", QuantityError::Suffix),
            ("a suffix with a number behind it", "1Mi5", QuantityError::Suffix),
            ("a suffix alone", "k", QuantityError::Numeric),
            ("bytes written out", "1MB", QuantityError::Format),
            ("letters beyond ASCII", "1µ", QuantityError::Format),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(Quantity::parse(text).unwrap_err(), expected, "{sentence}");
        }
    }

    #[test]
    fn amounts_compare_and_add_up() {
        let quantity = |text| Quantity::parse(text).unwrap();
        assert_eq!(quantity("1Ki"), quantity("1024"));
        assert!(quantity("100m") < quantity("0.2"));
        assert_eq!(quantity("100m").add(&quantity("1")).to_string(), "1100m");
        assert_eq!(Quantity::default().add(&quantity("1Gi")).to_string(), "1Gi");
        assert_eq!(quantity("1Gi").sub(&quantity("24Mi")).to_string(), "1000Mi");
        assert_eq!(quantity("1500m").value(), 2);
        assert_eq!(quantity("0.0001").milli(), 1);
        assert_eq!(quantity("9E").milli(), i64::MAX);
        assert_eq!(quantity("100u").rounded_to_milli().to_string(), "1m");
    }
}
