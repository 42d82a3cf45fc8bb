//! The colour of an actor, always shown with its name.

/// A colour class; its value is a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tint {
    /// The learner.
    You,
    /// The API server.
    ApiServer,
    /// The Deployment controller.
    Deployment,
    /// The ReplicaSet controller.
    ReplicaSet,
    /// The scheduler.
    Scheduler,
    /// A kubelet.
    Kubelet,
    /// The EndpointSlice controller.
    Endpoints,
    /// kube-proxy, CoreDNS and the Ingress controller.
    Route,
    /// Every other component.
    #[default]
    Other,
}

impl Tint {
    /// The state class that sets the actor's colour.
    pub fn class(self) -> &'static str {
        match self {
            Tint::You => "is-you",
            Tint::ApiServer => "is-api",
            Tint::Deployment => "is-deployment",
            Tint::ReplicaSet => "is-replicaset",
            Tint::Scheduler => "is-scheduler",
            Tint::Kubelet => "is-kubelet",
            Tint::Endpoints => "is-endpoints",
            Tint::Route => "is-route",
            Tint::Other => "is-other",
        }
    }
}

/// An actor as every pane names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActorTag {
    /// Its colour.
    pub tint: Tint,
    /// Its name, such as `deployment controller`.
    pub name: String,
}

impl ActorTag {
    /// A tag from its parts.
    pub fn new(tint: Tint, name: impl Into<String>) -> ActorTag {
        ActorTag { tint, name: name.into() }
    }
}
