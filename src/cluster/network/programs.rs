//! Which Pods run the programs that carry requests. A program is known by its image, as the container's contents are:
//! a Pod with the right labels and another image carries nothing.

use crate::api::kinds::pod::{Container, Pod};
use crate::cluster::store::Store;

/// A program that carries requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// kube-proxy.
    KubeProxy,
    /// CoreDNS.
    CoreDns,
    /// ingress-nginx.
    IngressNginx,
}

impl Program {
    /// How the repository of its image ends, whatever registry it comes from.
    fn repository(self) -> &'static str {
        match self {
            Self::KubeProxy => "kube-proxy",
            Self::CoreDns => "coredns",
            Self::IngressNginx => "ingress-nginx/controller",
        }
    }

    /// The Pod's container that is made from the program's image.
    pub fn container_of(self, pod: &Pod) -> Option<&Container> {
        pod.spec.containers.iter().find(|container| is_from(&container.image, self.repository()))
    }

    /// Whether the program runs in the Pod: its container has started and has not ended.
    pub fn runs_in(self, pod: &Pod) -> bool {
        let Some(container) = self.container_of(pod) else { return false };
        let status = pod.status.container_statuses.iter().find(|status| status.name == container.name);
        !pod.is_finished() && status.is_some_and(|status| status.state.running.is_some())
    }

    /// The Pods in which the program runs, by namespace and name. The cluster's DNS is looked for in `kube-system`
    /// only, where its Service selects.
    pub fn pods(self, store: &Store) -> Vec<&Pod> {
        let running = |pod: &&Pod| self.runs_in(pod);
        match self {
            Self::CoreDns => store.list_in::<Pod>("kube-system").map(|pod| &**pod).filter(running).collect(),
            _ => store.list::<Pod>().map(|pod| &**pod).filter(running).collect(),
        }
    }
}

/// Whether an image's repository is `repository` or ends with `/repository`.
fn is_from(image: &str, repository: &str) -> bool {
    let name = image.split('@').next().unwrap_or(image);
    let name = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => name,
    };
    name == repository || name.strip_suffix(repository).is_some_and(|front| front.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_repository_of_its_image() {
        for (image, repository, expected) in [
            ("registry.k8s.io/coredns/coredns:v1.12.0", "coredns", true),
            ("localhost:5000/coredns", "coredns", true),
            ("coredns", "coredns", true),
            ("example/not-coredns:1", "coredns", false),
            ("registry.k8s.io/ingress-nginx/controller:v1.14.0@sha256:ab", "ingress-nginx/controller", true),
            ("example/controller:1", "ingress-nginx/controller", false),
        ] {
            assert_eq!(is_from(image, repository), expected, "{image}");
        }
    }
}
