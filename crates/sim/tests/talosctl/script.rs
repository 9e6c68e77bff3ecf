//! The script: the steps S1 to S11, from a bare machine to one that is wiped.

use std::fs;

use rig::talos::Talosctl;
use serde_json::json;
use tempfile::TempDir;

use crate::asking::Aim;
use crate::ground::Ground;
use crate::transcript::Transcript;

/// A run of the script.
pub(crate) struct Script<'a> {
    pub(crate) ctl: &'a Talosctl,
    pub(crate) ground: Ground,
    pub(crate) aim: Aim,
    pub(crate) folder: TempDir,
    pub(crate) transcript: Transcript,
}

impl<'a> Script<'a> {
    pub(crate) fn new(ctl: &'a Talosctl, ground: Ground) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let aim = Aim::at(ground.address());
        Self { ctl, ground, aim, folder, transcript: Vec::new() }
    }

    /// Goes through all steps and returns what was printed.
    pub(crate) fn run(mut self) -> Transcript {
        self.generate();
        self.maintenance();
        self.worker_alone();
        self.take_config();
        self.configured();
        self.worker_joined();
        self.bootstrap();
        self.reads();
        self.health();
        self.end();
        self.transcript
    }

    /// Two clusters, one of them foreign, in the form that every version takes.
    pub(crate) fn generate(&self) {
        self.generate_as(&["--talos-version=v1.12"], &["patch", "plain"]);
    }

    /// From talosctl's own form to a control plane whose static pods run.
    pub(crate) fn take_many_documents(&self) {
        self.generate_as(&[], &[]);
        let config = self.path("ours/controlplane.yaml");
        let kinds = fs::read_to_string(&config).unwrap().matches("\nkind: Kube").count();
        assert!(kinds > 10, "it has {kinds} documents about Kubernetes");
        self.settle("the config", &["apply-config", "-f", &config, "--insecure"], |_| true);
        self.settle("an administrator", &["get", "mc"], |it| it.contains("v1alpha1"));
        self.settle("the bootstrap", &["bootstrap"], |_| true);
        self.settle("static pods", &["get", "staticpodstatus"], |it| {
            it.lines().filter(|line| line.ends_with("True")).count() == 3
        });
        let kubeconfig = self.path("k");
        let args = ["kubeconfig", "--force", "--merge=false", &kubeconfig];
        self.settle("a kubeconfig", &args, |_| true);
        let kubeconfig = fs::read_to_string(kubeconfig).unwrap();
        assert!(kubeconfig.contains("admin@judged"), "{kubeconfig}");
    }

    fn generate_as(&self, form: &[&str], patches: &[&str]) {
        let patch = self.ground.patch();
        fs::write(self.file("patch.yaml"), patch.to_string()).unwrap();
        let plain = json!({
            "cluster": {
                "discovery": { "enabled": false },
                "network": { "cni": { "name": "none" } },
                "proxy": { "disabled": true },
            },
        });
        fs::write(self.file("plain.yaml"), plain.to_string()).unwrap();
        for name in ["cp-1", "w-1"] {
            let host = format!("hostname: {name}\nauto: \"off\"\n");
            let host = format!("apiVersion: v1alpha1\nkind: HostnameConfig\n{host}");
            fs::write(self.file(&format!("{name}.yaml")), host).unwrap();
        }
        for name in ["ours", "foreign"] {
            let endpoint = format!("https://{}:6443", self.ground.address());
            let patch =
                |name: &&str| format!("--config-patch=@{}", self.path(&format!("{name}.yaml")));
            let patches: Vec<_> = patches.iter().map(patch).collect();
            let output = format!("--output={}", self.path(name));
            let args = ["gen", "config", "judged", &endpoint, &output];
            let more = [
                "--kubernetes-version=1.36.3",
                "--with-docs=false",
                "--with-examples=false",
                &format!("--config-patch-control-plane=@{}", self.path("cp-1.yaml")),
                &format!("--config-patch-worker=@{}", self.path("w-1.yaml")),
            ];
            let patches: Vec<_> = patches.iter().map(String::as_str).collect();
            self.ctl.run(&[&args[..], form, &more, &patches].concat()).unwrap();
        }
        fs::write(self.file("garbage.yaml"), "machine: {unheard: of}\n").unwrap();
    }

    fn maintenance(&mut self) {
        self.settle("maintenance", &["get", "machinestatus", "--insecure"], |it| {
            it.contains("maintenance") && it.contains("true")
        });
        self.ask_bare();
        self.certificate("S6 certificate before");
        self.admin("S4 too early", &["services"]);
        self.admin("S4 version", &["version"]);
    }

    /// What everybody may ask who reaches a bare machine, and what not.
    pub(crate) fn ask_bare(&mut self) {
        self.bare("S1 status", &["get", "machinestatus", "-o", "yaml"]);
        self.bare("S1 table", &["get", "machinestatus"]);
        self.bare("S2 version", &["version"]);
        self.bare("S3 secret", &["get", "mc"]);
        self.bare("S3 unknown type", &["get", "nothings"]);
    }

    fn take_config(&mut self) {
        let [ours, garbage] = ["ours/controlplane.yaml", "garbage.yaml"].map(|it| self.path(it));
        self.bare("S5 garbage", &["apply-config", "-f", &garbage]);
        let wrong = "--cert-fingerprint=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        self.bare("S5 wrong pin", &["apply-config", "-f", &ours, wrong]);
        let dry_run = ["apply-config", "--dry-run", "-f", &ours];
        self.bare("S5 dry run", &dry_run);
        let right = format!("--cert-fingerprint={}", self.fingerprint());
        self.bare("S5 right pin", &[&dry_run[..], &[&right]].concat());
        self.bare("S5 apply", &["apply-config", "-f", &ours]);
    }

    fn configured(&mut self) {
        self.settle("an administrator", &["get", "mc"], |it| it.contains("v1alpha1"));
        self.certificate("S6 certificate after");
        self.bare("S6 without a certificate", &["version"]);
        self.with("foreign", "S6 a foreign certificate", &["version"]);
        self.alert("S6 alert without a certificate", &[]);
        self.alert("S6 alert to TLS 1.2", &["-tls1_2"]);
        let [certificate, key] = self.client_files("foreign");
        self.alert("S6 alert to a foreign one", &["-cert", &certificate, "-key", &key]);
        self.settle("etcd waits", &["services"], |it| {
            it.lines().any(|line| line.contains(" etcd ") && line.contains("Preparing"))
                && it.lines().any(|line| line.contains(" trustd ") && line.contains("OK"))
                && it.lines().any(|line| line.contains(" kubelet ") && line.contains("OK"))
        });
        self.admin("S7 services", &["services"]);
        self.admin("S7 status", &["get", "machinestatus", "-o", "yaml"]);
        self.admin("S7 etcd members", &["etcd", "members"]);
        self.admin("S7 kubeconfig", &["kubeconfig", "--force", "--merge=false", &self.path("k")]);
        let ours = self.path("ours/controlplane.yaml");
        self.admin("S7 the same config", &["apply-config", "--dry-run", "-f", &ours]);
        let another = self.another_config();
        self.admin("S7 another config", &["apply-config", "--dry-run", "-f", &another]);
    }

    /// A line that is another, one that goes and one that comes, far from each
    /// other.
    fn another_config(&self) -> String {
        let mut config = fs::read_to_string(self.file("ours/controlplane.yaml")).unwrap();
        for (old, new) in [
            ("debug: false\n", "debug: true\n"),
            ("        disableManifestsDirectory: true\n", ""),
            ("    nodeLabels:\n", "    nodeLabels:\n        example.com/rack: \"1\"\n"),
        ] {
            assert!(config.contains(old), "{old}");
            config = config.replacen(old, new, 1);
        }
        fs::write(self.file("another.yaml"), config).unwrap();
        self.path("another.yaml")
    }

    fn bootstrap(&mut self) {
        let reader = self.path("reader");
        self.admin_quietly(&["config", "new", &reader, "--roles=os:reader"]);
        self.as_reader("S8 as a reader", &["bootstrap"]);
        self.as_reader("S8 a reader's look", &["get", "mc"]);
        self.settle("the bootstrap", &["bootstrap"], |_| true);
        self.settle("a sound etcd", &["services"], |it| {
            it.lines().any(|line| line.contains(" etcd ") && line.contains("OK"))
        });
        self.admin("S8 again", &["bootstrap"]);
    }

    /// What a container does not have is a known difference.
    fn end(&mut self) {
        self.admin("S11 reboot", &["reboot", "--wait=false"]);
        self.settle("an administrator after that", &["get", "mc"], |it| it.contains("v1alpha1"));
        let image = "--image=registry.k8s.io/pause:3.10.2";
        let upgrade = ["upgrade", image, "--wait=false", "--drain=false", "--progress=plain"];
        self.some("S11 upgrade", &self.as_admin(&upgrade), |line| {
            // How far the layers are is another matter.
            line.contains("rpc error").then(|| line.to_owned())
        });
        self.admin("S11 reset", &["reset", "--graceful=false", "--wait=false"]);
        self.wait("it is off", |script| {
            if script.ground.is_off() { Ok(()) } else { Err("it runs".to_owned()) }
        });
        self.admin("S11 gone", &["version"]);
    }
}
