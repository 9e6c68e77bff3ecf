//! The real talosctl as the judge of what we write.

use std::fs;
use std::process::Command;

use rig::talos::Talosctl;
use serde_json::Value;
use tempfile::TempDir;

/// A patch that changes nothing.
const NOTHING: &str = "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: nowhere\n$patch: delete\n";

/// talosctl with a folder for what it is given.
pub(crate) struct Judge {
    ctl: Talosctl,
    folder: TempDir,
}

impl Judge {
    /// None where it is not built, which is counted.
    #[track_caller]
    pub(crate) fn find() -> Option<Self> {
        let binary = rig::need::binary("talosctl")?;
        let folder = tempfile::tempdir().unwrap();
        Some(Self { ctl: Talosctl::new(&binary, folder.path()), folder })
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs it, and returns what it printed or why it refused.
    pub(crate) fn run(&self, args: &[&str]) -> Result<String, String> {
        self.ctl.run(args).map_err(|error| error.to_string())
    }

    /// Returns it to add arguments to.
    pub(crate) fn command(&self) -> Command {
        self.ctl.command()
    }

    /// Returns the documents of a config after its patches.
    pub(crate) fn patch(&self, config: &str, patches: &[&str]) -> Result<Vec<Value>, String> {
        self.patched(config, patches).map(|text| serde_saphyr::from_multiple(&text).unwrap())
    }

    /// Returns the documents as talosctl itself would write them: what two
    /// spellings of the same config have in common.
    pub(crate) fn canonical(&self, config: &str) -> Result<Vec<Value>, String> {
        self.patch(config, &[NOTHING])
    }

    /// Returns the same as a text.
    pub(crate) fn canonical_text(&self, config: &str) -> Result<String, String> {
        self.patched(config, &[NOTHING])
    }

    fn patched(&self, config: &str, patches: &[&str]) -> Result<String, String> {
        let config = self.file("config.yaml", config);
        let mut args = vec!["machineconfig".to_owned(), "patch".to_owned(), config];
        for (number, patch) in patches.iter().enumerate() {
            let file = self.file(&format!("patch-{number}.yaml"), patch);
            args.extend(["--patch".to_owned(), format!("@{file}")]);
        }
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        self.run(&args)
    }
}
