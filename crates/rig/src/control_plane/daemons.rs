//! The four daemons, and when each counts as ready.

use std::process::Command;
use std::time::Duration;

use super::credentials::FRONT_PROXY;
use super::{ControlPlane, StartError, binary, flags};
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
        etcd.arg("--unsafe-no-fsync").args(flags(&[
            ("name", "rig"),
            ("log-level", "warn"),
            ("data-dir", &self.file("etcd")),
            ("listen-client-urls", &client),
            ("advertise-client-urls", &client),
            ("listen-peer-urls", &peer),
            ("initial-advertise-peer-urls", &peer),
            ("initial-cluster", &format!("rig={peer}")),
        ]));
        let mut daemon = Daemon::start(&mut self.run, "etcd", etcd)?;
        let address = client.trim_start_matches("http://").to_owned();
        daemon.wait_until(PATIENCE, || connects(&address))?;
        self.daemons.insert(0, daemon);
        Ok(client)
    }

    /// Starts the API server and waits until it is ready.
    pub fn start_api_server(&mut self) -> Result<(), StartError> {
        let (port, etcd) = self.serving.clone();
        let mut server = Command::new(binary("kube-apiserver")?);
        server.args(flags(&[
            ("etcd-servers", &etcd),
            ("bind-address", "127.0.0.1"),
            ("secure-port", &port.to_string()),
            // Nothing but loopback could be advertised, and that is refused.
            ("endpoint-reconciler-type", "none"),
            ("service-cluster-ip-range", "10.96.0.0/16"),
            ("tls-cert-file", &self.file("pki/apiserver.crt")),
            ("tls-private-key-file", &self.file("pki/apiserver.key")),
            ("client-ca-file", &self.file("pki/ca.crt")),
            ("authorization-mode", "Node,RBAC"),
            ("enable-admission-plugins", "NodeRestriction"),
            ("allow-privileged", "true"),
            // Whom the proxy may speak for, and how.
            ("requestheader-client-ca-file", &self.file("pki/front-proxy-ca.crt")),
            ("requestheader-allowed-names", FRONT_PROXY),
            ("requestheader-username-headers", "X-Remote-User"),
            ("requestheader-group-headers", "X-Remote-Group"),
            ("requestheader-extra-headers-prefix", "X-Remote-Extra-"),
            // For logs and exec.
            ("kubelet-preferred-address-types", "InternalIP"),
            ("kubelet-certificate-authority", &self.file("pki/ca.crt")),
            ("kubelet-client-certificate", &self.file("pki/kubelet-client.crt")),
            ("kubelet-client-key", &self.file("pki/kubelet-client.key")),
            ("service-account-issuer", "https://kubernetes.default.svc"),
            ("service-account-key-file", &self.file("pki/accounts.pub")),
            ("service-account-signing-key-file", &self.file("pki/accounts.key")),
        ]));
        let mut daemon = Daemon::start(&mut self.run, "kube-apiserver", server)?;
        let kubectl = self.access.kubectl();
        daemon.wait_until(PATIENCE, || ready(kubectl, &["get", "--raw", "/readyz"]))?;
        self.daemons.insert(0, daemon);
        Ok(())
    }

    pub(super) fn start_controllers(&mut self) -> Result<(), StartError> {
        let (mut manager, _) = self.controller("kube-controller-manager")?;
        manager.args(flags(&[
            ("root-ca-file", &self.file("pki/ca.crt")),
            ("cluster-signing-cert-file", &self.file("pki/ca.crt")),
            ("cluster-signing-key-file", &self.file("pki/ca.key")),
            ("service-account-private-key-file", &self.file("pki/accounts.key")),
            ("use-service-account-credentials", "true"),
            // Its own restraint, meant for large clusters, costs seconds at
            // the start: every controller fetches a token and discovers.
            ("kube-api-qps", "500"),
            ("kube-api-burst", "1000"),
        ]));
        let (scheduler, port) = self.controller("kube-scheduler")?;
        let mut manager = Daemon::start(&mut self.run, "kube-controller-manager", manager)?;
        let mut scheduler = Daemon::start(&mut self.run, "kube-scheduler", scheduler)?;
        let kubectl = self.access.kubectl();
        // The service account controller's work shows that controllers run;
        // no pod is admitted before it.
        let account = ["-n", "default", "get", "serviceaccount", "default"];
        manager.wait_until(PATIENCE, || ready(kubectl, &account))?;
        let health = format!(
            "--server=https://127.0.0.1:{port} --insecure-skip-tls-verify get --raw /readyz"
        );
        let health: Vec<&str> = health.split(' ').collect();
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
        let mut command = Command::new(binary(name)?);
        command.args(flags(&[
            ("bind-address", "127.0.0.1"),
            ("secure-port", &port.to_string()),
            ("leader-elect", "false"),
            ("kubeconfig", &self.file(&format!("{name}.kubeconfig"))),
            ("cert-dir", &self.file(&format!("pki/{name}"))),
        ]));
        Ok((command, port))
    }

    fn file(&self, name: &str) -> String {
        self.run.path(name).display().to_string()
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
