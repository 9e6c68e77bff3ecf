//! The four daemons, and when each counts as ready.

use std::process::Command;
use std::time::Duration;

use super::credentials::FRONT_PROXY;
use super::{ControlPlane, StartError, binary, flag};
use crate::daemon::Daemon;
use crate::kubectl::Kubectl;

/// How long a component may take to be ready. It takes a few seconds on quiet
/// cores; tests run beside compilers.
const PATIENCE: Duration = Duration::from_mins(2);

impl ControlPlane {
    /// Starts etcd and returns its address. It loses data in a power cut, and
    /// that is all the same to a test.
    pub(super) fn start_etcd(&mut self) -> Result<String, StartError> {
        let (client, peer) = (self.run.port()?, self.run.port()?);
        let client = format!("http://127.0.0.1:{client}");
        let peer = format!("http://127.0.0.1:{peer}");
        let mut etcd = Command::new(binary("etcd")?);
        etcd.args(["--name=rig", "--unsafe-no-fsync", "--logger=zap", "--log-level=warn"]);
        etcd.arg(flag("data-dir", self.run.path("etcd").display()));
        etcd.arg(flag("listen-client-urls", &client)).arg(flag("advertise-client-urls", &client));
        etcd.arg(flag("listen-peer-urls", &peer)).arg(flag("initial-advertise-peer-urls", &peer));
        etcd.arg(flag("initial-cluster", format!("rig={peer}")));
        let mut daemon = Daemon::start(&mut self.run, "etcd", etcd)?;
        let address = client.trim_start_matches("http://").to_owned();
        daemon.wait_until(PATIENCE, || connects(&address))?;
        self.daemons.insert(0, daemon);
        Ok(client)
    }

    pub(super) fn start_api_server(&mut self, port: u16, etcd: &str) -> Result<(), StartError> {
        let pki = self.run.path("pki");
        let file = |name: &str| pki.join(name).display().to_string();
        let mut server = Command::new(binary("kube-apiserver")?);
        server
            .arg(flag("etcd-servers", etcd))
            .arg("--bind-address=127.0.0.1")
            .arg(flag("secure-port", port))
            .arg(flag("tls-cert-file", file("apiserver.crt")))
            .arg(flag("tls-private-key-file", file("apiserver.key")))
            .arg(flag("client-ca-file", file("ca.crt")))
            .arg(flag("requestheader-client-ca-file", file("front-proxy-ca.crt")))
            .arg(flag("requestheader-allowed-names", FRONT_PROXY))
            .arg("--requestheader-username-headers=X-Remote-User")
            .arg("--requestheader-group-headers=X-Remote-Group")
            .arg("--requestheader-extra-headers-prefix=X-Remote-Extra-")
            .arg(flag("kubelet-certificate-authority", file("ca.crt")))
            .arg(flag("kubelet-client-certificate", file("kubelet-client.crt")))
            .arg(flag("kubelet-client-key", file("kubelet-client.key")))
            .arg("--kubelet-preferred-address-types=InternalIP")
            .arg("--service-account-issuer=https://kubernetes.default.svc")
            .arg(flag("service-account-key-file", file("accounts.pub")))
            .arg(flag("service-account-signing-key-file", file("accounts.key")))
            .arg("--service-cluster-ip-range=10.96.0.0/16")
            .arg("--authorization-mode=Node,RBAC")
            .arg("--enable-admission-plugins=NodeRestriction")
            .arg("--allow-privileged=true")
            // Nothing but loopback could be advertised, and that is refused.
            .arg("--endpoint-reconciler-type=none");
        let mut daemon = Daemon::start(&mut self.run, "kube-apiserver", server)?;
        let kubectl = self.access.kubectl();
        daemon.wait_until(PATIENCE, || ready(kubectl, &["get", "--raw", "/readyz"]))?;
        self.daemons.insert(0, daemon);
        Ok(())
    }

    pub(super) fn start_controllers(&mut self) -> Result<(), StartError> {
        let (mut manager, _) = self.controller("kube-controller-manager")?;
        let pki = self.run.path("pki");
        let file = |name: &str| pki.join(name).display().to_string();
        manager
            .arg(flag("root-ca-file", file("ca.crt")))
            .arg(flag("service-account-private-key-file", file("accounts.key")))
            .arg(flag("cluster-signing-cert-file", file("ca.crt")))
            .arg(flag("cluster-signing-key-file", file("ca.key")))
            .arg("--use-service-account-credentials=true")
            // Its own restraint, meant for large clusters, costs seconds at
            // the start: every controller fetches a token and discovers.
            .args(["--kube-api-qps=500", "--kube-api-burst=1000"]);
        let (scheduler, port) = self.controller("kube-scheduler")?;
        let mut manager = Daemon::start(&mut self.run, "kube-controller-manager", manager)?;
        let mut scheduler = Daemon::start(&mut self.run, "kube-scheduler", scheduler)?;
        let kubectl = self.access.kubectl();
        // The service account controller's work shows that controllers run;
        // no pod is admitted before it.
        let account = ["-n", "default", "get", "serviceaccount", "default"];
        manager.wait_until(PATIENCE, || ready(kubectl, &account))?;
        let server = format!("--server=https://127.0.0.1:{port}");
        let health = [&server, "--insecure-skip-tls-verify", "get", "--raw", "/readyz"];
        scheduler.wait_until(PATIENCE, || ready(kubectl, &health))?;
        self.daemons.insert(0, manager);
        self.daemons.insert(0, scheduler);
        Ok(())
    }

    /// Returns what controller manager and scheduler have in common, and the
    /// port. With one of each there is nothing to elect, and an election costs
    /// seconds.
    fn controller(&mut self, name: &str) -> Result<(Command, u16), StartError> {
        let port = self.run.port()?;
        let kubeconfig = self.run.path(format!("{name}.kubeconfig"));
        let mut command = Command::new(binary(name)?);
        command.args(["--bind-address=127.0.0.1", "--leader-elect=false"]);
        command.arg(flag("secure-port", port)).arg(flag("kubeconfig", kubeconfig.display()));
        command.arg(flag("cert-dir", self.run.path("pki").join(name).display()));
        Ok((command, port))
    }
}

/// Says whether kubectl gets an answer; if not, why.
fn ready(kubectl: &Kubectl, args: &[&str]) -> Result<(), String> {
    let args: Vec<&str> = ["--request-timeout=5s"].iter().chain(args).copied().collect();
    kubectl.run(&args).map(drop).map_err(|error| error.to_string())
}

fn connects(address: &str) -> Result<(), String> {
    let connected = std::net::TcpStream::connect(address);
    connected.map(drop).map_err(|error| format!("{address}: {error}"))
}
