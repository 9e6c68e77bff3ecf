//! What has to be known to write a cluster file.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use thiserror::Error;

use super::proposal::Proposal;
use crate::cluster::CloudKind;
use crate::scalar::{
    Cidr, ClusterName, FilePath, GitUrl, Location, ResourceName, Scalar, ServerType, ServiceUrl,
    SourceRange, Version, Within, Word,
};
use crate::versions::{self, TALOS, release};

/// One thing that has to be known to write a cluster file.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The name of the answer, and of the flag that gives it.
    pub key: &'static str,
    /// What a terminal asks.
    pub prompt: &'static str,
    /// One more sentence for `--help`.
    pub help: &'static str,
    /// The answers to choose from, if they are few.
    pub choices: &'static [&'static str],
    /// Whether no answer is an answer.
    pub optional: bool,
    asked_for: Option<CloudKind>,
    default: Proposal,
    check: fn(&str) -> Result<(), String>,
    fits: fn(&Answers, &str) -> Result<(), String>,
}

/// Answers that were given, by key, each checked when it was.
#[derive(Clone, Debug)]
pub struct Answers {
    cloud: CloudKind,
    given: BTreeMap<&'static str, String>,
}

/// Why an answer cannot be taken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InvalidAnswer {
    /// The answer is not what the question asks for.
    #[error("`{answer}` is no answer to `{key}`: {reason}")]
    NotWhatWasAsked {
        /// The question.
        key: &'static str,
        /// The answer.
        answer: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The question is not asked for this cloud.
    #[error("`{key}` is not asked for {cloud}")]
    NotAsked {
        /// The question.
        key: String,
        /// The cloud.
        cloud: &'static str,
    },
    /// A question without a default has no answer.
    #[error("`{key}` has no default and was not answered")]
    Unanswered {
        /// The question.
        key: &'static str,
    },
}

static QUESTIONS: [Question; 22] = [
    ask(
        "name",
        "Name of the cluster",
        "It starts the name of everything that is made.",
        Proposal::Text("demo"),
        is::<ClusterName>,
    ),
    ask(
        "talos",
        "Talos version",
        "The operating system of the nodes.",
        Proposal::Talos,
        is_supported_talos,
    ),
    Question {
        fits: runs_on_talos,
        ..ask(
            "kubernetes",
            "Kubernetes version",
            "Talos must support it.",
            Proposal::Kubernetes,
            is::<Version>,
        )
    },
    choose(
        "control-planes",
        "Control planes",
        "3 survive the loss of one.",
        &["1", "3", "5"],
        "3",
        None,
    ),
    ask(
        "workers",
        "Worker nodes",
        "0 lets the control planes run pods.",
        Proposal::Text("2"),
        is::<Within<0, 90>>,
    ),
    choose(
        "location",
        "Location",
        "Hetzner's location for all nodes.",
        Location::WORDS,
        "fsn1",
        Some(CloudKind::Hetzner),
    ),
    only(
        CloudKind::Hetzner,
        "type",
        "Server type of control planes",
        "cax types are Arm, the others x86.",
        Proposal::ControlPlaneType,
        is::<ServerType>,
    ),
    only(
        CloudKind::Hetzner,
        "worker-type",
        "Server type of workers",
        "It may be larger.",
        Proposal::WorkerType,
        is::<ServerType>,
    ),
    only(
        CloudKind::Hetzner,
        "allow",
        "Who may reach the nodes",
        "A network, or `my-ip` for this machine. The load balancer is open to all.",
        Proposal::Text("my-ip"),
        is::<SourceRange>,
    ),
    only(
        CloudKind::Proxmox,
        "endpoint",
        "Proxmox API",
        "With its port.",
        Proposal::Text("https://pve.example.com:8006"),
        is::<ServiceUrl>,
    ),
    only(
        CloudKind::Proxmox,
        "host",
        "Proxmox host",
        "More can be added in the file.",
        Proposal::Text("pve1"),
        is::<ResourceName>,
    ),
    only(
        CloudKind::Proxmox,
        "storage",
        "Storage for disks",
        "As Proxmox calls it.",
        Proposal::Text("local-lvm"),
        is::<ResourceName>,
    ),
    Question {
        fits: has_room,
        ..only(
            CloudKind::Proxmox,
            "network",
            "Network of the nodes",
            "The network behind the bridge.",
            Proposal::Text("10.20.0.0/24"),
            is::<Cidr>,
        )
    },
    gateway(CloudKind::Proxmox),
    vip(CloudKind::Proxmox),
    only(
        CloudKind::Proxmox,
        "first-address",
        "First node's address",
        "Control planes first, workers ten addresses on where there is room.",
        Proposal::FirstAddress,
        is::<Ipv4Addr>,
    ),
    Question {
        fits: has_room,
        ..only(
            CloudKind::Machines,
            "network",
            "Network of the machines",
            "All machines share it.",
            Proposal::Text("192.168.10.0/24"),
            is::<Cidr>,
        )
    },
    gateway(CloudKind::Machines),
    vip(CloudKind::Machines),
    only(
        CloudKind::Machines,
        "first-address",
        "First machine's address",
        "The others follow; correct them in the file.",
        Proposal::FirstAddress,
        is::<Ipv4Addr>,
    ),
    only(
        CloudKind::Machines,
        "install-disk",
        "Disk to install on",
        "Talos erases it.",
        Proposal::Text("/dev/sda"),
        is_device,
    ),
    Question {
        optional: true,
        ..ask(
            "flux",
            "Git repository for Flux",
            "Leave it empty to do without.",
            Proposal::None,
            is::<GitUrl>,
        )
    },
];

const fn ask(
    key: &'static str,
    prompt: &'static str,
    help: &'static str,
    default: Proposal,
    check: fn(&str) -> Result<(), String>,
) -> Question {
    Question {
        key,
        prompt,
        help,
        choices: &[],
        optional: false,
        asked_for: None,
        default,
        check,
        fits: |_, _| Ok(()),
    }
}

const fn only(
    cloud: CloudKind,
    key: &'static str,
    prompt: &'static str,
    help: &'static str,
    default: Proposal,
    check: fn(&str) -> Result<(), String>,
) -> Question {
    Question { asked_for: Some(cloud), ..ask(key, prompt, help, default, check) }
}

const fn gateway(cloud: CloudKind) -> Question {
    let help = "An address in the network.";
    only(cloud, "gateway", "Gateway", help, Proposal::Gateway, is::<Ipv4Addr>)
}

const fn vip(cloud: CloudKind) -> Question {
    let (prompt, help) = ("Shared address of the control planes", "An address that nobody has.");
    only(cloud, "vip", prompt, help, Proposal::Vip, is::<Ipv4Addr>)
}

const fn choose(
    key: &'static str,
    prompt: &'static str,
    help: &'static str,
    choices: &'static [&'static str],
    default: &'static str,
    cloud: Option<CloudKind>,
) -> Question {
    Question {
        choices,
        asked_for: cloud,
        ..ask(key, prompt, help, Proposal::Text(default), |_| Ok(()))
    }
}

/// The questions for a cloud, in the order in which they are asked.
pub fn questions(cloud: CloudKind) -> impl Iterator<Item = &'static Question> {
    QUESTIONS.iter().filter(move |question| question.asked_for.is_none_or(|only| only == cloud))
}

/// The clouds to choose from: the question before all others.
pub fn clouds() -> &'static [&'static str] {
    // Proxmox is not supported yet.
    &["hetzner", "machines"]
}

impl Question {
    /// The answer that is taken if none is given; it may follow from the answers so far.
    pub fn default(&self, answers: &Answers) -> Option<String> {
        self.default.after(answers)
    }

    /// Checks an answer, also against the answers so far; the error says what was expected.
    pub fn check(&self, answer: &str, answers: &Answers) -> Result<(), InvalidAnswer> {
        let invalid = |reason| InvalidAnswer::NotWhatWasAsked {
            key: self.key,
            answer: answer.to_owned(),
            reason,
        };
        if answer.is_empty() && self.optional {
            return Ok(());
        }
        if !self.choices.is_empty() && !self.choices.contains(&answer) {
            return Err(invalid(format!("expected {}", crate::scalar::one_of(self.choices))));
        }
        (self.check)(answer).and_then(|()| (self.fits)(answers, answer)).map_err(invalid)
    }
}

impl Answers {
    /// Starts with the defaults for a cloud.
    pub fn new(cloud: CloudKind) -> Self {
        Self { cloud, given: BTreeMap::new() }
    }

    /// Takes an answer.
    pub fn answer(&mut self, key: &str, answer: &str) -> Result<(), InvalidAnswer> {
        let question = questions(self.cloud).find(|question| question.key == key);
        let question = question.ok_or_else(|| InvalidAnswer::NotAsked {
            key: key.to_owned(),
            cloud: self.cloud.as_str(),
        })?;
        question.check(answer, self)?;
        self.given.insert(question.key, answer.to_owned());
        Ok(())
    }

    /// Forgets an answer: the default takes its place.
    pub fn forget(&mut self, key: &str) {
        self.given.remove(key);
    }

    /// The cloud.
    pub fn cloud(&self) -> CloudKind {
        self.cloud
    }

    /// The answer to a question: the given one, or the default.
    pub fn get(&self, key: &str) -> Option<String> {
        let question = questions(self.cloud).find(|question| question.key == key)?;
        let answer = self.given.get(key).cloned().or_else(|| question.default(self));
        answer.filter(|answer| !answer.is_empty())
    }

    pub(super) fn number(&self, key: &'static str) -> Result<u32, InvalidAnswer> {
        self.read::<Within<0, 1000>>(key).map(Within::get)
    }

    pub(super) fn read<T: Scalar>(&self, key: &'static str) -> Result<T, InvalidAnswer> {
        let answer = self.get(key).ok_or(InvalidAnswer::Unanswered { key })?;
        T::read(&answer).map_err(|complaint| InvalidAnswer::NotWhatWasAsked {
            key,
            answer,
            reason: complaint.label,
        })
    }
}

impl InvalidAnswer {
    /// The question that was answered.
    pub fn key(&self) -> &str {
        match self {
            Self::NotWhatWasAsked { key, .. } | Self::Unanswered { key } => key,
            Self::NotAsked { key, .. } => key,
        }
    }
}

fn is<T: Scalar>(answer: &str) -> Result<(), String> {
    T::read(answer).map(drop).map_err(|complaint| complaint.label)
}

fn is_supported_talos(answer: &str) -> Result<(), String> {
    let version = Version::parse(answer)?;
    let (oldest, newest) = (TALOS[0].talos, TALOS[TALOS.len() - 1].talos);
    if version.minor() < oldest {
        let (oldest, newest) = (release(oldest), release(newest));
        return Err(format!("it is too old: {oldest} to {newest} are supported"));
    }
    Ok(())
}

fn runs_on_talos(answers: &Answers, answer: &str) -> Result<(), String> {
    let talos = answers.read::<Version>("talos").map_err(|error| error.to_string())?;
    match versions::talos_release(&talos) {
        Some(row) if !row.runs(&Version::parse(answer)?) => {
            let (oldest, newest) = (release(row.oldest), release(row.newest));
            Err(format!("Talos {talos} runs {oldest} to {newest}"))
        }
        _ => Ok(()),
    }
}

/// The nodes, the gateway and the VIP need an address each.
fn has_room(answers: &Answers, answer: &str) -> Result<(), String> {
    let network = Cidr::read(answer).map_err(|complaint| complaint.label)?;
    let count = |key| answers.number(key).map_err(|error| error.to_string());
    let needed = count("control-planes")? + count("workers")? + 2;
    match network.host(needed).filter(|last| network.is_host(*last)) {
        Some(_) => Ok(()),
        None => Err(format!("it is too small: nodes, gateway and VIP need {needed} addresses")),
    }
}

fn is_device(answer: &str) -> Result<(), String> {
    is::<FilePath>(answer)?;
    if answer.starts_with("/dev/") {
        Ok(())
    } else {
        Err("expected a device such as `/dev/sda`".to_owned())
    }
}
