//! A worker, as far as it comes without a Kubernetes API: it has its config
//! before there is a control plane to sign its certificate, and it is gone
//! before its kubelet could register it.

use crate::asking::Aim;
use crate::script::Script;

impl Script<'_> {
    /// Nobody answers until somebody signs.
    pub(crate) fn worker_alone(&mut self) {
        self.at_worker(|script| {
            script.settle("maintenance", &["get", "machinestatus", "--insecure"], |it| {
                it.contains("maintenance") && it.contains("true")
            });
            let config = script.path("ours/worker.yaml");
            script.bare("S5 worker", &["apply-config", "-f", &config]);
            script.wait("it listens no more", |script| {
                let output = script.admin_quietly(&["version"]);
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                if said.contains("connection refused") { Ok(()) } else { Err(said) }
            });
            script.admin("S7 worker alone", &["version"]);
        });
    }

    /// A control plane has signed, and Kubernetes is yet to come.
    pub(crate) fn worker_joined(&mut self) {
        self.at_worker(|script| {
            script.settle("an administrator", &["get", "mc"], |it| it.contains("v1alpha1"));
            script.settle("the kubelet", &["services"], |it| {
                it.lines().any(|line| line.contains(" kubelet ") && line.contains("OK"))
            });
            script.settle("the last condition", &["get", "machinestatus", "-o", "yaml"], |it| {
                it.contains("stage: running") && it.matches("- name:").count() == 1
            });
            script.admin("S7 worker services", &["services"]);
            script.admin("S7 worker status", &["get", "machinestatus", "-o", "yaml"]);
            script.admin("S7 worker type", &["get", "machinetype"]);
            script.admin("S7 worker name", &["get", "nodename"]);
            script.admin("S7 worker members", &["get", "members"]);
            script.admin("S7 worker pods", &["get", "staticpodstatus"]);
            let kubeconfig = script.path("of-a-worker");
            let args = ["kubeconfig", "--force", "--merge=false", &kubeconfig];
            script.admin("S7 worker kubeconfig", &args);
            script.admin("S7 worker etcd members", &["etcd", "members"]);
            script.admin("S7 worker etcd status", &["etcd", "status"]);
            script.admin("S7 worker client config", &["config", "new", &script.path("none")]);
            script.aim.node = script.ground.address();
            script.admin("S7 worker passes on", &["version"]);
            script.aim.node = script.aim.endpoint;
            script.admin("S8 on a worker", &["bootstrap"]);
            script.admin("S11 worker reset", &["reset", "--graceful=false", "--wait=false"]);
            script.wait("it is off", |script| {
                if script.ground.worker_is_off() { Ok(()) } else { Err("it runs".to_owned()) }
            });
        });
    }

    /// From two bare machines to a worker with a certificate that the other one
    /// signed.
    pub(crate) fn worker_is_signed(&mut self) {
        self.generate();
        self.worker_alone();
        let config = self.path("ours/controlplane.yaml");
        self.settle("the config", &["apply-config", "-f", &config, "--insecure"], |_| true);
        self.at_worker(|script| {
            script.settle("a certificate", &["get", "machinetype"], |it| it.contains("worker"));
        });
    }

    fn at_worker(&mut self, look: impl FnOnce(&mut Self)) {
        let before = self.aim;
        self.aim = Aim::at(self.ground.worker());
        look(self);
        self.aim = before;
    }
}
