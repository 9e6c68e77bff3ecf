//! Asking an API for all that it serves.
//!
//! From 1.27 on two requests are enough (aggregated discovery: `v2`, and
//! `v2beta1` before 1.30). An older one is asked for every version of every
//! group, as kubectl does: who knows only a part of what is served can say of
//! nothing that it is gone.

use futures::future::{BoxFuture, FutureExt as _};
use futures::{StreamExt as _, TryStreamExt as _};

use super::catalogue::Catalogue;
use super::resource::root_of;
use super::wire::{Group, GroupVersion, Index, ListedGroup, ResourceList};
use crate::request::Ask;
use crate::{ApiError, Cluster, Trouble, Unreachable};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// So many versions of groups are asked for at once.
const AT_ONCE: usize = 16;

impl Cluster {
    pub(super) async fn ask_catalogue(&self) -> Result<Catalogue, ApiError> {
        let mut catalogue = Catalogue::default();
        for path in ["/api", "/apis"] {
            let groups = match self.ask_index(path).await? {
                Index::Aggregated { items } => items,
                Index::Core { versions } => {
                    self.ask_groups(vec![ListedGroup::core(versions)]).await?
                }
                Index::Groups { groups } => self.ask_groups(groups).await?,
            };
            for group in groups {
                catalogue.take(group);
            }
        }
        Ok(catalogue)
    }

    async fn ask_index(&self, path: &str) -> Result<Index, ApiError> {
        let ask = Ask::get(path, format!("ask {} what it serves", self.server()));
        let tried = ask.tried.clone();
        match self.send(ask.accepting(AGGREGATED)).await {
            Ok(answer) => answer.json(&tried),
            Err(error) if error.is_about_a_missing_kind() => {
                Err(ApiError::new(&tried, Trouble::NoApi(path.to_owned())))
            }
            Err(error) => Err(error),
        }
    }

    async fn ask_groups(&self, listed: Vec<ListedGroup>) -> Result<Vec<Group>, ApiError> {
        let names = listed.iter().flat_map(|group| {
            group.versions.iter().map(|version| (group.name.clone(), version.version.clone()))
        });
        let asking = names.map(|(group, version)| self.ask_version(group, version).boxed());
        let asking: Vec<BoxFuture<'_, _>> = asking.collect();
        let answers: Vec<GroupVersion> =
            futures::stream::iter(asking).buffered(AT_ONCE).try_collect().await?;
        let mut answers = answers.into_iter();
        let group = |one: ListedGroup| {
            Group::new(one.name, answers.by_ref().take(one.versions.len()).collect())
        };
        Ok(listed.into_iter().map(group).collect())
    }

    async fn ask_version(&self, group: String, version: String) -> Result<GroupVersion, ApiError> {
        let root = root_of(&group, &version);
        let ask = Ask::get(&root, format!("ask {} what it serves below {root}", self.server()));
        let tried = ask.tried.clone();
        match self.send(ask).await {
            Ok(answer) => Ok(GroupVersion::heard(version, answer.json::<ResourceList>(&tried)?)),
            Err(error) if is_silence(error.trouble()) => Ok(GroupVersion::unheard(version)),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether nothing was said about a version that is listed. The API
/// itself says 503 for a server behind it that does not answer, once it knows.
fn is_silence(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Unavailable { after: None, .. }
            | Trouble::Unreachable(Unreachable::AnswerTimedOut)
            | Trouble::KindMissing { .. }
            | Trouble::Forbidden(_)
            | Trouble::Refused { .. }
    )
}
