//! What all wishes for a new thing have in common.

use events::{Call, Made};
use serde_json::Value;

use super::answer::{One, made};
use super::client::Pass;
use super::wish::named;
use super::{Hetzner, HetznerError, Listed as _, Resource, Wish};
use crate::Labels;

/// The wish for a thing that its name tells from all others of the project.
pub(super) trait Creation: Send + Sync + 'static {
    /// What is to be there.
    type Resource: Resource;

    /// Returns its name.
    fn name(&self) -> &str;

    /// Returns its labels, without the cluster's id.
    fn labels(&self) -> &Labels;

    /// Returns the request for one with these labels.
    fn body(&self, labels: &Labels) -> Value;
}

impl<C: Creation> Wish for C {
    /// The cluster's id is no part of the wish.
    fn call(&self) -> Call {
        let kind = format!("create {}", C::Resource::KIND);
        named(&kind, self.name(), &self.body(self.labels()))
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        Ok(hetzner.find::<C::Resource>(self.name()).await?.map(|found| made(&*found)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let path = format!("/{}", C::Resource::PLURAL);
        let body = self.body(&hetzner.claim(self.labels()));
        let one: One<C::Resource> = hetzner.post(pass, &path, &body).await?;
        Ok(one.made())
    }
}
