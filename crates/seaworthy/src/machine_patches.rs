//! The patches of machine configs that a cluster file holds or names.

use std::fs;
use std::path::Path;

use lifecycle::MachinePatch;
use spec::{Cluster, Patch, PatchBody, PatchTarget, Source};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Reads all patches; those in files lie beside the cluster file. What is wrong
/// is told with its file and line.
pub(crate) fn read(
    cluster: &Cluster,
    file: &Path,
    bytes: &[u8],
) -> Result<Vec<MachinePatch>, CommandError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let source = Source::new(file.display().to_string(), text);
    let beside = file.parent().unwrap_or(Path::new(""));
    let patches = cluster.talos.patches.iter();
    patches.filter_map(|patch| one(patch, &source, beside).transpose()).collect()
}

fn one(
    patch: &Patch,
    source: &Source,
    beside: &Path,
) -> Result<Option<MachinePatch>, CommandError> {
    let (name, text) = match &patch.body {
        None => return Ok(None),
        Some(PatchBody::Inline(node)) => (source.name().to_owned(), source.alone(node.value.span)),
        Some(PatchBody::File(file)) => {
            let file = beside.join(file.value.as_str());
            let text = fs::read_to_string(&file).map_err(|error| {
                let message = format!("could not read the patch {}: {error}", file.display());
                CommandError::say(Exit::Usage, message)
            })?;
            (file.display().to_string(), text)
        }
    };
    let on = patch.on.as_ref().map_or(PatchTarget::All, |on| on.value.clone());
    MachinePatch::read(on, &name, &text)
        .map(Some)
        .map_err(|error| CommandError::say(Exit::Usage, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../spec/tests/bases/hetzner.yaml");

    const TALOS: &str = "  talos: { version: v1.14.1 }\n";

    fn cluster(patches: &str) -> (Cluster, String) {
        let talos = format!("  talos:\n    version: v1.14.1\n    patches:\n{patches}");
        let text = FILE.replacen(TALOS, &talos, 1);
        let reading = spec::read("cluster.yaml", text.as_bytes());
        let told = reading.render(spec::Colour::Plain);
        (reading.into_cluster().unwrap_or_else(|_| panic!("{told}")), text)
    }

    fn patches(patches: &str, folder: &Path) -> Result<Vec<MachinePatch>, String> {
        let (cluster, text) = cluster(patches);
        read(&cluster, &folder.join("cluster.yaml"), text.as_bytes())
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn patches_are_read_from_the_file_and_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("more.yaml"), "machine: {env: {A: b}}\n---\ndebug: true\n")
            .unwrap();
        let text = "      - inline:\n          machine:\n            sysctls: {a: 1.10}\n      \
                    - file: more.yaml\n        on: control-plane\n      \
                    - inline: [{op: remove, path: /machine/env}]\n";
        let read = patches(text, folder.path()).unwrap();
        let on: Vec<_> = read.iter().map(|patch| patch.on.clone()).collect();
        assert_eq!(on, [PatchTarget::All, PatchTarget::ControlPlane, PatchTarget::All]);
    }

    #[test]
    fn what_is_wrong_is_told_by_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let before = FILE.split(TALOS).next().unwrap().lines().count();
        let error = patches("      - inline:\n          kind: Some\n", folder.path()).unwrap_err();
        let line = format!("cluster.yaml, line {}: a document needs both", before + 5);
        assert!(error.contains(&line), "{error}");
        fs::write(folder.path().join("bad.yaml"), "machine: {}\nmachine: {}\n").unwrap();
        let error = patches("      - file: bad.yaml\n", folder.path()).unwrap_err();
        assert!(error.contains("bad.yaml, line 2, `machine`: the key is set twice"), "{error}");
        let error = patches("      - file: gone.yaml\n", folder.path()).unwrap_err();
        assert!(error.contains("could not read the patch"), "{error}");
    }
}
