//! What the network of pods is proven with.

use crate::read::{Fields, Kind, Pick, Shape, Spanned, optional};
use crate::scalar::{Egress, ImageName, Scalar};

/// What the network of pods is proven with.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The image of the probe pods.
    pub image: Option<Spanned<ImageName>>,
    /// What pods must reach outside.
    pub egress: Option<Spanned<Egress>>,
}

pub(crate) static PROOF: Shape = Shape {
    name: "Proof",
    doc: "What the network of pods is proven with.",
    groups: &[&[
        optional(
            "image",
            Kind::Scalar(ImageName::FORMAT),
            "The image of the probe pods, for clusters that have a registry of their own. It has to answer as `agnhost netexec` does. Best by digest.",
        ),
        optional(
            "egress",
            Kind::Scalar(Egress::FORMAT),
            "What pods must reach outside the cluster, or `none` where they are to reach nothing. Default: http://example.com/index.html.",
        ),
    ]],
    pick: Pick::Any,
};

impl Proof {
    pub(super) fn decode(fields: Fields<'_>) -> Self {
        let proof = Self { image: fields.optional("image"), egress: fields.optional("egress") };
        fields.finish();
        proof
    }
}
