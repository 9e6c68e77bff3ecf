//! How a write is meant.

/// What every write carries besides the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// Who writes, as `managedFields` calls them.
    pub manager: String,
    /// Everything is checked and nothing is kept.
    pub dry_run: bool,
    /// An apply takes fields from others.
    pub force: bool,
    /// What becomes of fields that nobody knows.
    pub strictness: Strictness,
}

/// What becomes of fields that the schema of a custom resource does not name.
/// Fields of built-in kinds are not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// They are dropped.
    #[default]
    Lenient,
    /// They are an error.
    Strict,
}

impl Write {
    /// A write by one of the simulator's own parts.
    pub fn by(manager: &str) -> Self {
        Self { manager: manager.to_owned(), ..Self::default() }
    }
}
