//! What a node knows of itself, in the words that discovery and its own checks
//! have for it. Nobody else is there: no bootstrap, and no second machine. It is
//! read as JSON, which has one way to write a text.

use std::fs;

use serde_json::{Value, json};

use crate::script::Script;
use crate::transcript::Transcript;

impl Script<'_> {
    /// From a bare machine to one that finds something wrong with itself.
    pub(crate) fn look_at_itself(mut self) -> Transcript {
        self.generate();
        // Kubernetes would be asked for the others, and is not there.
        let registries =
            json!({ "kubernetes": { "disabled": false }, "service": { "disabled": true } });
        let discovery = json!({ "enabled": true, "registries": registries });
        let config = self.with_cluster("discovering.yaml", &json!({ "discovery": discovery }));
        self.settle("the config", &["apply-config", "-f", &config, "--insecure"], |_| true);
        self.settle("itself", &["get", "members", "-o", "yaml"], |it| it.contains("controlPlane:"));
        self.admin("members", &["get", "members"]);
        self.admin("member", &["get", "members", "-o", "json"]);
        self.admin("nothing wrong", &["get", "diagnostics"]);

        let [a, b, c, _] = self.ground.address().octets();
        let pods = format!("{a}.{b}.{c}.0/24");
        let network = json!({ "podSubnets": [pods] });
        let config = self.with_cluster("overlapping.yaml", &json!({ "network": network }));
        self.settle("another config", &["apply-config", "-f", &config], |_| true);
        self.settle("a diagnostic", &["get", "diagnostics"], |it| it.contains("overlap"));
        self.admin("diagnostics", &["get", "diagnostics"]);
        self.admin("diagnostic", &["get", "diagnostics", "-o", "json"]);
        for line in self.transcript.iter_mut().flat_map(|(_, lines)| lines) {
            *line = line.replace(&pods, "PODS");
        }
        self.transcript
    }

    /// Writes the config of the control plane with a patch of its cluster. The
    /// certificate names the address also where Talos takes it for one of pods.
    fn with_cluster(&self, name: &str, cluster: &Value) -> String {
        let names = json!([self.ground.address().to_string()]);
        let patch = json!({ "machine": { "certSANs": names }, "cluster": cluster }).to_string();
        let [plain, patched] = ["ours/controlplane.yaml", name].map(|it| self.path(it));
        let args = ["machineconfig", "patch", &plain, "--patch", &patch];
        fs::write(&patched, self.ctl.run(&args).unwrap()).unwrap();
        patched
    }
}
