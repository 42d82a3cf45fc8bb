//! The rules for names, label keys, label values and ports, each with the sentence Kubernetes refuses with.
//!
//! A rule is a function from a text to the list of complaints; an empty list means the text is fine.
//!
//! Models: `k8s.io/apimachinery/pkg/util/validation/validation.go`, `k8s.io/apimachinery/pkg/api/validate/content`
//! (v1.36).
//! Leaves out: C identifiers, fully qualified domain names.

/// The longest DNS label and the longest label value, in bytes.
pub const LABEL_BYTES: usize = 63;
/// The longest DNS subdomain, in bytes.
pub const SUBDOMAIN_BYTES: usize = 253;

const DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS_1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const WILDCARD_SUBDOMAIN: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED_PART: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/// The complaint about a text longer than `bytes`, in the older wording.
pub fn too_long_characters(bytes: usize) -> String {
    format!("must be no more than {bytes} characters")
}

/// The complaint about a text longer than `bytes`, in the newer wording.
pub fn too_long_bytes(bytes: usize) -> String {
    format!("must be no more than {bytes} bytes")
}

fn is_lower_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_dns_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) => {
            is_lower_alphanumeric(first)
                && is_lower_alphanumeric(last)
                && bytes.iter().all(|&byte| byte == b'-' || is_lower_alphanumeric(byte))
        }
        _ => false,
    }
}

fn is_qualified_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            first.is_ascii_alphanumeric()
                && last.is_ascii_alphanumeric()
                && bytes.iter().all(|byte| matches!(byte, b'-' | b'_' | b'.') || byte.is_ascii_alphanumeric())
        }
        _ => false,
    }
}

/// What is wrong with a DNS label such as a container's or a Namespace's name.
pub fn dns_label(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > LABEL_BYTES {
        complaints.push(too_long_characters(LABEL_BYTES));
    }
    if !is_dns_label(text) {
        // A text that is well-formed but for its dots is told so.
        let is_subdomain = text.split('.').all(is_dns_label);
        let complaint = if is_subdomain { "must not contain dots" } else { DNS_LABEL };
        complaints.push(complaint.to_string());
    }
    complaints
}

/// What is wrong with a DNS label that must start with a letter.
pub fn dns_1035_label(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > LABEL_BYTES {
        complaints.push(too_long_characters(LABEL_BYTES));
    }
    if !is_dns_label(text) || text.as_bytes()[0].is_ascii_digit() {
        complaints.push(DNS_1035_LABEL.to_string());
    }
    complaints
}

/// What is wrong with a DNS subdomain such as a Pod's name.
pub fn dns_subdomain(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > SUBDOMAIN_BYTES {
        complaints.push(too_long_characters(SUBDOMAIN_BYTES));
    }
    if !text.split('.').all(is_dns_label) {
        complaints.push(DNS_SUBDOMAIN.to_string());
    }
    complaints
}

/// What is wrong with a host such as `*.example.org`.
pub fn wildcard_subdomain(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > SUBDOMAIN_BYTES {
        complaints.push(too_long_characters(SUBDOMAIN_BYTES));
    }
    let rest = text.strip_prefix("*.");
    if !rest.is_some_and(|rest| rest.split('.').all(is_dns_label)) {
        complaints.push(WILDCARD_SUBDOMAIN.to_string());
    }
    complaints
}

/// What is wrong with a label key, an annotation key or a resource name: `[prefix/]name`.
pub fn qualified_name(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                complaints.push("prefix part must be non-empty".to_string());
            } else {
                complaints.extend(
                    dns_subdomain(prefix).into_iter().map(|complaint| format!("prefix part {complaint}")),
                );
            }
            name
        }
        _ => {
            complaints.push(format!(
                "a qualified name {QUALIFIED_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
            return complaints;
        }
    };
    if name.is_empty() {
        complaints.push("name part must be non-empty".to_string());
    } else if name.len() > LABEL_BYTES {
        complaints.push(format!("name part {}", too_long_bytes(LABEL_BYTES)));
    }
    if !is_qualified_part(name) {
        complaints.push(format!("name part {QUALIFIED_PART}"));
    }
    complaints
}

/// What is wrong with a label's value; the empty text is fine.
pub fn label_value(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > LABEL_BYTES {
        complaints.push(too_long_bytes(LABEL_BYTES));
    }
    if !text.is_empty() && !is_qualified_part(text) {
        complaints.push(LABEL_VALUE.to_string());
    }
    complaints
}

/// What is wrong with a key of a ConfigMap or Secret.
pub fn config_key(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > SUBDOMAIN_BYTES {
        complaints.push(too_long_characters(SUBDOMAIN_BYTES));
    }
    if text.is_empty()
        || !text.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'_') || byte.is_ascii_alphanumeric())
    {
        complaints.push(CONFIG_KEY.to_string());
    }
    match text {
        "." => complaints.push("must not be '.'".to_string()),
        ".." => complaints.push("must not be '..'".to_string()),
        _ if text.starts_with("..") => complaints.push("must not start with '..'".to_string()),
        _ => {}
    }
    complaints
}

/// What is wrong with a port's name, the kind a probe or a Service can refer to.
pub fn port_name(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > 15 {
        complaints.push(too_long_characters(15));
    }
    if !text.bytes().all(|byte| byte == b'-' || is_lower_alphanumeric(byte)) || text.is_empty() {
        complaints.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_string());
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        complaints.push("must contain at least one letter (a-z)".to_string());
    }
    if text.contains("--") {
        complaints.push("must not contain consecutive hyphens".to_string());
    }
    if text.starts_with('-') || text.ends_with('-') {
        complaints.push("must not begin or end with a hyphen".to_string());
    }
    complaints
}

/// What is wrong with a port's number.
pub fn port_number(port: i64) -> Vec<String> {
    if (1..=65535).contains(&port) {
        Vec::new()
    } else {
        vec!["must be between 1 and 65535, inclusive".to_string()]
    }
}

/// What is wrong with an environment variable's name (since v1.30 nearly every printable text is fine).
pub fn environment_variable(text: &str) -> Vec<String> {
    if text.is_empty() || !text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=') {
        vec!["a valid environment variable name must consist only of printable ASCII characters other than '='".to_string()]
    } else {
        Vec::new()
    }
}

/// What is wrong with a percentage such as `25%`.
pub fn percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        vec![PERCENT.to_string()]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged() {
        let table: &[(&str, fn(&str) -> Vec<String>, &str, &[&str])] = &[
            ("a plain label is fine", dns_label, "web-1", &[]),
            ("a label may not end with a dash", dns_label, "web-", &[DNS_LABEL]),
            ("an empty label is refused", dns_label, "", &[DNS_LABEL]),
            ("a label may not hold dots", dns_label, "a.b", &["must not contain dots"]),
            ("a Service may not start with a digit", dns_1035_label, "1web", &[DNS_1035_LABEL]),
            ("a subdomain may hold dots", dns_subdomain, "a.b-c.d", &[]),
            ("an empty part of a subdomain is refused", dns_subdomain, "a..b", &[DNS_SUBDOMAIN]),
            ("a wildcard stands first", wildcard_subdomain, "*.a.b", &[]),
            ("a wildcard stands nowhere else", wildcard_subdomain, "a.*.b", &[WILDCARD_SUBDOMAIN]),
            ("a label key may have a prefix", qualified_name, "example.com/Tier_1", &[]),
            (
                "a label key's prefix may not be empty",
                qualified_name,
                "/a",
                &["prefix part must be non-empty"],
            ),
            ("a label value may be empty", label_value, "", &[]),
            ("a config key may start with one dot", config_key, ".dockerconfigjson", &[]),
            ("a config key may not be two dots", config_key, "..", &["must not be '..'"]),
            ("a port name needs a letter", port_name, "80", &["must contain at least one letter (a-z)"]),
            ("a percentage ends with its sign", percent, "25", &[PERCENT]),
        ];
        for (sentence, rule, text, expected) in table {
            assert_eq!(rule(text), expected.iter().map(|s| s.to_string()).collect::<Vec<_>>(), "{sentence}");
        }
    }
}
