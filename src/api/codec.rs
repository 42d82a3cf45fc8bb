//! Between JSON values and typed records, without losing a field.
//!
//! A record lists the fields the simulation uses; whatever else the Kubernetes schema allows stays in [`Rest`] and
//! comes out again on encoding. Checking for unknown fields is not done here: `cluster::server::decode` has done it
//! before a value is decoded.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::sharing::Recent;

/// A value that has the wrong shape for its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    /// Where, as `spec.template.spec`; empty for the value itself.
    pub path: String,
    /// What stands there in a well-formed value.
    pub expected: &'static str,
}

impl CodecError {
    /// An error at the value itself.
    pub fn expected(expected: &'static str) -> Self {
        Self { path: String::new(), expected }
    }

    /// The same error seen from one level further out.
    pub fn under(mut self, segment: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => segment.to_string(),
            path if path.starts_with('[') => format!("{segment}{path}"),
            path => format!("{segment}.{path}"),
        };
        self
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.path, self.expected)
    }
}

impl std::error::Error for CodecError {}

/// Something that stands in a JSON document.
pub trait Codec: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// When the value has another shape.
    fn decode(value: Value) -> Result<Self, CodecError>;

    /// Writes the value.
    fn encode(&self) -> Value;

    /// Whether Go's `omitempty` would leave it out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// The fields of a record that the simulation stores without using them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rest(Option<Arc<Map<String, Value>>>);

impl Rest {
    /// Keeps what is left of an object after the known fields were taken out.
    pub fn from_map(map: Map<String, Value>) -> Self {
        thread_local!(static RECENT: Recent<Map<String, Value>> = Recent::default());
        Self(if map.is_empty() { None } else { Some(RECENT.with(|recent| recent.share(map))) })
    }

    /// A copy to which the known fields are added.
    pub fn to_map(&self) -> Map<String, Value> {
        self.0.as_deref().cloned().unwrap_or_default()
    }

    /// The stored field of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_deref()?.get(name)
    }

    /// Sets or removes one stored field.
    pub fn set(&mut self, name: &str, value: Option<Value>) {
        let mut map = self.to_map();
        match value {
            Some(value) => map.insert(name.to_string(), value),
            None => map.remove(name),
        };
        *self = Self::from_map(map);
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// The object inside a value.
///
/// # Errors
/// When the value is no object (`null` counts as an empty one).
pub fn object(value: Value) -> Result<Map<String, Value>, CodecError> {
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(CodecError::expected("an object")),
    }
}

/// Takes one field out of an object; an absent or null field is the type's default.
///
/// # Errors
/// When the field has another shape, with its name in the path.
pub fn take<T: Codec + Default>(map: &mut Map<String, Value>, name: &str) -> Result<T, CodecError> {
    let mut taken = T::default();
    take_into(map, name, &mut taken)?;
    Ok(taken)
}

/// Takes one field out of an object into its place; an absent or null field leaves what stands there.
///
/// # Errors
/// When the field has another shape, with its name in the path.
#[inline(never)]
pub fn take_into<T: Codec>(
    map: &mut Map<String, Value>,
    name: &str,
    place: &mut T,
) -> Result<(), CodecError> {
    if let Some(value) = take_value(map, name) {
        *place = T::decode(value).map_err(|error| error.under(name))?;
    }
    Ok(())
}

/// One field out of an object, unless it is absent or null.
#[inline(never)]
fn take_value(map: &mut Map<String, Value>, name: &str) -> Option<Value> {
    map.remove(name).filter(|value| !value.is_null())
}

#[inline(never)]
fn put_value(map: &mut Map<String, Value>, name: &str, value: Value) {
    map.insert(name.to_string(), value);
}

/// Puts one field into an object, unless it is absent and not `always` written.
#[inline(never)]
pub fn put<T: Codec>(map: &mut Map<String, Value>, name: &str, field: &T, always: bool) {
    if always || !field.is_absent() {
        put_value(map, name, field.encode());
    }
}

/// Declares a record and its [`Codec`].
///
/// Each field names its JSON key; `always` behind it means that Go writes the field even when it is zero.
#[macro_export]
macro_rules! record {
    ($( $(#[$meta:meta])* pub struct $name:ident { $( $(#[$field_meta:meta])* $field:ident : $ty:ty = $json:literal $($always:ident)? ),* $(,)? } )+) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )*
            /// The schema's other fields, stored as they came.
            pub rest: $crate::api::codec::Rest,
        }

        impl $crate::api::codec::Codec for $name {
            fn decode(value: serde_json::Value) -> Result<Self, $crate::api::codec::CodecError> {
                let mut map = $crate::api::codec::object(value)?;
                // Field by field into a whole record: a failure then drops one value, not a ladder of them.
                let mut record = Self::default();
                $( $crate::api::codec::take_into(&mut map, $json, &mut record.$field)?; )*
                record.rest = $crate::api::codec::Rest::from_map(map);
                Ok(record)
            }

            fn encode(&self) -> serde_json::Value {
                let mut map = self.rest.to_map();
                $( $crate::api::codec::put(&mut map, $json, &self.$field, $crate::record!(@always $($always)?)); )*
                serde_json::Value::Object(map)
            }
        }
    )+ };
    (@always always) => { true };
    (@always) => { false };
}

macro_rules! integer {
    ($($ty:ty),*) => { $(
        impl Codec for $ty {
            fn decode(value: Value) -> Result<Self, CodecError> {
                value.as_i64().and_then(|n| n.try_into().ok()).ok_or(CodecError::expected("an integer"))
            }
            fn encode(&self) -> Value {
                Value::from(*self)
            }
            fn is_absent(&self) -> bool {
                *self == 0
            }
        }
    )* };
}
integer!(i32, i64, u16);

impl<T: Codec> Codec for Box<T> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        T::decode(value).map(Self::new)
    }
    fn encode(&self) -> Value {
        (**self).encode()
    }
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

impl Codec for bool {
    fn decode(value: Value) -> Result<Self, CodecError> {
        value.as_bool().ok_or(CodecError::expected("a boolean"))
    }
    fn encode(&self) -> Value {
        Value::Bool(*self)
    }
    fn is_absent(&self) -> bool {
        !*self
    }
}

impl Codec for String {
    fn decode(value: Value) -> Result<Self, CodecError> {
        match value {
            Value::String(text) => Ok(text),
            _ => Err(CodecError::expected("a string")),
        }
    }
    fn encode(&self) -> Value {
        Value::String(self.clone())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Codec for Arc<str> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        String::decode(value).map(Arc::from)
    }
    fn encode(&self) -> Value {
        Value::String(self.to_string())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Codec for Value {
    fn decode(value: Value) -> Result<Self, CodecError> {
        Ok(value)
    }
    fn encode(&self) -> Value {
        self.clone()
    }
    fn is_absent(&self) -> bool {
        self.is_null()
    }
}

impl<T: Codec> Codec for Option<T> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        T::decode(value).map(Some)
    }
    fn encode(&self) -> Value {
        self.as_ref().map_or(Value::Null, Codec::encode)
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Codec> Codec for Arc<T> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        T::decode(value).map(Arc::new)
    }
    fn encode(&self) -> Value {
        T::encode(self)
    }
    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        let Value::Array(items) = value else { return Err(CodecError::expected("a list")) };
        let decode = |(index, item)| T::decode(item).map_err(|error| error.under(&format!("[{index}]")));
        items.into_iter().enumerate().map(decode).collect()
    }
    fn encode(&self) -> Value {
        Value::Array(self.iter().map(Codec::encode).collect())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Codec> Codec for BTreeMap<String, T> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        let decode = |(key, value): (String, Value)| match T::decode(value) {
            Ok(value) => Ok((key, value)),
            Err(error) => Err(error.under(&key)),
        };
        object(value)?.into_iter().map(decode).collect()
    }
    fn encode(&self) -> Value {
        Value::Object(self.iter().map(|(key, value)| (key.clone(), value.encode())).collect())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    record! {
        /// A record for these tests.
        pub struct Boat {
            /// Its name.
            name: String = "name",
            /// Its seats.
            seats: i32 = "seats" always,
            /// Its crew.
            crew: Vec<String> = "crew",
        }
    }

    #[test]
    fn fields_that_are_not_used_survive() {
        let value = json!({"name": "heron", "seats": 0, "sail": {"area": 12}});
        let boat = Boat::decode(value.clone()).unwrap();
        assert_eq!(boat.rest.get("sail"), Some(&json!({"area": 12})));
        assert_eq!(boat.encode(), value);
    }

    #[test]
    fn absent_fields_are_left_out_and_always_fields_are_not() {
        assert_eq!(Boat::default().encode(), json!({"seats": 0}));
    }

    #[test]
    fn a_wrong_shape_names_its_place() {
        let error = Boat::decode(json!({"crew": ["a", 1]})).unwrap_err();
        assert_eq!(error.to_string(), "crew[1]: expected a string");
    }
}
