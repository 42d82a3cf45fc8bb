//! The volumes of a Pod: what they hold, why one cannot be mounted, and which of them its containers share.
//!
//! Models: `pkg/volume/{configmap,secret,downwardapi,projected,hostpath}`, the messages of `MountVolume` (v1.36). Leaves out:
//! attaching disks to nodes, modes and owners of files.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use serde_json::Value;

use super::environment::{one_value, secret_data};
use crate::api::kinds::cluster::ConfigMap;
use crate::api::kinds::pod::{Container, Pod};
use crate::cluster::runtime::node::{Files, Mount};
use crate::cluster::store::Store;

/// The volume that the admission of Pods adds: it is the same in every Pod of a namespace.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// Where tokens are found, whichever Pod they are for.
const TOKEN_FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount/";

/// Every namespace has this one in a usual cluster, whether or not it is kept here.
const ROOT_CA: &str = "kube-root-ca.crt";

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";

/// Folders that a node's own file system has.
const NODE_FOLDERS: [&str; 12] =
    ["/", "/boot", "/dev", "/etc", "/home", "/opt", "/proc", "/run", "/sys", "/tmp", "/usr", "/var"];

fn volumes(pod: &Pod) -> impl Iterator<Item = &Value> {
    pod.spec.rest.get("volumes").and_then(Value::as_array).into_iter().flatten()
}

fn mounts(container: &Container) -> impl Iterator<Item = &Value> {
    container.rest.get("volumeMounts").and_then(Value::as_array).into_iter().flatten()
}

/// The first volume that cannot be mounted, and why: `("conf", "configmap \"settings\" not found")`.
pub fn unmountable(store: &Store, pod: &Pod) -> Option<(String, String)> {
    volumes(pod).find_map(|volume| {
        let name = volume["name"].as_str().unwrap_or_default().to_string();
        why_unmountable(store, pod, volume).map(|why| (name, why))
    })
}

fn why_unmountable(store: &Store, pod: &Pod, volume: &Value) -> Option<String> {
    let missing = |source: &Value, name: &str, is_secret: bool| -> Option<String> {
        let namespace = &pod.meta.namespace;
        let name = source[name].as_str()?;
        let (word, key_word) = if is_secret { ("secret", "secret") } else { ("configmap", "config") };
        if source["optional"] == true {
            return None;
        }
        let keys: Option<Vec<String>> = if is_secret {
            secret_data(store, namespace, name).map(|data| data.into_keys().collect())
        } else {
            let found = store.get::<ConfigMap>(namespace, name);
            found.map(|found| found.data.keys().chain(found.binary_data.keys()).cloned().collect())
        };
        let Some(keys) = keys else {
            return (name != ROOT_CA).then(|| format!("{word} \"{name}\" not found"));
        };
        let mut items = source["items"].as_array().into_iter().flatten();
        let absent = items.find_map(|item| item["key"].as_str().filter(|key| !keys.iter().any(|k| k == key)));
        absent.map(|key| format!("references non-existent {key_word} key: {key}"))
    };
    if let Some(why) = missing(&volume["configMap"], "name", false) {
        return Some(why);
    }
    if let Some(why) = missing(&volume["secret"], "secretName", true) {
        return Some(why);
    }
    if let Some(path) = volume["hostPath"]["path"].as_str() {
        let is_folder = NODE_FOLDERS
            .iter()
            .any(|folder| *folder == path.trim_end_matches('/') || *folder == path)
            || ["/etc/kubernetes", "/var/log", "/var/lib", "/var/run", "/var/lib/kubelet", "/var/log/pods"]
                .contains(&path.trim_end_matches('/'));
        let what = match volume["hostPath"]["type"].as_str() {
            Some("Directory") if !is_folder => "directory",
            Some("File") if is_folder || !path.starts_with("/etc/") => "file",
            Some("Socket") if !path.ends_with(".sock") => "socket file",
            Some("CharDevice") if !path.starts_with("/dev/") => "character device",
            Some("BlockDevice") if !path.starts_with("/dev/") => "block device",
            _ => return None,
        };
        return Some(format!("hostPath type check failed: {path} is not a {what}"));
    }
    volume["projected"]["sources"].as_array().into_iter().flatten().find_map(|source| {
        missing(&source["configMap"], "name", false).or_else(|| missing(&source["secret"], "name", true))
    })
}

/// The files that the container's volumes put into it, by path, as the kubelet writes them now; nothing if it has none
/// beside its token. Parts of volumes that a container mounts by `subPath` stay as they were: `before`.
pub fn files_of(
    store: &Store,
    pod: &Pod,
    container: &Container,
    ip: &str,
    before: Option<&Files>,
) -> Option<Files> {
    let mut files = Files::default();
    for mount in mounts(container) {
        let text = |key: &str| mount[key].as_str().unwrap_or_default();
        if text("name").starts_with(TOKEN_VOLUME) {
            continue;
        }
        let Some(volume) = volumes(pod).find(|volume| volume["name"] == mount["name"]) else { continue };
        let (path, sub_path) = (text("mountPath").trim_end_matches('/'), text("subPath"));
        if let Some(before) = before.filter(|_| !sub_path.is_empty()) {
            let is_below = |file: &str| file == path || file.starts_with(&format!("{path}/"));
            files.extend(
                before.iter().filter(|(file, _)| is_below(file)).map(|(f, t)| (f.clone(), t.clone())),
            );
            continue;
        }
        for (name, content) in contents_of(store, pod, volume, ip) {
            if sub_path.is_empty() {
                files.insert(format!("{path}/{name}"), content);
            } else if let Some(rest) = name.strip_prefix(sub_path) {
                match rest.strip_prefix('/') {
                    Some(inner) => files.insert(format!("{path}/{inner}"), content),
                    None if rest.is_empty() => files.insert(path.to_string(), content),
                    None => None,
                };
            }
        }
    }
    (!files.is_empty()).then_some(files)
}

/// A file that every container has, whatever its image: what the kubelet and the token's volume put there.
pub fn usual_file(pod: &Pod, ip: &str, path: &str) -> Option<String> {
    let (name, namespace) = (&pod.meta.name, &pod.meta.namespace);
    if let Some(file) = path.strip_prefix(TOKEN_FOLDER) {
        let has = volumes(pod).any(|v| v["name"].as_str().is_some_and(|name| name.starts_with(TOKEN_VOLUME)));
        return match file {
            _ if !has => None,
            "ca.crt" => Some(CERTIFICATE.to_string()),
            "namespace" => Some(namespace.to_string()),
            "token" => Some(token(pod, "")),
            _ => None,
        };
    }
    let subdomain = pod.spec.rest.get("subdomain").and_then(Value::as_str).unwrap_or_default();
    let hostname = pod.spec.rest.get("hostname").and_then(Value::as_str).unwrap_or(name);
    match path {
        "/etc/hostname" => Some(format!("{hostname}\n")),
        "/etc/hosts" => {
            let known_as = match subdomain {
                "" => hostname.to_string(),
                subdomain => format!("{hostname}.{subdomain}.{namespace}.svc.cluster.local\t{hostname}"),
            };
            let mut text = format!(
                "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n{ip}\t{known_as}\n"
            );
            let aliases = pod.spec.rest.get("hostAliases").and_then(Value::as_array);
            let mut aliases = aliases.into_iter().flatten().peekable();
            if aliases.peek().is_some() {
                text.push_str("\n# Entries added by HostAliases.\n");
            }
            for alias in aliases {
                let names = alias["hostnames"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let names: Vec<&str> = names.collect();
                text.push_str(&format!(
                    "{}\t{}\n",
                    alias["ip"].as_str().unwrap_or_default(),
                    names.join("\t")
                ));
            }
            Some(text)
        }
        "/etc/resolv.conf" => Some(match pod.spec.dns_policy.as_str() {
            "Default" | "None" => "nameserver 192.168.0.1\n".to_string(),
            _ => format!(
                "search {namespace}.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
            ),
        }),
        _ => None,
    }
}

/// The paths at which [`usual_file`] may have something.
pub const USUAL_FILES: [&str; 6] = [
    "/etc/hostname",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
    "/var/run/secrets/kubernetes.io/serviceaccount/namespace",
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
];

/// A token as far as somebody can tell who only looks at it: three parts, of which two can be read.
fn token(pod: &Pod, audience: &str) -> String {
    let part = |text: String| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let account = match pod.spec.service_account_name.as_str() {
        "" => "default",
        account => account,
    };
    let audience =
        if audience.is_empty() { "https://kubernetes.default.svc.cluster.local" } else { audience };
    let (namespace, name, uid) = (&pod.meta.namespace, &pod.meta.name, &pod.meta.uid);
    let claims = serde_json::json!({
        "aud": [audience],
        "iss": "https://kubernetes.default.svc.cluster.local",
        "kubernetes.io": {
            "namespace": namespace.to_string(),
            "pod": {"name": name.to_string(), "uid": uid.to_string()},
            "serviceaccount": {"name": account},
        },
        "sub": format!("system:serviceaccount:{namespace}:{account}"),
    });
    let header = part(r#"{"alg":"RS256","kid":"kubestep"}"#.to_string());
    format!("{header}.{}.{}", part(claims.to_string()), part(format!("signature of {uid}")))
}

/// The volumes that keep what is written to them while the Pod is there, with the paths at which the container has them.
pub fn shared_mounts(pod: &Pod, container: &Container) -> Arc<[Mount]> {
    let keeps = |volume: &&Value| {
        ["emptyDir", "hostPath", "persistentVolumeClaim", "ephemeral"]
            .iter()
            .any(|kind| !volume[*kind].is_null())
    };
    let found = mounts(container).filter_map(|mount| {
        let volume = volumes(pod).filter(keeps).find(|volume| volume["name"] == mount["name"])?;
        let sub_path = mount["subPath"].as_str().unwrap_or_default().trim_matches('/');
        let inside = if sub_path.is_empty() { String::new() } else { format!("/{sub_path}") };
        Some(Mount {
            path: mount["mountPath"].as_str()?.trim_end_matches('/').to_string(),
            volume: volume["name"].as_str()?.to_string() + &inside,
        })
    });
    found.collect()
}

/// What a volume holds, by file name.
fn contents_of(store: &Store, pod: &Pod, volume: &Value, ip: &str) -> Vec<(String, String)> {
    let namespace = &pod.meta.namespace;
    // The keys of a source under the names that its items give them.
    let picked = |data: BTreeMap<String, String>, source: &Value| -> Vec<(String, String)> {
        let Some(items) = source["items"].as_array() else { return data.into_iter().collect() };
        let item = |item: &Value| {
            Some((item["path"].as_str()?.to_string(), data.get(item["key"].as_str()?)?.clone()))
        };
        items.iter().filter_map(item).collect()
    };
    let config_map = |source: &Value| {
        let Some(name) = source["name"].as_str() else { return Vec::new() };
        match store.get::<ConfigMap>(namespace, name) {
            Some(found) => {
                let mut data = found.data.clone();
                let decode = |value: &String| {
                    let bytes = base64::engine::general_purpose::STANDARD.decode(value).ok()?;
                    Some(String::from_utf8_lossy(&bytes).into_owned())
                };
                let binary = found.binary_data.iter();
                data.extend(binary.filter_map(|(key, value)| Some((key.clone(), decode(value)?))));
                picked(data, source)
            }
            None if name == ROOT_CA => vec![("ca.crt".to_string(), CERTIFICATE.to_string())],
            None => Vec::new(),
        }
    };
    let secret = |source: &Value, name: &str| {
        let found = source[name].as_str().and_then(|name| secret_data(store, namespace, name));
        found.map_or(Vec::new(), |data| picked(data, source))
    };
    let downward = |source: &Value| {
        let items = source["items"].as_array();
        let item = |item: &Value| {
            let value = one_value(store, pod, &Container::default(), item, ip).ok().flatten();
            Some((item["path"].as_str()?.to_string(), value.unwrap_or_default()))
        };
        items.into_iter().flatten().filter_map(item).collect::<Vec<_>>()
    };
    let mut contents = config_map(&volume["configMap"]);
    contents.extend(secret(&volume["secret"], "secretName"));
    contents.extend(downward(&volume["downwardAPI"]));
    for source in volume["projected"]["sources"].as_array().into_iter().flatten() {
        contents.extend(config_map(&source["configMap"]));
        contents.extend(secret(&source["secret"], "name"));
        contents.extend(downward(&source["downwardAPI"]));
        let wanted = &source["serviceAccountToken"];
        if let Some(path) = wanted["path"].as_str() {
            contents.push((path.to_string(), token(pod, wanted["audience"].as_str().unwrap_or_default())));
        }
    }
    contents
}

/// Whether a change of that ConfigMap (or Secret) may change a file of one of the Pod's volumes.
pub fn mounts_config(pod: &Pod, name: &str, is_secret: bool) -> bool {
    let names = |source: &Value, secret_key: &str| {
        let named = if is_secret { &source["secret"][secret_key] } else { &source["configMap"]["name"] };
        named == name
    };
    volumes(pod).filter(|volume| !volume["name"].as_str().is_some_and(|n| n.starts_with(TOKEN_VOLUME))).any(
        |volume| {
            let mut sources = volume["projected"]["sources"].as_array().into_iter().flatten();
            names(volume, "secretName") || sources.any(|source| names(source, "name"))
        },
    )
}
