//! What all things at Hetzner have in common, and when one is ours.

use std::ops::Deref;

use serde::de::DeserializeOwned;

use super::{Id, Kind};
use crate::Labels;

/// Something that Hetzner gives out in lists.
pub trait Listed: DeserializeOwned + Send {
    /// How one of them is called in an answer.
    const SINGULAR: &'static str;
    /// How a list of them is called, in an answer and in the path.
    const PLURAL: &'static str;
}

/// Something that a cluster can own.
pub trait Resource: DeserializeOwned + Clone + Send + Sync + 'static {
    /// What it is.
    const KIND: Kind;

    /// Returns its id.
    fn id(&self) -> Id<Self>;

    /// Returns its name.
    fn name(&self) -> &str;

    /// Returns its labels.
    fn labels(&self) -> &Labels;

    /// Returns whether Hetzner refuses to delete it.
    fn is_protected(&self) -> bool {
        false
    }
}

impl<R: Resource> Listed for R {
    const SINGULAR: &'static str = R::KIND.singular();
    const PLURAL: &'static str = R::KIND.plural();
}

/// Something that is provably the cluster's. Only a look makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ours<R> {
    resource: R,
    proof: Proof,
}

/// Why something is the cluster's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It carries the cluster's id.
    Label,
    /// The cluster's cloud controller made it for a service, in the cluster's network.
    MadeInOurNetwork,
    /// The cluster's storage driver made it, and it is attached to the cluster's server.
    MadeForOurServer,
    /// An earlier look had proof, and told id and name.
    Recorded,
}

impl<R: Resource> Ours<R> {
    pub(super) fn new(resource: R, proof: Proof) -> Self {
        Self { resource, proof }
    }

    /// Returns why it is the cluster's.
    pub fn proof(&self) -> Proof {
        self.proof
    }

    /// Gives it away without the proof.
    pub fn into_inner(self) -> R {
        self.resource
    }
}

impl<R> Deref for Ours<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.resource
    }
}

impl Proof {
    /// Returns it in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Label => "carries the cluster's id",
            Self::MadeInOurNetwork => "made by the cloud controller, in the cluster's network",
            Self::MadeForOurServer => {
                "made by the storage driver, attached to a server of the cluster"
            }
            Self::Recorded => "was found to be the cluster's earlier",
        }
    }
}
