//! `intstr.IntOrString`: a number, a percentage or a name.

use std::fmt;

use serde_json::Value;

use super::codec::{Codec, CodecError};

/// A number, or a text such as `25%` or a port's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntOrString {
    /// A number.
    Int(i32),
    /// A percentage or a name.
    Text(String),
}

impl IntOrString {
    /// The number meant out of `total`: a percentage is scaled and rounded up or down. `None` for other texts.
    pub fn scaled(&self, total: i32, round_up: bool) -> Option<i32> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Text(text) => {
                let percent: i64 = text.strip_suffix('%')?.parse().ok()?;
                let product = percent * i64::from(total);
                let scaled = if round_up {
                    product.div_euclid(100) + i64::from(product.rem_euclid(100) != 0)
                } else {
                    product.div_euclid(100)
                };
                i32::try_from(scaled).ok()
            }
        }
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Codec for IntOrString {
    fn decode(value: Value) -> Result<Self, CodecError> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            value => i32::decode(value).map(Self::Int),
        }
    }
    fn encode(&self) -> Value {
        match self {
            Self::Int(n) => Value::from(*n),
            Self::Text(text) => Value::String(text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_scale_with_the_asked_rounding() {
        for (text, total, up, expected) in
            [("25%", 3, true, 1), ("25%", 3, false, 0), ("100%", 7, false, 7), ("1%", 2, true, 1)]
        {
            assert_eq!(IntOrString::Text(text.into()).scaled(total, up), Some(expected), "{text} of {total}");
        }
        assert_eq!(IntOrString::Int(2).scaled(9, true), Some(2));
        assert_eq!(IntOrString::Text("http".into()).scaled(9, true), None);
    }
}
