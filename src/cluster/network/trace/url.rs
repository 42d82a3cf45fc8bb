//! The part of URLs that a request needs.

use crate::cluster::because::Because;

/// An `http` or `https` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// `http` or `https`.
    pub scheme: String,
    /// The host name or address, in lower case.
    pub host: String,
    /// The port; the scheme's own when none was given.
    pub port: i32,
    /// The path, from `/`, without the query.
    pub path: String,
    /// The query, with its `?`; empty for none.
    pub query: String,
}

/// The longest URL that is read.
const MAX_LENGTH: usize = 2048;

impl Url {
    /// Reads `http://shop.example/api?x=1`; without a scheme, as curl does, `http`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Because> {
        let text = text.trim();
        if text.len() > MAX_LENGTH {
            return Err(Because::new("trace.url.too_long").with("most", MAX_LENGTH));
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => ("http".to_string(), text),
        };
        let default_port = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return Err(Because::new("trace.url.scheme").with("scheme", scheme)),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, "")) => (host, default_port),
            Some((host, port)) => match port.parse::<u16>() {
                Ok(port) if port > 0 => (host, i32::from(port)),
                _ => return Err(Because::new("trace.url.port").with("port", port)),
            },
            None => (authority, default_port),
        };
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if host.is_empty() || !host.chars().all(is_host) {
            return Err(Because::new("trace.url.host").with("host", host));
        }
        let (path, query) = match tail.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (tail, String::new()),
        };
        let path = if path.is_empty() { "/".to_string() } else { path.to_string() };
        Ok(Self { scheme, host: host.to_ascii_lowercase(), port, path, query })
    }

    /// Whether the host is an address, so that nothing is to be resolved.
    pub fn is_address(&self) -> bool {
        self.host.parse::<std::net::Ipv4Addr>().is_ok()
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        if !matches!((self.scheme.as_str(), self.port), ("http", 80) | ("https", 443)) {
            write!(f, ":{}", self.port)?;
        }
        write!(f, "{}{}", self.path, self.query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_read_as_curl_reads_them() {
        for (text, shown, port, path) in [
            ("http://shop.example/api", "http://shop.example/api", 80, "/api"),
            ("shop.example", "http://shop.example/", 80, "/"),
            ("https://Shop.Example:8443/a?b=c#d", "https://shop.example:8443/a?b=c", 8443, "/a"),
            ("http://u:p@10.96.0.1:80?x", "http://10.96.0.1/?x", 80, "/"),
            ("api:8080/x", "http://api:8080/x", 8080, "/x"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!(
                (url.to_string().as_str(), url.port, url.path.as_str()),
                (shown, port, path),
                "{text}"
            );
        }
        for (text, key) in [
            ("ftp://a/", "trace.url.scheme"),
            ("http:///x", "trace.url.host"),
            ("http://a:99999/", "trace.url.port"),
            ("http://a b/", "trace.url.host"),
        ] {
            assert_eq!(Url::parse(text).unwrap_err().key, key, "{text}");
        }
    }
}
