//! A value together with its path, and the checks that every kind uses.

use serde_json::Value;

use super::field::{FieldError, quoted};
use crate::api::names;
use crate::api::quantity::Quantity;

/// The mistakes found so far, in order.
pub type Errors = Vec<FieldError>;

/// A value and where it stands; an absent value is null.
#[derive(Clone)]
pub struct Node<'a> {
    /// `spec.containers[0].image`.
    pub path: String,
    /// The value.
    pub value: &'a Value,
}

impl<'a> Node<'a> {
    /// The object itself.
    pub fn root(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    /// A field.
    pub fn at(&self, name: &str) -> Node<'a> {
        let path = if self.path.is_empty() { name.to_string() } else { [&self.path, ".", name].concat() };
        Node { path, value: self.value.get(name).unwrap_or(&Value::Null) }
    }

    /// The path of a field.
    pub fn path_of(&self, name: &str) -> String {
        self.at(name).path
    }

    /// The items of a list.
    pub fn items(&self) -> Vec<Node<'a>> {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        let node = |(index, value)| Node { path: format!("{}[{index}]", self.path), value };
        items.iter().enumerate().map(node).collect()
    }

    /// The members of a map, by key.
    pub fn members(&self) -> Vec<(&'a str, Node<'a>)> {
        let members = self.value.as_object().into_iter().flatten();
        let node = |key: &str, value| Node { path: [&self.path, "[", key, "]"].concat(), value };
        members.map(|(key, value)| (key.as_str(), node(key, value))).collect()
    }

    /// Whether anything stands there.
    pub fn exists(&self) -> bool {
        !self.value.is_null()
    }

    /// The text; empty when there is none.
    pub fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Whether it is an empty text, list or map, or nothing at all.
    pub fn is_empty(&self) -> bool {
        match self.value {
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Null => true,
            _ => false,
        }
    }

    /// The number; zero when there is none.
    pub fn number(&self) -> i64 {
        self.value.as_i64().unwrap_or(0)
    }

    /// Whether it is true.
    pub fn is_true(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    /// The amount; nothing when it is malformed.
    pub fn quantity(&self) -> Quantity {
        Quantity::parse(self.text()).unwrap_or_default()
    }

    /// The mistake that it is missing.
    pub fn required(&self, detail: &str) -> FieldError {
        FieldError::required(&self.path, detail)
    }

    /// The mistake that it is malformed.
    pub fn invalid(&self, detail: &str) -> FieldError {
        match self.value {
            Value::Null => FieldError::invalid_text(&self.path, "", detail),
            value => FieldError::invalid(&self.path, value, detail),
        }
    }

    /// The mistake that it may not stand there.
    pub fn forbidden(&self, detail: &str) -> FieldError {
        FieldError::forbidden(&self.path, detail)
    }

    /// The mistake that it is none of the words that may stand there.
    pub fn not_supported(&self, choices: &[&str]) -> FieldError {
        FieldError::not_supported(&self.path, self.text(), choices)
    }
}

/// Adds a mistake for each complaint about a text.
pub fn complain(errors: &mut Errors, node: &Node<'_>, complaints: Vec<String>) {
    errors.extend(
        complaints.iter().map(|complaint| FieldError::invalid_text(&node.path, node.text(), complaint)),
    );
}

/// Refuses a number below zero.
pub fn non_negative(errors: &mut Errors, node: &Node<'_>) {
    if node.number() < 0 {
        errors.push(node.invalid("must be greater than or equal to 0"));
    }
}

/// Refuses a missing word, and one that is not among the choices.
pub fn one_of(errors: &mut Errors, node: &Node<'_>, choices: &[&str]) {
    if node.is_empty() {
        errors.push(node.required(""));
    } else if !choices.contains(&node.text()) {
        errors.push(node.not_supported(choices));
    }
}

/// Refuses a word that is given but is not among the choices.
pub fn one_of_if_given(errors: &mut Errors, node: &Node<'_>, choices: &[&str]) {
    if node.exists() && !choices.contains(&node.text()) {
        errors.push(node.not_supported(choices));
    }
}

/// Judges a port that is a number or a name.
pub fn port(errors: &mut Errors, node: &Node<'_>) {
    match node.value {
        Value::String(name) => complain(errors, node, names::port_name(name)),
        _ => port_number(errors, node),
    }
}

/// Judges a port's number.
pub fn port_number(errors: &mut Errors, node: &Node<'_>) {
    for complaint in names::port_number(node.number()) {
        errors.push(FieldError::invalid_shown(&node.path, node.number().to_string(), &complaint));
    }
}

/// Judges an IP address.
pub fn ip(errors: &mut Errors, node: &Node<'_>) -> bool {
    let is_ip = node.text().parse::<std::net::IpAddr>().is_ok();
    if !is_ip {
        errors.push(node.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    }
    is_ip
}

/// Judges an address range such as `10.0.0.0/8`.
pub fn cidr(errors: &mut Errors, node: &Node<'_>) {
    let parts = node.text().trim().split_once('/');
    let fits = parts.is_some_and(|(address, bits)| {
        match (address.parse::<std::net::IpAddr>(), bits.parse::<u8>()) {
            (Ok(address), Ok(bits)) => bits <= if address.is_ipv4() { 32 } else { 128 },
            _ => false,
        }
    });
    if !fits {
        errors.push(node.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    }
}

/// Refuses addresses that no peer can be reached at.
pub fn not_special_ip(errors: &mut Errors, node: &Node<'_>) {
    use std::net::IpAddr;
    let text = node.text();
    let Ok(address) = text.parse::<IpAddr>() else {
        errors.push(node.invalid("must be a valid IP address"));
        return;
    };
    let (link_local, link_local_multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(address) => (address.segments()[0] & 0xFFC0 == 0xFE80, address.segments()[0] == 0xFF02),
    };
    if address.is_unspecified() {
        errors.push(node.invalid(&format!("may not be unspecified ({text})")));
    }
    if address.is_loopback() {
        errors.push(node.invalid("may not be in the loopback range (127.0.0.0/8, ::1/128)"));
    }
    if link_local {
        errors.push(node.invalid("may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
    }
    if link_local_multicast {
        errors.push(node.invalid("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
    }
}

/// Judges a number or percentage that may not be negative.
pub fn int_or_percent(errors: &mut Errors, node: &Node<'_>) {
    match node.value {
        Value::String(text) => complain(errors, node, names::percent(text)),
        Value::Null => {}
        _ => non_negative(errors, node),
    }
}

/// The number, or the number before the percent sign.
pub fn int_or_percent_value(node: &Node<'_>) -> i64 {
    match node.value {
        Value::String(text) => text.strip_suffix('%').unwrap_or(text).parse().unwrap_or(0),
        _ => node.number(),
    }
}

/// Refuses more than 100%.
pub fn at_most_100_percent(errors: &mut Errors, node: &Node<'_>) {
    if node.text().ends_with('%')
        && names::percent(node.text()).is_empty()
        && int_or_percent_value(node) > 100
    {
        errors.push(node.invalid("must not be greater than 100%"));
    }
}

/// Refuses a change.
pub fn immutable(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    if old.value != new.value {
        let shown = match new.value {
            Value::Null => "null".to_string(),
            Value::String(text) => quoted(text),
            value => crate::api::manifest::to_json(value),
        };
        errors.push(FieldError::invalid_shown(&new.path, shown, "field is immutable"));
    }
}
