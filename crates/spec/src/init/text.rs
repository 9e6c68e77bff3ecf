//! The text of a new cluster file.

use std::net::Ipv4Addr;

use thiserror::Error;

use super::proposal::{last_address, worker_address};
use super::question::{Answers, InvalidAnswer};
use super::refusal::Refusal;
use crate::cluster::CloudKind;
use crate::reading::read;
use crate::scalar::{Cidr, ClusterName, Location, NetworkZone};

/// Why no file was written.
#[derive(Debug, Error)]
pub enum InitError {
    /// One answer cannot be taken.
    #[error(transparent)]
    Answer(#[from] InvalidAnswer),
    /// The file would not be valid.
    #[error("{0}")]
    Refused(Box<Refusal>),
}

/// The lowest VM number of new files.
const FIRST_VM: u32 = 8000;

/// Writes a commented cluster file that is valid by this crate's own rules.
pub fn cluster_file(answers: &Answers) -> Result<String, InitError> {
    let text = write(answers)?;
    let reading = read("", text.as_bytes());
    match reading.cluster() {
        Some(_) => Ok(text),
        None => Err(InitError::Refused(Box::new(Refusal::new(reading, answers)))),
    }
}

fn write(answers: &Answers) -> Result<String, InvalidAnswer> {
    let blocks = [
        head(answers)?,
        cloud(answers)?,
        versions(answers)?,
        control_plane(answers)?,
        pools(answers)?,
        firewall(answers)?,
        addons(answers)?,
        tail(answers),
    ];
    let blocks: Vec<String> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
    Ok(blocks.join("\n"))
}

fn head(answers: &Answers) -> Result<String, InvalidAnswer> {
    let name = answers.read::<ClusterName>("name")?;
    let token = match answers.cloud() {
        CloudKind::Hetzner => {
            "# The API token comes from the environment (HCLOUD_TOKEN), never from this file.\n"
        }
        CloudKind::Proxmox => "# The API token comes from the environment, never from this file.\n",
        CloudKind::Machines => "# The machines have to wait in Talos maintenance mode.\n",
    };
    Ok(format!(
        "# The cluster {name}, for seaworthy: `seaworthy validate` checks this file.\n\
         {token}\
         apiVersion: seaworthy.dev/v1\n\
         kind: Cluster\n\
         metadata:\n\
         \x20 name: {name}\n"
    ))
}

fn cloud(answers: &Answers) -> Result<String, InvalidAnswer> {
    match answers.cloud() {
        CloudKind::Hetzner => Ok(format!(
            "spec:\n  cloud:\n    hetzner:\n      location: {}\n      \
             network: 10.0.0.0/16 # nodes, services and pods get parts of it\n",
            asked(answers, "location")?
        )),
        CloudKind::Proxmox => proxmox(answers),
        CloudKind::Machines => machines(answers),
    }
}

fn proxmox(answers: &Answers) -> Result<String, InvalidAnswer> {
    Ok(format!(
        "spec:\n  cloud:\n    proxmox:\n      endpoint: {}\n      hosts: [{}] # VMs are spread over them in turn\n      \
         storage: {}\n      # importStorage: local   # must allow content type `import`\n      \
         # bridge: vmbr0\n      # vlan: 20\n      network: {}\n      gateway: {}\n      \
         # A VM's number is `from` plus the host part of its address.\n      \
         vmids: {{ from: {FIRST_VM}, to: {} }}\n",
        asked(answers, "endpoint")?,
        asked(answers, "host")?,
        asked(answers, "storage")?,
        asked(answers, "network")?,
        asked(answers, "gateway")?,
        last_vm(answers)?,
    ))
}

/// The highest VM number: a round one, unless the last node needs a higher one.
fn last_vm(answers: &Answers) -> Result<u32, InvalidAnswer> {
    let network = answers.read::<Cidr>("network")?;
    let last = last_address(answers, network, answers.read("first-address")?);
    let highest = last.and_then(|last| network.number_of(last)).unwrap_or(0);
    Ok((FIRST_VM + highest + 1).next_multiple_of(1000) - 1)
}

fn machines(answers: &Answers) -> Result<String, InvalidAnswer> {
    let name = answers.read::<ClusterName>("name")?;
    let first = answers.read::<Ipv4Addr>("first-address")?;
    let control_planes = answers.number("control-planes")?;
    let node = |index| {
        let pool = if index < control_planes { "control-plane" } else { "workers" };
        let address = Ipv4Addr::from(u32::from(first).saturating_add(index));
        let number = index + 1;
        format!("        - {{ name: {name}-{number}, pool: {pool}, address: {address} }}\n")
    };
    let count = control_planes + answers.number("workers")?;
    let nodes = (0..count).map(node).collect::<Vec<_>>().concat();
    Ok(format!(
        "spec:\n  cloud:\n    machines:\n      network: {}\n      gateway: {}\n      \
         nodes: # `mac: AA:BB:…` proves that a machine is the one that is meant\n{nodes}",
        asked(answers, "network")?,
        asked(answers, "gateway")?,
    ))
}

fn versions(answers: &Answers) -> Result<String, InvalidAnswer> {
    let install = match answers.cloud() {
        CloudKind::Machines => format!(
            "    install: {{ disk: {} }} # Talos erases it\n",
            asked(answers, "install-disk")?
        ),
        CloudKind::Proxmox => "    extensions: [siderolabs/qemu-guest-agent]\n".to_owned(),
        CloudKind::Hetzner => {
            "    # diskEncryption: { state: nodeid, ephemeral: nodeid }\n".to_owned()
        }
    };
    Ok(format!(
        "  talos:\n    version: {}\n{install}\n  kubernetes:\n    version: {}\n",
        asked(answers, "talos")?,
        asked(answers, "kubernetes")?,
    ))
}

fn control_plane(answers: &Answers) -> Result<String, InvalidAnswer> {
    let count = answers.number("control-planes")?;
    let settings = match answers.cloud() {
        CloudKind::Hetzner => format!(
            "    count: {count}\n    type: {}\n    # fallbacks: [{{ {} }}]   # if the type is sold out\n    \
             # No firewall guards a load balancer: everybody reaches the Kubernetes API there, and\n    \
             # authentication keeps them out. `public: false` keeps it in the private network.\n    \
             loadBalancer: {{ public: true }}\n",
            asked(answers, "type")?,
            fallback(answers)?
        ),
        CloudKind::Proxmox => format!(
            "    count: {count}\n    vip: {} # one of the control planes answers here\n    cores: 2\n    memory: 4Gi\n    \
             disk: 40Gi\n    firstAddress: {}\n",
            asked(answers, "vip")?,
            asked(answers, "first-address")?
        ),
        CloudKind::Machines => format!(
            "    vip: {} # one of the control planes answers here\n",
            asked(answers, "vip")?
        ),
    };
    Ok(format!("  controlPlane:\n{settings}"))
}

/// Another location where the network reaches one, or else another type.
fn fallback(answers: &Answers) -> Result<&'static str, InvalidAnswer> {
    let location = answers.read::<Location>("location")?;
    Ok(match (location.zone(), location) {
        (NetworkZone::EuCentral, Location::Nbg1) => "location: fsn1",
        (NetworkZone::EuCentral, _) => "location: nbg1",
        _ => "type: ccx13",
    })
}

fn pools(answers: &Answers) -> Result<String, InvalidAnswer> {
    let count = answers.number("workers")?;
    if count == 0 {
        return Ok("  # No pools: the control planes run pods too.\n  pools: []\n".to_owned());
    }
    let settings = match answers.cloud() {
        CloudKind::Hetzner => {
            format!("      count: {count}\n      type: {}\n", asked(answers, "worker-type")?)
        }
        CloudKind::Proxmox => {
            let first = answers.read("first-address")?;
            let address = worker_address(answers, answers.read("network")?, first).unwrap_or(first);
            format!(
                "      count: {count}\n      cores: 4\n      memory: 8Gi\n      disk: 100Gi\n      firstAddress: {address}\n"
            )
        }
        CloudKind::Machines => String::new(),
    };
    let comment = match answers.cloud() {
        CloudKind::Hetzner => {
            "  # Append new pools at the end: a pool's place decides its subnet.
"
        }
        CloudKind::Proxmox => {
            "  # The nodes' addresses follow `firstAddress`: leave room to grow.
"
        }
        CloudKind::Machines => "",
    };
    Ok(format!(
        "{comment}  pools:
    - name: workers
{settings}"
    ))
}

fn firewall(answers: &Answers) -> Result<String, InvalidAnswer> {
    if answers.cloud() != CloudKind::Hetzner {
        return Ok(String::new());
    }
    let source = asked(answers, "allow")?;
    Ok(format!(
        "  # Who may reach the nodes; `my-ip` is the machine that runs seaworthy.\n  firewall:\n    \
         talosAPI: [{source}]\n    kubernetesAPI: [{source}]\n"
    ))
}

fn addons(answers: &Answers) -> Result<String, InvalidAnswer> {
    let cloud = match answers.cloud() {
        CloudKind::Hetzner => "    hcloud-ccm: {}\n    hcloud-csi: {}\n",
        CloudKind::Proxmox => "    proxmox-csi: {}\n",
        CloudKind::Machines => "",
    };
    let flux = match answers.get("flux") {
        None => "    # flux: { repository: ssh://git@example.com/fleet, path: clusters/demo, knownHostsFile: known_hosts }\n".to_owned(),
        Some(_) => format!(
            "    flux:\n      repository: {}\n      branch: main\n      path: clusters/{}\n",
            asked(answers, "flux")?,
            answers.read::<ClusterName>("name")?
        ),
    };
    Ok(format!(
        "  # `{{}}` takes the defaults: versions that fit the Kubernetes version.\n  addons:\n    cilium: {{}}\n{cloud}    \
         metrics-server: {{}}\n    sealed-secrets: {{ key: {{ generate: true }} }}\n{flux}"
    ))
}

fn tail(answers: &Answers) -> String {
    match answers.cloud() {
        CloudKind::Hetzner => {
            "  # maxMonthlyEur: 60   # refuse to build anything that costs more\n".to_owned()
        }
        CloudKind::Proxmox | CloudKind::Machines => String::new(),
    }
}

/// An answer as it can stand in YAML.
fn asked(answers: &Answers, key: &'static str) -> Result<String, InvalidAnswer> {
    let answer = answers.get(key).ok_or(InvalidAnswer::Unanswered { key })?;
    let is_plain = answer.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && answer.chars().all(|c| c.is_ascii_alphanumeric() || "./:@_-".contains(c))
        && !answer.contains("::")
        && !answer.ends_with(':');
    // A JSON string is a YAML string in double quotes.
    Ok(if is_plain { answer } else { serde_json::Value::from(answer).to_string() })
}
