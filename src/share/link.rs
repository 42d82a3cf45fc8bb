//! A session in the address of the page: `#v1:` and base64url of a version byte and a deflated text.
//!
//! The version stands twice: in the prefix for people and servers, as the first byte for the decoder. Old versions are
//! read for ever; tests keep one link of each.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use super::error::ShareError;
use super::session::Shared;

/// What a link begins with.
pub const PREFIX: &str = "#v1:";

/// The longest link that is made; a longer session goes into a file.
pub const LIMIT_BYTES: usize = 32 * 1024;

/// The longest link that is read.
const READ_LIMIT_BYTES: usize = 512 * 1024;

/// The longest text inside a link, unpacked.
const TEXT_LIMIT_BYTES: usize = 4 * 1024 * 1024;

const VERSION: u8 = 1;
const COMPRESSION_LEVEL: u8 = 9;

/// The link to a session, whatever its length; [`LIMIT_BYTES`] says when to offer a file instead.
pub fn encode(shared: &Shared) -> String {
    let mut bytes = vec![VERSION];
    bytes.extend(compress_to_vec(shared.to_text().as_bytes(), COMPRESSION_LEVEL));
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Whether an address (or its part from `#` on) carries a session of any version.
pub fn is_link(address: &str) -> bool {
    fragment(address).is_some_and(|fragment| {
        let version = fragment.strip_prefix('v').and_then(|rest| rest.split_once(':'));
        version.is_some_and(|(version, _)| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// The session that an address (or its part from `#` on) carries.
///
/// # Errors
/// A sentence for the person who followed the link.
pub fn decode(address: &str) -> Result<Shared, ShareError> {
    let fragment = fragment(address).ok_or(ShareError::new("share.refused.no-link"))?.trim();
    if !is_link(address) {
        return Err(ShareError::new("share.refused.no-link"));
    }
    let (version, code) = fragment.split_once(':').unwrap_or_default();
    if version != "v1" {
        return Err(ShareError::new("share.refused.version").with("version", version));
    }
    if code.len() > READ_LIMIT_BYTES {
        return Err(ShareError::new("share.refused.too-long").with("limit", READ_LIMIT_BYTES / 1024));
    }
    let bytes = URL_SAFE_NO_PAD
        .decode(code.trim_end_matches('='))
        .map_err(|_| ShareError::new("share.refused.damaged"))?;
    let (&version, packed) = bytes.split_first().ok_or(ShareError::new("share.refused.damaged"))?;
    if version != VERSION {
        // The prefix says version 1: it was not a later Kubestep that made this, but an accident on the way.
        return Err(ShareError::new("share.refused.damaged"));
    }
    let text =
        decompress_to_vec_with_limit(packed, TEXT_LIMIT_BYTES).map_err(|error| match error.status {
            TINFLStatus::HasMoreOutput => {
                ShareError::new("share.refused.too-long").with("limit", TEXT_LIMIT_BYTES / 1024)
            }
            _ => ShareError::new("share.refused.damaged"),
        })?;
    let text = String::from_utf8(text).map_err(|_| ShareError::new("share.refused.damaged"))?;
    Shared::from_text(&text)
}

/// What stands behind the first `#`; the whole text if there is none and it looks like a fragment.
fn fragment(address: &str) -> Option<&str> {
    match address.split_once('#') {
        Some((_, fragment)) => Some(fragment),
        None if address.starts_with('v') => Some(address),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::settings::Settings;

    fn packed(text: &str) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend(compress_to_vec(text.as_bytes(), 1));
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    #[test]
    fn a_link_leads_back_to_its_session() {
        let shared = Shared::new(Settings::default());
        let link = encode(&shared);
        assert!(link.starts_with("#v1:") && is_link(&link) && is_link(&format!("https://a.example/{link}")));
        assert_eq!(decode(&link), Ok(shared.clone()));
        assert_eq!(decode(&format!("https://a.example/?embed=1{link}")), Ok(shared));
    }

    #[test]
    fn bad_links_are_refused_with_a_sentence() {
        let deep = format!("{{\"settings\":{}", "[".repeat(100_000));
        let bomb = {
            let mut bytes = vec![VERSION];
            bytes.extend(compress_to_vec(&vec![b' '; TEXT_LIMIT_BYTES + 1], 9));
            format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
        };
        for (name, link, key) in [
            ("no link at all", String::new(), "share.refused.no-link"),
            ("an anchor", "#top".to_string(), "share.refused.no-link"),
            ("another version", "#v9:AAAA".to_string(), "share.refused.version"),
            (
                "another version byte",
                format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([9_u8])),
                "share.refused.damaged",
            ),
            ("nothing behind the prefix", "#v1:".to_string(), "share.refused.damaged"),
            ("letters that are none", "#v1:%%%".to_string(), "share.refused.damaged"),
            (
                "cut in the middle",
                encode(&Shared::new(Settings::default()))[..40].to_string(),
                "share.refused.damaged",
            ),
            ("too long", format!("{PREFIX}{}", "A".repeat(READ_LIMIT_BYTES + 1)), "share.refused.too-long"),
            ("too long once unpacked", bomb, "share.refused.too-long"),
            (
                "no text",
                format!(
                    "{PREFIX}{}",
                    URL_SAFE_NO_PAD.encode([&[VERSION][..], &compress_to_vec(&[0xff, 0xfe], 1)].concat())
                ),
                "share.refused.damaged",
            ),
            ("no JSON", packed("hello"), "share.refused.damaged"),
            ("nested without end", packed(&deep), "share.refused.damaged"),
        ] {
            let error = decode(&link).expect_err(name);
            assert_eq!(error.key, key, "{name}");
            for language in crate::i18n::Language::ALL {
                assert!(!error.sentence(language).contains("share."), "{name}: {}", error.sentence(language));
            }
        }
    }
}
