//! A test over all keys of the cluster file: each changes what is built, or is
//! refused. It walks the JSON Schema, so that a new key without an effect fails.

mod leaves;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use ::talos::config::{InlineManifest, RegistryAccess};
use ::talos::secrets::Bundle;
use engine::Chance;
use events::{Clock, ClusterId};
use lifecycle::{Ground, KnownAddresses, Site, addon_objects, machine_configs};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use spec::{By, Cluster, Plan};

use self::leaves::{Leaf, at, leaves, places, written};
use crate::referenced_files::ReferencedFiles;
use crate::{git_access, target, test_keys};

/// Files that hold a context for every key: one key needs another.
const BASES: [(&str, &str); 2] =
    [("hetzner", include_str!("hetzner.yaml")), ("machines", include_str!("machines.yaml"))];

#[test]
fn every_key_of_the_schema_changes_what_is_built() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let leaves = leaves(&spec::json_schema());
    assert!(leaves.len() > 100, "only {} leaves were found", leaves.len());
    let wrong = without_effect(&leaves, |file| built(file, folder.path()));
    assert!(wrong.is_empty(), "keys without an effect:\n{}", wrong.join("\n"));
}

#[test]
fn a_key_that_is_read_and_dropped_is_found() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let dropping = |file: &Value| {
        let mut file = file.clone();
        let hetzner = file.pointer_mut("/spec/cloud/hetzner").and_then(Value::as_object_mut);
        hetzner.map(|it| it.remove("publicIPv6"));
        built(&file, folder.path())
    };
    let mut leaves = leaves(&spec::json_schema());
    leaves.retain(|leaf| leaf.to_string().starts_with("spec.cloud.hetzner."));
    let wrong = without_effect(&leaves, dropping);
    assert_eq!(wrong, ["spec.cloud.hetzner.publicIPv6 (hetzner)", "spec.cloud.hetzner.publicIPv6"]);
}

/// Returns the keys that are taken somewhere and change nothing there, and those that
/// nothing takes.
fn without_effect(leaves: &[Leaf], build: impl Fn(&Value) -> Result<Built, String>) -> Vec<String> {
    let bases = BASES.map(|(name, text)| {
        let file = spec::parse_yaml(text).expect("a document");
        let base = build(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, file, base)
    });
    let mut wrong = Vec::new();
    for leaf in leaves.iter().filter(|leaf| !leaf.is_constant()) {
        let mut acts = false;
        for (name, file, base) in &bases {
            for place in places(file, &leaf.path) {
                match effect(leaf, file, base, &place, &build) {
                    Effect::Some => acts = true,
                    Effect::None => wrong.push(format!("{} ({name})", place.join("."))),
                    Effect::Refused => {}
                }
            }
        }
        if !acts {
            wrong.push(leaf.to_string());
        }
    }
    wrong
}

/// What comes of other values of a key.
enum Effect {
    Some,
    None,
    /// The file takes no other value there, or the key belongs to another cloud.
    Refused,
}

/// A value has to change something against the file as it is or against the file without
/// the key. One such value is enough, but of words, numbers, `true` and `false` no two may
/// do the same.
fn effect(
    leaf: &Leaf,
    file: &Value,
    base: &Built,
    place: &[String],
    build: impl Fn(&Value) -> Result<Built, String>,
) -> Effect {
    let with = |value: Option<&Value>| build(&written(file, &leaf.path, place, value)).ok();
    let values = leaf.values();
    if leaf.is_enumerated() {
        let taken: Vec<Built> = values.iter().filter_map(|value| with(Some(value))).collect();
        let alike = (1..taken.len()).any(|n| taken[..n].iter().any(|it| it.is_like(&taken[n])));
        return match taken.len() {
            0 => Effect::Refused,
            _ if alike => Effect::None,
            // Where one value is taken, all others are refused: that is an answer, too.
            _ => Effect::Some,
        };
    }
    let now = at(file, place);
    let without = with(None);
    let mut effect = Effect::Refused;
    for taken in values.iter().filter(|value| Some(*value) != now).filter_map(|it| with(Some(it))) {
        let is_default = without.as_ref().is_some_and(|it| it.is_like(&taken));
        if !taken.is_like(base) || without.is_some() && !is_default {
            return Effect::Some;
        }
        effect = Effect::None;
    }
    effect
}

/// What comes of a cluster file.
struct Built {
    plan: String,
    cluster: Cluster,
    /// What the files that it names hold, and what is delivered.
    rest: String,
    patches: Vec<lifecycle::MachinePatch>,
    inline_manifests: Vec<InlineManifest>,
    registries: BTreeMap<String, RegistryAccess>,
    configs: OnceCell<Vec<String>>,
}

/// Reads a file as `up` does; the error is what it would be refused with.
fn built(file: &Value, folder: &Path) -> Result<Built, String> {
    let (path, bytes) = (folder.join("cluster.yaml"), file.to_string());
    let reading = spec::read("cluster.yaml", bytes.as_bytes());
    let cluster = reading.into_cluster().map_err(|it| format!("{:?}", it.problems()[0].rule))?;
    let files = ReferencedFiles::read(&cluster, &path, bytes.as_bytes());
    let files = files.map_err(|error| error.message())?;
    let source =
        target::source(&cluster, |_, _| Ok("4be1".repeat(10)), |git| git_access::read(git, folder));
    let source = source.map_err(|error| error.message())?;
    let plan = Plan::of(&cluster, ClusterId::NIL);
    let objects = [By::Seaworthy, By::Gitops].map(|by| addon_objects(&plan, by, source.as_ref()));
    let key = files.sealing_key.as_ref();
    let key =
        key.map(|key| (key.certificate().pem().to_owned(), key.private().reveal().to_owned()));
    let access = source.as_ref().map(|source| match &source.access {
        lifecycle::GitAccess::Public => String::new(),
        lifecycle::GitAccess::Ssh { identity, known_hosts } => {
            format!("{:?} {known_hosts}", identity.as_ref().map(|it| it.reveal().to_owned()))
        }
        lifecycle::GitAccess::Https { username, password } => {
            format!("{username} {}", password.reveal())
        }
    });
    let rest = format!("{objects:?} {source:?} {access:?} {key:?} {:?}", files.manifests);
    Ok(Built {
        plan: serde_json::to_string(&plan).unwrap(),
        cluster,
        rest,
        patches: files.patches,
        inline_manifests: files.inline_manifests,
        registries: files.registries,
        configs: OnceCell::new(),
    })
}

impl Built {
    /// Returns whether both build the same. Machine configs are made only where the rest
    /// is alike.
    fn is_like(&self, other: &Self) -> bool {
        self.plan == other.plan && self.rest == other.rest && self.configs() == other.configs()
    }

    fn configs(&self) -> &[String] {
        self.configs.get_or_init(|| self.render())
    }

    fn render(&self) -> Vec<String> {
        static BUNDLE: OnceLock<Bundle> = OnceLock::new();
        let bundle = BUNDLE.get_or_init(|| {
            let rng = &mut StdRng::seed_from_u64(1);
            Bundle::generate(test_keys::quick(), Clock::real().now(), rng).unwrap()
        });
        let plan = Plan::of(&self.cluster, ClusterId::NIL);
        let public = plan.load_balancer.as_ref().is_some_and(|it| it.public_interface);
        let address = std::net::IpAddr::from([203, 0, 113, 9]);
        let known = KnownAddresses {
            load_balancer: public.then_some(address),
            nodes: plan.nodes.iter().map(|node| (node.name.clone(), address)).collect(),
        };
        let ground = Ground::machines(&plan);
        let nowhere = Path::new("/nowhere");
        let mut site = Site::new(plan, ground, nowhere, Clock::real(), Chance::real());
        site.patches = self.patches.clone();
        site.inline_manifests = self.inline_manifests.clone();
        site.registries = self.registries.clone();
        match machine_configs(&site, bundle.clone(), &known) {
            Ok(configs) => configs.iter().map(|(_, it)| it.yaml().reveal().to_owned()).collect(),
            Err(error) => vec![format!("{error:?}")],
        }
    }
}

/// Writes two files of each form that a key can name.
fn write_files(folder: &Path) {
    let (certificate, key) = test_keys::rsa();
    let map = |name: &str| {
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } }).to_string()
    };
    let ssh = |body: &str| {
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
    };
    let patch = |value: &str| format!("machine: {{ sysctls: {{ vm.swappiness: '{value}' }} }}\n");
    for (name, text) in [
        ("objects.yaml", map("one")),
        ("another.yaml", map("two")),
        ("patch.yaml", patch("1")),
        ("another.patch", patch("2")),
        ("tls.crt", certificate.clone()),
        ("another.crt", format!("{certificate}\n")),
        ("another.pem", format!("{certificate}\n\n")),
        ("tls.key", key.clone()),
        ("another.key", key.replace('\n', "\r\n")),
        ("login", "username: me\npassword: hunter22\n".to_owned()),
        ("another.login", "username: you\npassword: hunter33\n".to_owned()),
        ("known_hosts", "example.com ssh-ed25519 AAAA\n".to_owned()),
        ("another_hosts", "example.com ssh-ed25519 BBBB\n".to_owned()),
        ("id", ssh("a")),
        ("another_id", ssh("b")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}
