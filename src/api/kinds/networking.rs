//! Service, EndpointSlice, Ingress and IngressClass.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::int_or_string::IntOrString;
use crate::api::meta::{Name, ObjectMeta, Uid};

crate::record! {
    /// `core/v1 Service`.
    pub struct Service {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: ServiceSpec = "spec" always,
        /// The report.
        status: ServiceStatus = "status" always,
    }

    /// `core/v1 ServiceSpec`.
    pub struct ServiceSpec {
        /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
        service_type: String = "type",
        /// The cluster's address for it; `None` for a headless Service.
        cluster_ip: String = "clusterIP",
        /// All cluster addresses.
        cluster_ips: Vec<String> = "clusterIPs",
        /// Labels of the Pods behind it; empty means that nobody fills in endpoints.
        selector: BTreeMap<String, String> = "selector",
        /// Its ports.
        ports: Vec<ServicePort> = "ports",
        /// The DNS name that an `ExternalName` Service stands for.
        external_name: String = "externalName",
        /// Whether endpoints count before they are ready.
        publish_not_ready_addresses: bool = "publishNotReadyAddresses",
        /// `None` or `ClientIP`.
        session_affinity: String = "sessionAffinity",
        /// `Cluster` or `Local`.
        external_traffic_policy: String = "externalTrafficPolicy",
        /// `Cluster` or `Local`.
        internal_traffic_policy: String = "internalTrafficPolicy",
        /// Addresses that lead to it from outside.
        external_ips: Vec<String> = "externalIPs",
    }

    /// `core/v1 ServicePort`.
    pub struct ServicePort {
        /// Its name; may be empty if it is the only one.
        name: String = "name",
        /// `TCP`, `UDP` or `SCTP`.
        protocol: String = "protocol",
        /// What the application protocol is.
        app_protocol: String = "appProtocol",
        /// The port that clients use.
        port: i32 = "port" always,
        /// The port of the Pods, a number or a name.
        target_port: IntOrString = "targetPort",
        /// The port on every node; 0 for none.
        node_port: i32 = "nodePort",
    }

    /// `core/v1 ServiceStatus`.
    pub struct ServiceStatus {
        /// Where the load balancer is reached.
        load_balancer: LoadBalancerStatus = "loadBalancer" always,
    }

    /// `core/v1 LoadBalancerStatus`, also that of an Ingress.
    pub struct LoadBalancerStatus {
        /// The entry points.
        ingress: Vec<LoadBalancerIngress> = "ingress",
    }

    /// `core/v1 LoadBalancerIngress`.
    pub struct LoadBalancerIngress {
        /// The address.
        ip: String = "ip",
        /// The host name.
        hostname: String = "hostname",
    }

    /// `discovery/v1 EndpointSlice`.
    pub struct EndpointSlice {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// `IPv4`, `IPv6` or `FQDN`.
        address_type: String = "addressType" always,
        /// The endpoints.
        endpoints: Vec<Endpoint> = "endpoints" always,
        /// The ports that every endpoint has.
        ports: Vec<EndpointPort> = "ports" always,
    }

    /// `discovery/v1 Endpoint`.
    pub struct Endpoint {
        /// Its addresses; the first is used.
        addresses: Vec<String> = "addresses" always,
        /// What is known of it.
        conditions: EndpointConditions = "conditions",
        /// The host name it has in DNS.
        hostname: String = "hostname",
        /// The Pod behind it.
        target_ref: Option<ObjectReference> = "targetRef",
        /// The node it is on.
        node_name: Name = "nodeName",
        /// The zone it is in.
        zone: String = "zone",
    }

    /// `discovery/v1 EndpointConditions`.
    pub struct EndpointConditions {
        /// Whether it takes new connections; absent counts as true.
        ready: Option<bool> = "ready",
        /// Whether it answers, even on its way out.
        serving: Option<bool> = "serving",
        /// Whether it is on its way out.
        terminating: Option<bool> = "terminating",
    }

    /// `discovery/v1 EndpointPort`.
    pub struct EndpointPort {
        /// The Service port's name; empty for the only one.
        name: String = "name" always,
        /// `TCP`, `UDP` or `SCTP`.
        protocol: String = "protocol",
        /// The port's number; absent for all ports.
        port: Option<i32> = "port",
        /// What the application protocol is.
        app_protocol: String = "appProtocol",
    }

    /// `core/v1 Endpoints`.
    pub struct Endpoints {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// Addresses by the ports that they have in common.
        subsets: Vec<EndpointSubset> = "subsets",
    }

    /// `core/v1 EndpointSubset`.
    pub struct EndpointSubset {
        /// Those that are ready.
        addresses: Vec<EndpointAddress> = "addresses",
        /// Those that are not.
        not_ready_addresses: Vec<EndpointAddress> = "notReadyAddresses",
        /// The ports that all of them have.
        ports: Vec<EndpointSubsetPort> = "ports",
    }

    /// `core/v1 EndpointAddress`.
    pub struct EndpointAddress {
        /// The address.
        ip: String = "ip" always,
        /// The host name it has in DNS.
        hostname: String = "hostname",
        /// The node it is on.
        node_name: Name = "nodeName",
        /// The Pod behind it.
        target_ref: Option<ObjectReference> = "targetRef",
    }

    /// `core/v1 EndpointPort`.
    pub struct EndpointSubsetPort {
        /// The Service port's name; empty for the only one.
        name: String = "name",
        /// The port's number.
        port: i32 = "port" always,
        /// `TCP`, `UDP` or `SCTP`.
        protocol: String = "protocol",
        /// What the application protocol is.
        app_protocol: String = "appProtocol",
    }

    /// `core/v1 ObjectReference`.
    pub struct ObjectReference {
        /// Kind of the object.
        kind: String = "kind",
        /// Its namespace.
        namespace: Name = "namespace",
        /// Its name.
        name: Name = "name",
        /// Its uid.
        uid: Uid = "uid",
        /// Its group and version.
        api_version: String = "apiVersion",
        /// The revision it had.
        resource_version: String = "resourceVersion",
        /// The part of it that is meant, as `spec.containers{api}`.
        field_path: String = "fieldPath",
    }

    /// `networking/v1 Ingress`.
    pub struct Ingress {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: IngressSpec = "spec" always,
        /// The report.
        status: IngressStatus = "status" always,
    }

    /// `networking/v1 IngressSpec`.
    pub struct IngressSpec {
        /// The class, and so the controller that is to handle it.
        ingress_class_name: Option<String> = "ingressClassName",
        /// Where requests go that match no rule.
        default_backend: Option<IngressBackend> = "defaultBackend",
        /// Hosts served with TLS.
        tls: Vec<IngressTls> = "tls",
        /// The rules.
        rules: Vec<IngressRule> = "rules",
    }

    /// `networking/v1 IngressTLS`.
    pub struct IngressTls {
        /// The hosts.
        hosts: Vec<String> = "hosts",
        /// The Secret with the certificate.
        secret_name: String = "secretName",
    }

    /// `networking/v1 IngressRule`.
    pub struct IngressRule {
        /// The host, which may start with `*.`; empty for all.
        host: String = "host",
        /// The paths.
        http: Option<HttpIngressRuleValue> = "http",
    }

    /// `networking/v1 HTTPIngressRuleValue`.
    pub struct HttpIngressRuleValue {
        /// The paths.
        paths: Vec<HttpIngressPath> = "paths" always,
    }

    /// `networking/v1 HTTPIngressPath`.
    pub struct HttpIngressPath {
        /// The path.
        path: String = "path",
        /// `Exact`, `Prefix` or `ImplementationSpecific`.
        path_type: String = "pathType",
        /// Where matching requests go.
        backend: IngressBackend = "backend" always,
    }

    /// `networking/v1 IngressBackend`.
    pub struct IngressBackend {
        /// The Service.
        service: Option<IngressServiceBackend> = "service",
        /// Another object instead of a Service.
        resource: Value = "resource",
    }

    /// `networking/v1 IngressServiceBackend`.
    pub struct IngressServiceBackend {
        /// The Service's name, in the Ingress's namespace.
        name: String = "name" always,
        /// The Service's port.
        port: ServiceBackendPort = "port",
    }

    /// `networking/v1 ServiceBackendPort`: a name or a number.
    pub struct ServiceBackendPort {
        /// The port's name.
        name: String = "name",
        /// The port's number; 0 when named.
        number: i32 = "number",
    }

    /// `networking/v1 IngressStatus`.
    pub struct IngressStatus {
        /// Where the Ingress is reached.
        load_balancer: LoadBalancerStatus = "loadBalancer" always,
    }

    /// `networking/v1 IngressClass`.
    pub struct IngressClass {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: IngressClassSpec = "spec",
    }

    /// `networking/v1 IngressClassSpec`.
    pub struct IngressClassSpec {
        /// The controller that handles the class, as `k8s.io/ingress-nginx`.
        controller: String = "controller",
        /// Parameters for it.
        parameters: Value = "parameters",
    }
}

/// The label by which a slice names its Service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

impl EndpointSlice {
    /// The name of the Service that it belongs to.
    pub fn service_name(&self) -> Option<&str> {
        self.meta.labels.get(SERVICE_NAME).map(String::as_str)
    }

    /// Whether it belongs to the Service of that name.
    pub fn is_of(&self, service: &str) -> bool {
        self.service_name() == Some(service)
    }
}

impl Endpoint {
    /// Whether new connections may go to it.
    pub fn is_ready(&self) -> bool {
        self.conditions.ready != Some(false)
    }
}
