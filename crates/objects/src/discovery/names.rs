//! What people call a kind: `deploy`, `deployments`, `Deployment`,
//! `deployments.apps`, `deployments.v1.apps`.

use super::Resource;
use crate::wait::nearest;
use crate::{ApiError, Cluster};

/// Why a word names no kind.
#[derive(Debug, thiserror::Error)]
pub enum KindNameError {
    /// The API serves no such kind.
    #[error(transparent)]
    Unknown(#[from] UnknownKind),
    /// The API could not be asked.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// A word that names nothing that the API serves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the API serves no kind `{word}`{}{}", meant(near.as_deref()), unheard(stale))]
pub struct UnknownKind {
    /// The word.
    pub word: String,
    /// The name that is closest to it.
    pub near: Option<String>,
    /// Groups that the API could not ask; the kind may be one of theirs.
    pub stale: Vec<String>,
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default()
}

fn unheard(stale: &[String]) -> String {
    if stale.is_empty() {
        String::new()
    } else {
        format!("; it did not hear from {}", stale.join(", "))
    }
}

impl Cluster {
    /// Returns the kind that people call so, as kubectl understands it: by
    /// plural, singular, short name or kind, with or without its group and
    /// version. Of several the API's first is meant.
    pub async fn kind_called(&self, word: &str) -> Result<Resource, KindNameError> {
        let found = find(word, &self.all_resources().await?);
        if let Some(found) = found {
            return Ok(found);
        }
        // Somebody may have defined it since.
        self.forget_resources();
        let all = self.all_resources().await?;
        find(word, &all).ok_or_else(|| {
            let stale = self.discovery().known().stale.clone();
            UnknownKind { word: word.to_owned(), near: near(word, &all), stale }.into()
        })
    }
}

fn find(word: &str, all: &[Resource]) -> Option<Resource> {
    let (name, rest) = word.split_once('.').unwrap_or((word, ""));
    let mut named: Vec<&Resource> = all.iter().filter(|one| one.is_of(rest)).collect();
    named.sort_by_key(|one| one.place);
    let full = named.iter().find(|one| one.is_called(name));
    let short = || named.iter().find(|one| one.is_called_for_short(name));
    full.or_else(short).map(|found| (*found).clone())
}

fn near(word: &str, all: &[Resource]) -> Option<String> {
    let (name, _) = word.split_once('.').unwrap_or((word, ""));
    let mut names: Vec<&str> =
        all.iter().flat_map(|one| [one.plural.as_str(), one.singular.as_str()]).collect();
    names.sort_unstable();
    nearest(name, names).map(str::to_owned)
}

// === impl Resource ===

impl Resource {
    /// Returns whether `rest` is empty, its group, or its version and group.
    fn is_of(&self, rest: &str) -> bool {
        let with_version = || format!("{}.{}", self.kind.version, self.kind.group);
        rest.is_empty() || rest == self.kind.group || rest == with_version().trim_end_matches('.')
    }

    fn is_called(&self, name: &str) -> bool {
        let names = [&self.plural, &self.singular, &self.kind.kind];
        names.iter().any(|one| one.eq_ignore_ascii_case(name))
    }

    fn is_called_for_short(&self, name: &str) -> bool {
        self.short_names.iter().any(|one| one.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn resource(
        api_version: &str,
        kind: &str,
        names: [&str; 3],
        place: (usize, usize),
    ) -> Resource {
        let [plural, singular, short] = names.map(str::to_owned);
        let kind = Kind::new(api_version, kind).unwrap();
        let short_names = vec![short];
        Resource { kind, plural, singular, short_names, namespaced: true, verbs: Vec::new(), place }
    }

    fn all() -> Vec<Resource> {
        vec![
            resource("events.k8s.io/v1", "Event", ["events", "event", "ev"], (3, 0)),
            resource("v1", "Event", ["events", "event", "ev"], (1, 0)),
            resource("apps/v1", "Deployment", ["deployments", "deployment", "deploy"], (2, 0)),
            resource("example.com/v1beta1", "Widget", ["widgets", "widget", "deploy"], (4, 1)),
            resource("example.com/v1", "Widget", ["widgets", "widget", "wd"], (4, 0)),
        ]
    }

    #[test]
    fn every_usual_name_is_understood() {
        let table = [
            ("deploy", "apps/v1"),
            ("deployments", "apps/v1"),
            ("Deployment", "apps/v1"),
            ("deployment.apps", "apps/v1"),
            ("deployments.v1.apps", "apps/v1"),
            ("deploy.example.com", "example.com/v1beta1"),
            ("event", "v1"),
            ("ev.events.k8s.io", "events.k8s.io/v1"),
            ("events.v1", "v1"),
            ("widgets", "example.com/v1"),
            ("widgets.v1beta1.example.com", "example.com/v1beta1"),
        ];
        for (word, wanted) in table {
            let found = find(word, &all()).map(|one| one.kind.api_version());
            assert_eq!(found.as_deref(), Some(wanted), "{word}");
        }
        for word in ["deployments.batch", "deploymen", "", "widgets.v2.example.com"] {
            assert_eq!(find(word, &all()), None, "{word}");
        }
    }

    #[test]
    fn a_slip_is_met_with_the_nearest_name() {
        let error = UnknownKind {
            word: "deploymnt".to_owned(),
            near: near("deploymnt", &all()),
            stale: vec!["metrics.k8s.io/v1beta1".to_owned()],
        };
        assert_eq!(
            error.to_string(),
            "the API serves no kind `deploymnt`, did you mean `deployment`?; it did not hear from \
             metrics.k8s.io/v1beta1"
        );
        assert_eq!(near("xyzzyplugh", &all()), None);
    }
}
