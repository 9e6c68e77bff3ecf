//! No secret is shown: not by what holds it, and not by the error about it.

use std::error::Error;
use std::fmt::{Debug, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::Secret;
use talos::client::{Apply, Node};
use talos::config::patch::Patch;
use talos::config::{Cluster, InlineManifest, MachineConfig};
use talos::credentials::{Context, Identity, Kubeconfig, Role, Talosconfig};
use talos::secrets::Bundle;

use crate::config::machine_config;
use crate::node::{Face, TestNode, short};
use crate::sample::{bundle, now, rng};

/// A text that is in every secret of these tests and nowhere else.
const CANARY: &str = "hunter22hunter22";

/// Returns every form in which a key's or a token's text may show.
fn forms(secret: &str) -> Vec<String> {
    let lines = secret.lines().filter(|line| line.len() > 8 && !line.starts_with("-----"));
    let lines = lines.map(str::to_owned).chain([STANDARD.encode(secret)]);
    lines.chain([secret.trim().to_owned()]).collect()
}

fn secrets(bundle: &Bundle, others: &[&Identity]) -> Vec<String> {
    let bundled = bundle.secrets().into_iter().map(|(_, secret)| secret);
    let others = others.iter().map(|identity| identity.secret().clone());
    bundled.chain(others).flat_map(|secret| forms(secret.reveal())).collect()
}

fn shown(what: &impl Debug) -> String {
    format!("{what:?} {what:#?}")
}

#[tokio::test]
async fn what_holds_a_secret_does_not_show_it() {
    let bundle = bundle(1);
    let admin = Identity::talos(&bundle, Role::Admin, now(), &mut rng(5)).unwrap();
    let kubernetes = Identity::kubernetes_admin(&bundle, now(), &mut rng(6)).unwrap();
    let kubeconfig = Kubeconfig::new("demo", "https://10.0.64.9:6443", &kubernetes);
    let context = Context { endpoints: vec![], nodes: vec![], identity: admin.clone() };
    let talosconfig = Talosconfig::new("demo", context);
    let config = machine_config(&bundle);
    let apply = Apply { target: "server 4711", config: &config };
    let manifest = InlineManifest { name: "pull".to_owned(), contents: Secret::new(CANARY) };
    let cluster = Cluster {
        inline_manifests: vec![manifest.clone()],
        ..Cluster::new("demo", "v1.36.3", "https://10.0.64.9:6443")
    };
    let patch = Patch::read("a patch", &format!("machine: {{token: {CANARY}}}\n")).unwrap();
    let patched = config.patched(std::slice::from_ref(&patch)).unwrap();
    assert!(patched.yaml().reveal().contains(CANARY), "the canary is in it");
    let test = TestNode::start(Face::Configured(&bundle)).await;
    let node = Node { address: test.address, deadlines: short() };
    let client = node.authenticated(&admin).await.unwrap();
    let proof = node.prove_admin(&admin).await.unwrap();

    let shown = [
        shown(&bundle),
        shown(&bundle.os),
        shown(&bundle.os.key()),
        shown(&bundle.trustd_token),
        shown(&bundle.evidence()),
        shown(&bundle.to_yaml()),
        shown(&(&admin, &kubernetes, &talosconfig, &kubeconfig)),
        shown(&(&config, &patched, &apply, apply.call())),
        shown(&(&manifest, &cluster, &patch)),
        shown(&(&client, &proof)),
        talosconfig.to_yaml().to_string() + &kubeconfig.yaml().to_string(),
    ]
    .concat();
    for secret in secrets(&bundle, &[&admin, &kubernetes]) {
        assert!(!shown.contains(&secret), "{secret} is in {shown}");
    }
    assert!(!shown.contains(CANARY), "{shown}");
    assert!(shown.contains(Secret::MASK), "{shown}");
}

/// Returns all that an error and what it came from say.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut told = format!("{error:?} {error}");
    let mut next = error.source();
    while let Some(source) = next {
        write!(told, " {source:?} {source}").unwrap();
        next = source.source();
    }
    told
}

/// Replaces each text of a file, one after the other, by a canary that cannot
/// be what stood there, and breaks its YAML around it.
fn broken(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let places = (0..lines.len()).filter(|at| lines[*at].contains(": ")).collect::<Vec<_>>();
    places.into_iter().flat_map(move |at| {
        let (key, _) = lines[at].split_once(": ").unwrap();
        let mistakes = [
            format!("{key}: {CANARY}"),
            format!("{key}: [{CANARY}, {CANARY}]"),
            format!("{key}: {{{CANARY}: {CANARY}}}"),
            format!("{key}: \"{CANARY}"),
            format!("{key}: {CANARY}: {CANARY}"),
            format!("{key}: *{CANARY}"),
            format!("{key}: !!{CANARY} {CANARY}"),
            format!("{key}: {}", STANDARD.encode(CANARY)),
            format!(
                "{key}: {}",
                STANDARD.encode(format!(
                    "-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----"
                ))
            ),
        ];
        let lines = lines.clone();
        mistakes.into_iter().map(move |mistake| {
            let mut lines = lines.clone();
            lines[at] = mistake;
            lines.join("\n")
        })
    })
}

#[test]
fn errors_about_secrets_do_not_show_them() {
    let bundle = bundle(1);
    let admin = Identity::talos(&bundle, Role::Admin, now(), &mut rng(5)).unwrap();
    let context = Context { endpoints: vec![], nodes: vec![], identity: admin.clone() };
    let talosconfig = Talosconfig::new("demo", context).to_yaml();
    let config = machine_config(&bundle);
    let mut errors = Vec::new();
    for text in broken(bundle.to_yaml().reveal()) {
        errors.extend(Bundle::from_yaml(&text).err().map(|error| told(&error)));
    }
    for text in broken(talosconfig.reveal()) {
        errors.extend(Talosconfig::from_yaml(&text).err().map(|error| told(&error)));
    }
    for text in broken(config.yaml().reveal()) {
        errors.extend(Bundle::from_machine_config(&text).err().map(|error| told(&error)));
        errors.extend(Patch::read("a patch", &text).err().map(|error| told(&error)));
        let patch = Patch::read("a patch", "machine: {certSANs: [x]}").unwrap();
        let broken = MachineConfig::from_yaml(Secret::new(text));
        errors.extend(broken.patched(&[patch]).err().map(|error| told(&error)));
    }
    assert!(errors.len() > 500, "{} mistakes were noticed", errors.len());
    let mut secrets = secrets(&bundle, &[&admin]);
    secrets.push(CANARY.to_owned());
    secrets.push(STANDARD.encode(CANARY));
    for error in errors {
        for secret in &secrets {
            assert!(!error.contains(secret.as_str()), "{error}");
        }
    }
}
