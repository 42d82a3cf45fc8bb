//! What a v1.36 server offers, whether the cluster simulates it or not: its resources, as `kubectl api-resources` lists
//! them.
//!
//! Models: the discovery documents of v1.36.2. Leaves out: subresources.

use super::kind::Kind;

const TABLE: &str = include_str!("schema/resources.tsv");
const ADDED_VERBS: &str = "delete,deletecollection,get,list,patch,create,update,watch";
const VERBS: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResource {
    /// `deployments`.
    pub plural: &'static str,
    /// `deploy`; several are separated by commas.
    pub short_names: &'static str,
    /// `apps/v1`.
    pub api_version: &'static str,
    /// Whether its objects stand in a namespace.
    pub namespaced: bool,
    /// `Deployment`.
    pub kind: &'static str,
    /// What can be done, separated by commas.
    pub verbs: &'static str,
    /// `all`; empty for none.
    pub categories: &'static str,
}

impl ApiResource {
    /// `apps`; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether a word means it: its plural, its kind in small letters, or a short name.
    pub fn is_called(&self, word: &str) -> bool {
        self.plural == word
            || self.kind.eq_ignore_ascii_case(word)
            || self.short_names.split(',').any(|short| !short.is_empty() && short == word)
    }
}

/// The resource of a kind that somebody added.
pub fn added(kind: Kind) -> Option<ApiResource> {
    let Kind::Custom(custom) = kind else { return None };
    Some(ApiResource {
        plural: kind.plural(),
        short_names: custom.short_list(),
        api_version: custom.api_version(),
        namespaced: kind.is_namespaced(),
        kind: kind.name(),
        verbs: ADDED_VERBS,
        categories: "",
    })
}

/// Every resource, the core group first, then by group and name.
pub fn resources() -> impl Iterator<Item = ApiResource> {
    TABLE.lines().map(|line| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default();
        let (plural, short_names, api_version) = (cell(), cell(), cell());
        let (namespaced, kind, verbs, categories) = (cell() == "yes", cell(), cell(), cell());
        let verbs = if verbs.is_empty() { VERBS } else { verbs };
        ApiResource { plural, short_names, api_version, namespaced, kind, verbs, categories }
    })
}

/// The resource that a word means, with or without its group: `deploy`, `deployments.apps`.
pub fn find(word: &str) -> Option<ApiResource> {
    let word = word.to_ascii_lowercase();
    if let Some(found) = resources().find(|resource| resource.is_called(&word)) {
        return Some(found);
    }
    let (name, group) = word.split_once('.')?;
    // Version and group may both stand there: `deployments.v1.apps`.
    let bare = group.split_once('.').map_or("", |(_, rest)| rest);
    resources().find(|resource| {
        resource.is_called(name)
            && (resource.group() == group || (!bare.is_empty() && resource.group() == bare))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_resources() {
        for (word, plural) in [
            ("deploy", Some("deployments")),
            ("deployments.apps", Some("deployments")),
            ("Pod", Some("pods")),
            ("roles.rbac.authorization.k8s.io", Some("roles")),
            ("pods.apps", None),
            ("boats", None),
        ] {
            assert_eq!(find(word).map(|found| found.plural), plural, "{word}");
        }
    }

    #[test]
    fn every_kind_of_the_cluster_is_offered_as_it_is_called() {
        for kind in Kind::ALL {
            let info = kind.info();
            let offered = resources().find(|one| one.plural == info.plural && one.group() == info.group);
            let offered = offered.unwrap_or_else(|| panic!("{kind:?} is not in the table"));
            assert_eq!(offered.kind, info.name);
            assert_eq!(offered.short_names, info.short_names.join(","), "{kind:?}");
            assert_eq!(offered.namespaced, info.namespaced, "{kind:?}");
        }
    }
}
