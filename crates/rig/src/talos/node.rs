//! One Talos node: a container in a network namespace of its own.

use std::fs::{self, File};
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::TalosError;
use super::bundle::{Bundle, VOLUMES};
use super::host::Host;
use crate::node::run_tool;
use crate::packages::program;
use crate::process::Process;
use crate::run::{Run, RunError};
use crate::settings::RUN_MARK;

/// What Debian has of CNI's plugins and a Talos node has, too.
const PLUGINS: [&str; 5] = ["bridge", "host-local", "loopback", "portmap", "firewall"];

/// A node; it starts in maintenance mode, as a machine without a config does.
#[derive(Debug)]
pub struct TalosNode {
    name: String,
    address: Ipv4Addr,
    process: Process,
    folder: PathBuf,
}

/// Where a node is put.
pub(super) struct Berth<'a> {
    pub(super) root: &'a Path,
    pub(super) bridge: &'a str,
    pub(super) gateway: Ipv4Addr,
    pub(super) cgroup: &'a str,
}

impl TalosNode {
    /// Returns the node's address.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Returns the name of its container, which is its host name until a
    /// config says otherwise.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the node has printed, as its console would show.
    pub fn console(&self) -> String {
        let bytes = fs::read(self.folder.join("console.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Says whether the node runs. One that was reset has ended.
    pub fn is_running(&self) -> bool {
        self.process.is_alive()
    }

    /// Ends the node as a power failure would.
    pub fn pull_the_plug(&self) -> std::io::Result<()> {
        self.process.kill(Signal::KILL)
    }

    /// Returns a command that runs inside the node, in all its namespaces: for
    /// tests that break things.
    pub fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let target = self.process.pid.to_string();
        command.args(["--target", &target, "--mount", "--uts", "--ipc", "--net", "--pid", "--"]);
        command.arg(program);
        command
    }

    /// Writes a file as the node sees it: Talos mounts a folder of its own over
    /// `/etc`, so that the run's folder shows nothing of it.
    pub fn put(&self, path: &str, text: &str) -> Result<(), TalosError> {
        let failed = |said: String| TalosError::Inside { name: self.name.clone(), said };
        let mut command = self.inside("sh");
        command.args(["-c", "mkdir -p \"${1%/*}\" && cat > \"$1\"", "sh", path]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(text.as_bytes()).map_err(|error| failed(error.to_string()))?;
        }
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }

    pub(super) fn start(
        run: &mut Run,
        berth: &Berth<'_>,
        name: &str,
        address: Ipv4Addr,
    ) -> Result<Self, TalosError> {
        let folder = run.folder(name)?;
        furnish(&folder, berth.gateway)
            .map_err(|source| RunError::Write { path: folder.clone(), source })?;
        let cgroup = format!("{}/{name}", berth.cgroup);
        let bundle = Bundle {
            host: Host::look(),
            root: berth.root,
            folder: &folder,
            name,
            cgroup: &cgroup,
            mark: (RUN_MARK, run.id()),
        };
        run.write(&format!("{name}/config.json"), format!("{:#}\n", bundle.config()))?;
        let process = create(&folder, name)?;
        run.note(|record| record.processes.push((name.to_owned(), process)))?;
        let cable = interface(run.id(), address);
        run.note(|record| record.interfaces.push(cable.clone()))?;
        connect(process, berth, &cable, address)?;
        run_tool(runc(&folder).args(["start", name]))?;
        Ok(Self { name: name.to_owned(), address, process, folder })
    }
}

/// Makes the folders that the node writes to, and the files it is given.
fn furnish(folder: &Path, gateway: Ipv4Addr) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o755);
    for (_, volume) in VOLUMES {
        builder.create(folder.join(volume))?;
    }
    let plugins = folder.join("opt/cni/bin");
    builder.create(&plugins)?;
    for plugin in PLUGINS {
        fs::copy(Path::new("/usr/lib/cni").join(plugin), plugins.join(plugin))?;
    }
    fs::write(folder.join("resolv.conf"), format!("nameserver {gateway}\n"))?;
    fs::write(folder.join("hosts"), "127.0.0.1 localhost\n::1 localhost\n")
}

/// Makes the container without starting it, so that its network can be made
/// first: Talos looks at its addresses at once.
fn create(folder: &Path, name: &str) -> Result<Process, TalosError> {
    let failed = |source| RunError::Write { path: folder.to_owned(), source };
    let console = File::create(folder.join("console.log")).map_err(failed)?;
    let pid = folder.join("pid");
    let mut command = runc(folder);
    command.arg("create").arg("--bundle").arg(folder).arg("--pid-file").arg(&pid).arg(name);
    // The container inherits these, so runc must not be waited for by a pipe.
    command.stdin(Stdio::null()).stdout(console.try_clone().map_err(failed)?).stderr(console);
    let status = command.status().map_err(failed)?;
    let started = fs::read_to_string(&pid).ok().filter(|_| status.success());
    let process = started.and_then(|pid| Process::find(pid.trim().parse().ok()?));
    process.ok_or_else(|| TalosError::Container {
        name: name.to_owned(),
        said: fs::read_to_string(folder.join("console.log")).unwrap_or_default(),
    })
}

fn connect(
    process: Process,
    berth: &Berth<'_>,
    interface: &str,
    address: Ipv4Addr,
) -> Result<(), TalosError> {
    let pid = process.pid.to_string();
    let ip = || Command::new(program("ip").unwrap_or_else(|| "ip".into()));
    let inside = |args: &[&str]| {
        let mut command = Command::new("nsenter");
        command.args(["--target", &pid, "--net", "ip"]).args(args);
        run_tool(&mut command)
    };
    let pair = ["type", "veth", "peer", "name", "eth0", "netns", &pid];
    run_tool(ip().args(["link", "add", "name", interface]).args(pair))?;
    run_tool(ip().args(["link", "set", interface, "master", berth.bridge, "up"]))?;
    inside(&["link", "set", "lo", "up"])?;
    inside(&["address", "add", &format!("{address}/24"), "dev", "eth0"])?;
    inside(&["link", "set", "eth0", "up"])?;
    inside(&["route", "add", "default", "via", &berth.gateway.to_string()])?;
    Ok(())
}

/// Returns the name of the outer end of a node's cable: its place in the run's
/// network, because fifteen letters are too few for its own name. It would go with
/// the node's network, which the kernel keeps for minutes where connections of a
/// killed node still wait for an answer.
fn interface(run: &str, address: Ipv4Addr) -> String {
    let [.., place] = address.octets();
    format!("t{run}n{place}")
}

fn runc(folder: &Path) -> Command {
    let mut command = Command::new(program("runc").unwrap_or_else(|| "runc".into()));
    command.arg("--root").arg(folder.join("runc"));
    command
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The kernel takes fifteen letters, and no name twice.
    #[test]
    fn every_cable_of_a_run_has_a_name_of_its_own() {
        let places = 0..=u8::MAX;
        let name = |place| interface("0a1b2c3d", Ipv4Addr::new(10, 88, 0, place));
        let names: BTreeSet<_> = places.clone().map(name).collect();
        assert_eq!(names.len(), places.count());
        assert!(names.iter().all(|name| name.len() <= 15), "{names:?}");
    }
}
