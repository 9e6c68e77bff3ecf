//! The manifests that a cluster file names.

use std::path::Path;

use lifecycle::Manifest;
use objects::manifest::{self, Depth};
use spec::Plan;

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Reads all manifests of a plan, which lie beside the cluster file. All
/// mistakes of one are told at once.
pub(crate) fn read(plan: &Plan, beside: &Path) -> Result<Vec<Manifest>, CommandError> {
    plan.manifests.iter().map(|planned| one(planned, beside)).collect()
}

fn one(planned: &spec::plan::ManifestPlan, beside: &Path) -> Result<Manifest, CommandError> {
    let refused = |why: String| {
        let message = format!("could not use the manifests `{}`: {why}", planned.name);
        CommandError::say(Exit::Usage, message)
    };
    let path = beside.join(&planned.path);
    let sources = manifest::sources([&path], Depth::Recursive);
    let sources = sources.map_err(|error| refused(error.to_string()))?;
    let open = |source: &manifest::Source| match source {
        manifest::Source::File(path) => std::fs::read(path),
        // A cluster file is run more than once; what is piped in is there once.
        manifest::Source::Stdin => Err(std::io::ErrorKind::Unsupported.into()),
    };
    let placed = manifest::read_all(sources, open).map_err(|errors| refused(errors.to_string()))?;
    if placed.is_empty() {
        return Err(refused(format!("there is no object in {}", path.display())));
    }
    let objects = placed.into_iter().map(|placed| placed.object).collect();
    Ok(Manifest { name: planned.name.clone(), stage: planned.stage, objects })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use spec::plan::{ManifestPlan, Stage};

    use super::*;

    fn planned(path: &str) -> ManifestPlan {
        ManifestPlan { name: "extra".to_owned(), path: path.to_owned(), stage: Stage::Cni }
    }

    #[test]
    fn a_file_and_a_folder_are_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        let map =
            |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\n");
        fs::write(folder.path().join("a.yaml"), format!("{}---\n{}", map("a"), map("b"))).unwrap();
        fs::write(folder.path().join("deep/c.yaml"), map("c")).unwrap();
        assert_eq!(one(&planned("a.yaml"), folder.path()).unwrap().objects.len(), 2);
        assert_eq!(one(&planned("."), folder.path()).unwrap().objects.len(), 3);
    }

    #[test]
    fn what_is_wrong_is_told_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("empty.yaml"), "# nothing\n").unwrap();
        fs::write(folder.path().join("bad.yaml"), "kind: ConfigMap\n---\n- 1\n").unwrap();
        for (path, why) in [
            ("gone.yaml", "could not use the manifests `extra`"),
            ("empty.yaml", "there is no object in "),
            ("bad.yaml", "bad.yaml"),
        ] {
            let error = format!("{:?}", one(&planned(path), folder.path()).unwrap_err());
            assert!(error.contains(why), "{path}: {error}");
        }
    }
}
