//! Kubernetes itself.

use crate::read::{Fields, Kind, Pick, Shape, Spanned, optional, required};
use crate::scalar::{Cidr, DnsName, Scalar, Text, Version};

/// Kubernetes itself.
#[derive(Clone, Debug)]
pub struct Kubernetes {
    /// Its version.
    pub version: Spanned<Version>,
    /// Addresses of pods.
    pub pod_cidr: Option<Spanned<Cidr>>,
    /// Addresses of services.
    pub service_cidr: Option<Spanned<Cidr>>,
    /// The domain that services are found under.
    pub domain: Option<Spanned<DnsName>>,
    /// Further names and addresses for the API's certificate.
    pub cert_sans: Vec<Spanned<DnsName>>,
    /// Whether kubelets get serving certificates from the cluster's authority.
    pub rotate_server_certificates: Option<Spanned<bool>>,
    /// Who approves those certificates after the run.
    pub certificate_approver: Option<Spanned<Text>>,
}

pub(crate) static KUBERNETES: Shape = Shape {
    name: "Kubernetes",
    doc: "Kubernetes itself.",
    groups: &[&[
        required("version", Kind::Scalar(Version::FORMAT), "The Kubernetes version."),
        optional(
            "podCidr",
            Kind::Scalar(Cidr::FORMAT),
            "Addresses of pods; every node takes a /24. Default: the upper half of Hetzner's network, else 10.244.0.0/16.",
        ),
        optional(
            "serviceCidr",
            Kind::Scalar(Cidr::FORMAT),
            "Addresses of services, /12 to /24. Default: an eighth of Hetzner's network, else 10.96.0.0/16.",
        ),
        optional(
            "domain",
            Kind::Scalar(DnsName::FORMAT),
            "The domain that services are found under. Default: cluster.local.",
        ),
        optional(
            "certSANs",
            Kind::Scalars(DnsName::FORMAT),
            "Further names or addresses that the API's certificate is valid for.",
        ),
        optional(
            "rotateServerCertificates",
            Kind::Scalar(bool::FORMAT),
            "Whether kubelets get serving certificates from the cluster's authority. Something has to approve them: bring it with `manifests`. Default: false.",
        ),
        optional(
            "certificateApprover",
            Kind::Scalar(Text::FORMAT),
            "The deployment that approves kubelet certificates after the run, as `namespace/name`.",
        )
        .not_yet("bring the deployment with `manifests`, and remove this"),
    ]],
    pick: Pick::Any,
};

impl Kubernetes {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let kubernetes = Self {
            version: fields.required("version"),
            pod_cidr: fields.optional("podCidr"),
            service_cidr: fields.optional("serviceCidr"),
            domain: fields.optional("domain"),
            cert_sans: fields.list("certSANs"),
            rotate_server_certificates: fields.optional("rotateServerCertificates"),
            certificate_approver: fields.optional("certificateApprover"),
        };
        fields.finish();
        kubernetes
    }
}
