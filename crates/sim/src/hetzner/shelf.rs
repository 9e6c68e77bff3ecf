//! Where the resources of one kind are kept.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::project::Project;
use super::refusal::{Code, Refusal};
use super::selector::Labels;

/// The resources of one kind, by id.
#[derive(Debug)]
pub(crate) struct Shelf<T>(BTreeMap<i64, T>);

/// What every resource has.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) labels: Labels,
    pub(crate) created: Timestamp,
    /// Whether it may not be deleted.
    pub(crate) protected: bool,
}

/// A kind of resource that clients list, look at and change.
pub(crate) trait Resource: Sized + 'static {
    /// What one is called: `server`.
    const KIND: &'static str;
    /// What many are called: `servers`.
    const PLURAL: &'static str;
    /// The query parameters that filter a list by a field of the same name.
    const FILTERS: &'static [&'static str] = &[];

    fn card(&self) -> &Card;
    fn card_mut(&mut self) -> &mut Card;
    fn shelf(project: &Project) -> &Shelf<Self>;
    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self>;
    /// Returns it as a client sees it.
    fn view(&self, project: &Project) -> Value;

    /// Refuses to let go of something that is in use.
    fn check_unused(&self, _: &Project) -> Result<(), Refusal> {
        Ok(())
    }

    /// Tidies up behind one that was deleted.
    fn removed(self, _: &mut Project) {}
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Resource> Shelf<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn find(&self, id: i64) -> Option<&T> {
        self.0.get(&id)
    }

    pub(crate) fn find_mut(&mut self, id: i64) -> Option<&mut T> {
        self.0.get_mut(&id)
    }

    pub(crate) fn get(&self, id: i64) -> Result<&T, Refusal> {
        self.find(id).ok_or_else(|| Refusal::not_found(T::KIND, id))
    }

    pub(crate) fn get_mut(&mut self, id: i64) -> Result<&mut T, Refusal> {
        self.find_mut(id).ok_or_else(|| Refusal::not_found(T::KIND, id))
    }

    /// Refuses a name that another resource of the kind has.
    pub(crate) fn check_name(&self, name: &str, except: Option<i64>) -> Result<(), Refusal> {
        let taken = self.iter().map(T::card).any(|it| it.name == name && Some(it.id) != except);
        if name.is_empty() || name.len() > 128 {
            Err(Refusal::invalid("name", "must have 1 to 128 characters"))
        } else if taken {
            Err(Code::UniquenessError.because(format!("{} name is already used", T::KIND)))
        } else {
            Ok(())
        }
    }

    pub(crate) fn put(&mut self, resource: T) {
        self.0.insert(resource.card().id, resource);
    }

    pub(crate) fn remove(&mut self, id: i64) -> Option<T> {
        self.0.remove(&id)
    }

    /// Returns a resource that may be deleted.
    pub(crate) fn deletable(&self, id: i64) -> Result<&T, Refusal> {
        let resource = self.get(id)?;
        if resource.card().protected {
            return Err(Code::Protected.because(format!("{} deletion is protected", T::KIND)));
        }
        Ok(resource)
    }
}
