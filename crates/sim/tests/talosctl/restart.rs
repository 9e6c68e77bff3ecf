//! What a container cannot do and a simulated machine can: restart, and change
//! its version. Talosctl waits for the end of it by itself: it follows events
//! over the restart, and compares the ids of both boots.

use crate::script::Script;

/// What talosctl says once an event tells that the machine runs again, and once
/// it has seen that it is another boot.
const RUNS_AGAIN: [&str; 2] = ["events check condition met", "post check passed"];

impl Script<'_> {
    /// From a bare machine to a node that is ready.
    pub(crate) fn bring_up(&self) {
        self.generate();
        let config = self.path("ours/controlplane.yaml");
        self.settle("the config", &["apply-config", "-f", &config, "--insecure"], |_| true);
        self.settle("an administrator", &["get", "mc"], |it| it.contains("v1alpha1"));
        self.settle("the bootstrap", &["bootstrap"], |_| true);
        self.is_ready();
    }

    pub(crate) fn restart(&self) {
        let said = self.done(&["reboot", "--wait", "--timeout=90s"]);
        // Of two events in one moment it shows the last only.
        assert!(said.contains("sequence: reboot action: "), "{said}");
        assert!(RUNS_AGAIN.iter().all(|text| said.contains(text)), "{said}");
        self.is_ready();
    }

    /// By the calls that there are since 1.13, with the pods driven away first.
    pub(crate) fn change_version(&self) {
        let said = self.done(&["upgrade", &installer("v1.14.2"), "--timeout=90s"]);
        for text in ["node drained", "upgrade completed", "node uncordoned"] {
            assert!(said.contains(text), "{text}: {said}");
        }
        assert!(RUNS_AGAIN.iter().all(|text| said.contains(text)), "{said}");
        self.runs("v1.14.2");
        let refused = self.admin_quietly(&["upgrade", "--image=registry.k8s.io/pause:3.10.2"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("exit code 1"), "{said}");
        self.runs("v1.14.2");
    }

    /// By the one call that there was before.
    pub(crate) fn change_old_version(&self) {
        self.runs("v1.12.1");
        let said = self.done(&["upgrade", &installer("v1.13.6"), "--timeout=90s"]);
        assert!(said.contains("falling back to legacy"), "{said}");
        assert!(RUNS_AGAIN.iter().all(|text| said.contains(text)), "{said}");
        self.runs("v1.13.6");
    }

    /// Talosctl waits until all services are stopped.
    pub(crate) fn wipe(&self) {
        let output =
            self.admin_quietly(&["reset", "--graceful=false", "--reboot", "--timeout=90s"]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        // It may lose sight of a node that its certificate does not open any more. That the
        // node is back is seen below, whatever talosctl says.
        let is_followed = RUNS_AGAIN.iter().all(|text| said.contains(text));
        let is_lost = said.contains("sequence: reset action: STOP") && said.contains("retrying");
        assert!((output.status.success() && is_followed) || is_lost, "{said}");
        self.settle("maintenance", &["get", "machinestatus", "--insecure"], |it| {
            it.contains("maintenance")
        });
    }

    fn runs(&self, version: &str) {
        self.settle(version, &["version"], |it| {
            it.split_once("Server:").is_some_and(|(_, server)| server.contains(version))
        });
        self.is_ready();
    }

    fn is_ready(&self) {
        self.settle("a node that is ready", &["get", "machinestatus"], |it| {
            it.contains("running") && it.contains("true")
        });
    }

    /// Runs talosctl to its good end and returns all that it said.
    fn done(&self, args: &[&str]) -> String {
        let output = self.admin_quietly(args);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(output.status.success(), "{args:?}: {:?}: {said}", output.status);
        said
    }
}

fn installer(version: &str) -> String {
    format!("--image=ghcr.io/siderolabs/installer:{version}")
}
