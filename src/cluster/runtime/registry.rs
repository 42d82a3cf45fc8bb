//! The image registry, as far as a cluster can tell: which images exist, how long they take, what a refusal says.
//!
//! What exists: every well-formed image, except a known repository with a tag that no release ever had
//! (`nginx:no-such-tag`, `nginx:9.9`), a name one or two letters away from a known one (`ngnix`), and names that say what is wrong with
//! them: `missing` does not exist, `private` wants credentials, `slow` takes six seconds.
//!
//! Models: the words of containerd and of `kubelet/images` (v1.36) for what comes of a pull. Leaves out: layers shared
//! between images, rate limits, manifests for several platforms.

use sha2::{Digest, Sha256};

use crate::cluster::fnv::fnv1a_32;

/// What comes of a pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// How long it takes; at least 1, but for the recorder's registry, which mostly takes no time.
    pub ticks: u64,
    /// The size of the image, or the error in the runtime's words.
    pub result: Result<i64, String>,
}

/// Repositories that people know, with the size of their images in MiB and the newest version (major and minor) that the
/// registry has, where a version is looked at.
const KNOWN: &[(&str, i64, Option<(u32, u32)>)] = &[
    ("nginx", 72, Some((1, 31))),
    ("httpd", 57, Some((2, 4))),
    ("redis", 44, Some((8, 6))),
    ("postgres", 156, Some((18, 9))),
    ("mysql", 231, Some((9, 7))),
    ("mariadb", 125, Some((12, 9))),
    ("mongo", 280, Some((8, 9))),
    ("memcached", 32, Some((1, 6))),
    ("rabbitmq", 110, Some((4, 9))),
    ("busybox", 2, Some((1, 38))),
    ("alpine", 4, Some((3, 24))),
    ("ubuntu", 29, Some((26, 10))),
    ("debian", 48, Some((13, 9))),
    ("python", 360, Some((3, 15))),
    ("node", 390, Some((26, 99))),
    ("golang", 300, Some((1, 27))),
    ("caddy", 20, Some((2, 12))),
    ("traefik", 48, Some((3, 9))),
    ("haproxy", 40, Some((3, 4))),
    ("wordpress", 220, Some((7, 0))),
    ("hello-world", 1, None),
    ("demo/api", 24, Some((2, 9))),
    ("demo/web", 18, Some((2, 9))),
    ("hashicorp/http-echo", 4, None),
    ("traefik/whoami", 3, None),
    ("kennethreitz/httpbin", 160, None),
    ("nginxdemos/hello", 16, None),
    ("nginxinc/nginx-unprivileged", 72, None),
    ("curlimages/curl", 10, None),
    ("registry.k8s.io/pause", 1, None),
    ("registry.k8s.io/coredns/coredns", 20, None),
    ("registry.k8s.io/kube-proxy", 31, None),
    ("registry.k8s.io/ingress-nginx/controller", 120, None),
    ("registry.k8s.io/e2e-test-images/agnhost", 53, None),
    ("registry.k8s.io/echoserver", 45, None),
    ("registry.k8s.io/busybox", 2, None),
    ("registry.k8s.io/metrics-server/metrics-server", 20, None),
    ("gcr.io/google-samples/hello-app", 11, None),
    ("gcr.io/google-samples/kubernetes-bootcamp", 81, Some((2, 0))),
    ("jocatalin/kubernetes-bootcamp", 81, Some((2, 0))),
    ("us-docker.pkg.dev/google-samples/containers/gke/gb-frontend", 150, None),
    ("us-docker.pkg.dev/google-samples/containers/gke/gb-redis-follower", 40, None),
    ("us-docker.pkg.dev/google-samples/containers/gke/hello-app", 11, None),
    ("registry.k8s.io/redis", 40, None),
    ("registry.k8s.io/nginx-slim", 40, None),
    ("registry.k8s.io/hpa-example", 170, None),
    ("registry.example/demo/api", 24, Some((2, 9))),
];

/// Tags that are words and yet exist.
const WORD_TAGS: &[&str] = &[
    "latest",
    "stable",
    "alpine",
    "slim",
    "mainline",
    "bookworm",
    "trixie",
    "bullseye",
    "edge",
    "lts",
    "perl",
    "curl",
    "glibc",
    "musl",
    "uclibc",
    "unstable",
    "plain-text",
    "noble",
    "jammy",
    "rolling",
    "fpm",
    "apache",
    "management",
    "otel",
];

/// An image name taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reference<'a> {
    repository: &'a str,
    tag: &'a str,
}

fn split(image: &str) -> Reference<'_> {
    if let Some((repository, digest)) = image.split_once('@') {
        let repository =
            repository.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).map_or(repository, |r| r.0);
        return Reference { repository, tag: digest };
    }
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => Reference { repository, tag },
        _ => Reference { repository: image, tag: "latest" },
    }
}

/// Why an image name cannot be read, in the kubelet's words; `None` when it can.
pub fn misnamed(image: &str) -> Option<String> {
    let reference = split(image);
    let path = reference
        .repository
        .split_once('/')
        .filter(|(host, _)| host.contains(['.', ':']))
        .map_or(reference.repository, |p| p.1);
    let why = if path.chars().any(|letter| letter.is_ascii_uppercase()) {
        format!("invalid reference format: repository name ({path}) must be lowercase")
    } else if !is_well_formed(path) || reference.tag.is_empty() {
        "invalid reference format".to_string()
    } else {
        return None;
    };
    Some(format!(
        "Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}"
    ))
}

fn is_well_formed(path: &str) -> bool {
    let part = |part: &str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(is_letter)
            && part.ends_with(is_letter)
            && part.chars().all(|c| is_letter(c) || matches!(c, '.' | '_' | '-'))
    };
    path.split('/').all(part)
}

/// What comes of pulling the image. With `recorded`, the registry is the one that the recordings were made with: it has
/// everything that the name does not deny, and images without bytes. `logins` are the registries that whoever asks has
/// credentials for.
pub fn pull(image: &str, recorded: bool, logins: &[String]) -> Pull {
    let reference = split(image);
    let full = if recorded { image.to_string() } else { full_name(image) };
    let failed = |code: &str, what: String| {
        let error = format!(
            "rpc error: code = {code} desc = failed to pull and unpack image \"{full}\": failed to resolve reference \"{full}\": {what}"
        );
        Pull { ticks: u64::from(!recorded), result: Err(error) }
    };
    let denied = "pull access denied, repository does not exist or may require authorization: server message: \
                  insufficient_scope: authorization failed";
    if image.contains("missing") {
        return failed("NotFound", format!("{full}: not found"));
    }
    if image.contains("private") && (recorded || !logins.iter().any(|login| is_for(login, &full))) {
        return failed("Unknown", denied.to_string());
    }
    let slow = image.contains("slow");
    if recorded {
        return Pull { ticks: if slow { 6 } else { 0 }, result: Ok(0) };
    }
    let known = KNOWN.iter().find(|(name, ..)| *name == short_name(reference.repository));
    match known {
        None if is_misspelt(reference.repository) => failed("Unknown", denied.to_string()),
        known if !is_plausible(reference.tag) || known.is_some_and(|k| !is_released(reference.tag, k.2)) => {
            failed("NotFound", format!("{full}: not found"))
        }
        known => {
            let mebibytes =
                known.map_or_else(|| 20 + i64::from(spread(reference.repository) % 80), |(_, size, _)| *size);
            let odd_bytes = i64::from(spread(image) % 1_000_000);
            let ticks = if slow { 6 } else { 1 + u64::from(spread(image) % 2) };
            Pull { ticks, result: Ok((mebibytes << 20) + odd_bytes) }
        }
    }
}

/// What comes of a pull while the registry does not answer.
pub fn unanswered(image: &str) -> Pull {
    let full = full_name(image);
    let host = full.split('/').next().unwrap_or_default();
    let error = format!(
        "rpc error: code = DeadlineExceeded desc = failed to pull and unpack image \"{full}\": failed to resolve reference \"{full}\": failed to do request: Head \"https://{host}/v2/\": dial tcp 198.51.100.5:443: i/o timeout"
    );
    Pull { ticks: 1, result: Err(error) }
}

/// Whether credentials for that registry (`https://index.docker.io/v1/`, `registry.example`) are good for the image.
fn is_for(login: &str, full: &str) -> bool {
    let place = login.trim_start_matches("https://").trim_start_matches("http://");
    let host = place.split('/').next().unwrap_or_default().trim_start_matches("index.");
    full.split('/').next() == Some(host)
}

/// The id that a node knows the image by.
pub fn image_id(image: &str, recorded: bool) -> String {
    if recorded {
        return image.to_string();
    }
    let full = full_name(image);
    format!("{}@sha256:{}", split(&full).repository, hexadecimal(&full))
}

/// The name as the runtime reports it: `docker.io/library/nginx:1.27`.
pub fn full_name(image: &str) -> String {
    let reference = split(image);
    let host_is_named = reference
        .repository
        .split_once('/')
        .is_some_and(|(host, _)| host.contains(['.', ':']) || host == "localhost");
    let repository = match reference.repository {
        repository if host_is_named => repository.to_string(),
        repository if repository.contains('/') => format!("docker.io/{repository}"),
        repository => format!("docker.io/library/{repository}"),
    };
    let separator = if reference.tag.starts_with("sha256:") { '@' } else { ':' };
    format!("{repository}{separator}{}", reference.tag)
}

/// The repository without Docker Hub's host and folder.
pub(super) fn short_name(repository: &str) -> &str {
    let repository = repository.strip_prefix("docker.io/").unwrap_or(repository);
    repository.strip_prefix("library/").unwrap_or(repository)
}

/// The repository of an image, without Docker Hub's host and folder.
pub fn repository(image: &str) -> &str {
    short_name(split(image).repository)
}

/// Whether the repository looks like a known one with one or two letters wrong.
fn is_misspelt(repository: &str) -> bool {
    let name = short_name(repository);
    let nearest =
        KNOWN.iter().filter(|(known, ..)| known.len() >= 5).map(|(known, ..)| distance(name, known)).min();
    nearest.is_some_and(|letters| (1..=2).contains(&letters)) && !name.contains('/')
}

/// Letters to insert, remove, change or swap.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// Whether a release could carry the tag: it begins like a version, or is a word that tags are.
fn is_plausible(tag: &str) -> bool {
    if tag.starts_with("sha256:") {
        return true;
    }
    let mut parts = tag.split(['-', '_']);
    let first = parts.next().unwrap_or_default();
    let is_word = |word: &str| {
        WORD_TAGS
            .iter()
            .any(|known| word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == *known)
    };
    let version = first.strip_prefix('v').unwrap_or(first);
    let is_version = !version.is_empty()
        && version.split('.').all(|number| {
            !number.is_empty() && number.len() <= 9 && number.chars().all(|c| c.is_ascii_digit())
        });
    let is_word_tag = WORD_TAGS.contains(&tag) || is_word(first);
    let is_branch =
        matches!(first, "main" | "master" | "dev" | "develop" | "release" | "prod" | "staging" | "test");
    is_version || is_word_tag || is_branch
}

/// Whether a known repository has the tag: its version is not beyond the newest, and what follows the version is a word
/// that tags are, or another version.
fn is_released(tag: &str, newest: Option<(u32, u32)>) -> bool {
    let Some(newest) = newest.filter(|_| !tag.starts_with("sha256:")) else { return true };
    let mut parts = tag.split('-');
    let version = parts.next().unwrap_or_default();
    let mut numbers = version.strip_prefix('v').unwrap_or(version).split('.').map(str::parse::<u32>);
    let is_old_enough = match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) <= newest,
        (Some(Ok(major)), _) => major <= newest.0,
        _ => true,
    };
    let is_known = |part: &str| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        word.is_empty() || WORD_TAGS.contains(&word)
    };
    is_old_enough && parts.all(is_known)
}

fn hexadecimal(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A fixed number for a text.
fn spread(text: &str) -> u32 {
    fnv1a_32(text.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_can_be_pulled() {
        for image in [
            "nginx",
            "nginx:1.27",
            "nginx:1.27-alpine",
            "nginx:stable-alpine",
            "docker.io/library/redis:7.4.1",
            "demo/api:1.0",
            "registry.example/shop/api:2.3.1",
            "ghcr.io/someone/tool:main",
            "registry.k8s.io/pause:3.10",
            "busybox:1.36",
            "postgres:16-bookworm",
            "node:20-slim",
            "hashicorp/http-echo:0.2.3",
            "api:v2",
            "alpine:3.20",
        ] {
            assert!(pull(image, false, &[]).result.is_ok(), "{image}");
        }
    }

    #[test]
    fn what_does_not_exist_is_refused_in_containerds_words() {
        for image in [
            "nginx:no-such-tag",
            "nginx:1.99.broken",
            "nginx:9.9",
            "nginx:1.27-nope",
            "demo/api:oops",
            "demo/api:7.0",
            "registry.example/missing-app:2.0",
        ] {
            let error = pull(image, false, &[]).result.unwrap_err();
            assert!(
                error.starts_with("rpc error: code = NotFound desc = ") && error.ends_with(": not found"),
                "{image}: {error}"
            );
        }
        for image in ["ngnix", "ngnix:1.27", "registry.example/private-app:1.0", "nginxx:1.27"] {
            assert!(pull(image, false, &[]).result.unwrap_err().contains("pull access denied"), "{image}");
        }
        assert_eq!(
            pull("nginx:nope", false, &[]).result.unwrap_err(),
            "rpc error: code = NotFound desc = failed to pull and unpack image \"docker.io/library/nginx:nope\": failed to resolve \
             reference \"docker.io/library/nginx:nope\": docker.io/library/nginx:nope: not found"
        );
    }

    #[test]
    fn the_recorded_registry_has_everything_that_the_name_does_not_deny() {
        assert_eq!(pull("nginx:broken", true, &[]), Pull { ticks: 0, result: Ok(0) });
        assert_eq!(pull("registry.example/slow-app:1.0", true, &[]).ticks, 6);
        assert!(pull("registry.example/missing-app:1.0", true, &[]).result.is_err());
    }

    #[test]
    fn a_name_with_capitals_cannot_be_read() {
        assert_eq!(
            misnamed("registry.example/App:1.0").unwrap(),
            "Failed to apply default image tag \"registry.example/App:1.0\": couldn't parse image name \
             \"registry.example/App:1.0\": invalid reference format: repository name (App) must be lowercase"
        );
        assert_eq!(misnamed("nginx:1.27"), None);
        assert_eq!(misnamed("localhost:5000/api"), None);
        assert!(misnamed("nginx:").is_some());
    }
}
