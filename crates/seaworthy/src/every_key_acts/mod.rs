//! A test over all keys of the cluster file: each changes what is built, or is
//! refused. It walks the JSON Schema, so that a new key without an effect fails.

mod leaves;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use ::talos::secrets::Bundle;
use engine::Chance;
use events::{Clock, ClusterId};
use lifecycle::{Ground, KnownAddresses, Site, addon_objects, machine_configs};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use spec::{By, Cluster, Plan};

use self::leaves::{Leaf, leaves, places, written};
use crate::referenced_files::ReferencedFiles;
use crate::{git_access, target, test_keys};

/// Files that hold a context for every key: one key needs another.
const BASES: [(&str, &str); 2] =
    [("hetzner", include_str!("hetzner.yaml")), ("machines", include_str!("machines.yaml"))];

#[test]
fn every_key_of_the_schema_changes_what_is_built() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let bases: Vec<(&str, Value)> = BASES
        .iter()
        .map(|(name, text)| (*name, spec::parse_yaml(text).expect("a document")))
        .collect();
    for (name, base) in &bases {
        assert!(built(base, folder.path()).is_ok(), "{name}: {:?}", built(base, folder.path()));
    }
    let leaves = leaves(&spec::json_schema());
    let mut wrong = Vec::new();
    for leaf in leaves.iter().filter(|leaf| !leaf.is_constant()) {
        let acts = bases.iter().any(|(_, base)| acts(leaf, base, folder.path(), &mut wrong));
        if !acts {
            wrong.push(format!("{:?} changes nothing, or no value was taken", leaf.path));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), leaves.len(), wrong.join("\n"));
    assert!(leaves.len() > 150, "only {} leaves were found", leaves.len());
}

/// Returns whether a key changes something in a file. A key that is taken and changes
/// nothing is wrong, wherever it stands.
fn acts(leaf: &Leaf, base: &Value, folder: &Path, wrong: &mut Vec<String>) -> bool {
    let mut acts = false;
    for place in places(base, &leaf.path) {
        let with = |value: Option<&Value>| written(base, &leaf.path, &place, value);
        let all = leaf.values();
        let mut files: Vec<Value> = all.iter().map(|value| with(Some(value))).collect();
        // A value that is the default's is as good as none, and is the only such one.
        if !leaf.is_enumerated() {
            files.extend([with(None), base.clone()]);
        }
        let outcomes: Vec<Built> =
            files.iter().filter_map(|file| built(file, folder).ok()).collect();
        let different = distinct(&outcomes);
        let enough = if leaf.is_enumerated() { outcomes.len() } else { outcomes.len().min(2) };
        if different < enough && !is_unset(base, &place, &outcomes) {
            wrong.push(format!("{}: {different} of {} differ", place.join("."), outcomes.len()));
        }
        acts |=
            different > 1 || (leaf.is_enumerated() && outcomes.len() < all.len() && different > 0);
    }
    acts
}

/// Only the file as it is was taken, with and without the key that it does not have.
fn is_unset(base: &Value, place: &[String], outcomes: &[Built]) -> bool {
    let pointer: String = place.iter().map(|key| format!("/{}", key.replace('/', "~1"))).collect();
    base.pointer(&pointer).is_none() && outcomes.len() == 2
}

/// Returns how many differ. Machine configs are made only where plans are alike.
fn distinct(outcomes: &[Built]) -> usize {
    let plans: BTreeSet<&str> = outcomes.iter().map(|it| it.plan.as_str()).collect();
    if plans.len() == outcomes.len() || plans.len() > 1 && outcomes.len() > 8 {
        return plans.len();
    }
    let whole: BTreeSet<String> = outcomes.iter().map(Built::whole).collect();
    whole.len()
}

/// What comes of a cluster file.
#[derive(Debug)]
struct Built {
    plan: String,
    cluster: Cluster,
    /// What the files that it names hold, and what is delivered.
    rest: String,
    patches: Vec<lifecycle::MachinePatch>,
    inline_manifests: Vec<::talos::config::InlineManifest>,
    registries: std::collections::BTreeMap<String, ::talos::config::RegistryAccess>,
}

/// Reads a file as `up` does; the error is what it would be refused with.
fn built(file: &Value, folder: &Path) -> Result<Built, String> {
    let (path, bytes) = (folder.join("cluster.yaml"), file.to_string());
    let reading = spec::read("cluster.yaml", bytes.as_bytes());
    let told = reading.render(spec::Colour::Plain);
    let cluster = reading.into_cluster().map_err(|_| told)?;
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
    })
}

impl Built {
    /// Returns all of it, with the machine configs.
    fn whole(&self) -> String {
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
        let configs = machine_configs(&site, bundle.clone(), &known);
        let configs: Vec<_> = match configs {
            Ok(configs) => configs.iter().map(|(_, it)| it.yaml().reveal().to_owned()).collect(),
            Err(error) => vec![format!("{error:?}")],
        };
        format!("{} {} {}", self.plan, self.rest, configs.join("---\n"))
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
        ("another.key", format!("{key}\n")),
        ("another-rsa.key", format!("{key}\n\n")),
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
