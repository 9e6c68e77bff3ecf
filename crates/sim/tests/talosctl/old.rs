//! S1 to S3 on a bare machine of a version that is not built here: what it has to
//! answer was read in the sources of Talos 1.12.1, and is not compared.

use crate::script::Script;

/// Up to 1.12 a bare machine does not tell its version. A talosctl of today asks
/// for that before it reads anything else, and goes no further.
const REFUSAL: &str = "code = Unimplemented desc = API is not implemented in maintenance mode";

impl Script<'_> {
    pub(crate) fn look_at_old(mut self) {
        self.wait("maintenance", |script| {
            let output = script.admin_quietly(&["version", "--insecure"]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if said.contains(REFUSAL) { Ok(()) } else { Err(said) }
        });
        self.ask_bare();
        assert_eq!(self.transcript.len(), 5);
        for (step, lines) in &self.transcript {
            let said = lines.join("\n");
            assert!(said.contains(REFUSAL), "{step}: {said}");
            assert!(said.ends_with("exit code Some(1)"), "{step}: {said}");
        }
        // What was not asked for its version first is taken.
        self.generate();
        let config = self.path("ours/controlplane.yaml");
        self.bare("S5 apply", &["apply-config", "-f", &config]);
        let (_, lines) = self.transcript.last().unwrap();
        assert_eq!(lines.last().unwrap(), "exit code Some(0)", "{lines:?}");
    }
}
