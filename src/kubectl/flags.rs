//! The flags that several commands share.
//!
//! Models: `k8s.io/cli-runtime/pkg/genericclioptions`, `k8s.io/kubectl/pkg/cmd/util` (v1.36).
//! Leaves out: flags that only shape the connection to a server are accepted and do nothing.

use super::parse::{Flag, Takes};

/// What every command takes.
pub const GLOBAL: &[Flag] = &[
    Flag::both("namespace", 'n', Takes::Text),
    Flag::both("help", 'h', Takes::Nothing),
    Flag::both("v", 'v', Takes::Number),
    Flag::both("server", 's', Takes::Text),
    Flag::long("as", Takes::Text),
    Flag::long("as-group", Takes::Texts),
    Flag::long("as-uid", Takes::Text),
    Flag::long("cache-dir", Takes::Text),
    Flag::long("certificate-authority", Takes::Text),
    Flag::long("client-certificate", Takes::Text),
    Flag::long("client-key", Takes::Text),
    Flag::long("cluster", Takes::Text),
    Flag::long("context", Takes::Text),
    Flag::long("insecure-skip-tls-verify", Takes::Nothing),
    Flag::long("kubeconfig", Takes::Text),
    Flag::long("request-timeout", Takes::Text),
    Flag::long("tls-server-name", Takes::Text),
    Flag::long("token", Takes::Text),
    Flag::long("user", Takes::Text),
    Flag::long("warnings-as-errors", Takes::Nothing),
];

/// `-f`, `-R`, `-k`: objects from files.
pub const FILES: &[Flag] = &[
    Flag::both("filename", 'f', Takes::List),
    Flag::both("kustomize", 'k', Takes::Text),
    Flag::both("recursive", 'R', Takes::Nothing),
];

/// `-l`.
pub const SELECTOR: &[Flag] = &[Flag::both("selector", 'l', Takes::Text)];

/// `--field-selector`.
pub const FIELD_SELECTOR: &[Flag] = &[Flag::long("field-selector", Takes::Text)];

/// `-A`.
pub const ALL_NAMESPACES: &[Flag] = &[Flag::both("all-namespaces", 'A', Takes::Nothing)];

/// `--all`.
pub const ALL: &[Flag] = &[Flag::long("all", Takes::Nothing)];

/// `-o` and what shapes its output.
pub const OUTPUT: &[Flag] = &[
    Flag::both("output", 'o', Takes::Text),
    Flag::long("template", Takes::Text),
    Flag::long("allow-missing-template-keys", Takes::Nothing),
    Flag::long("show-managed-fields", Takes::Nothing),
];

/// `--dry-run`.
pub const DRY_RUN: &[Flag] = &[Flag::long("dry-run", Takes::Optional("unchanged"))];

/// `--validate`.
pub const VALIDATE: &[Flag] = &[Flag::long("validate", Takes::Optional("strict"))];

/// `--field-manager`, which is accepted: fields have no managers here.
pub const FIELD_MANAGER: &[Flag] = &[Flag::long("field-manager", Takes::Text)];

/// `--save-config`.
pub const SAVE_CONFIG: &[Flag] = &[Flag::long("save-config", Takes::Nothing)];

/// `--record`, gone from the newest kubectl in all but name.
pub const RECORD: &[Flag] = &[Flag::long("record", Takes::Nothing)];

/// `--timeout`.
pub const TIMEOUT: &[Flag] = &[Flag::long("timeout", Takes::Duration)];
