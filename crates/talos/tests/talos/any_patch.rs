//! Configs and patches by chance, and the same made of them by talosctl and us.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::patches::{difference, patched};
use crate::talosctl::Judge;

/// Talosctl is started up to three times for each.
const CASES: u32 = 48;

/// The same cases every time, so that nobody's change fails for what it did not
/// do. Whoever changes the merge tries more of them, and others:
/// `SEAWORTHY_TEST_CASES` and `SEAWORTHY_TEST_SEED`.
fn runner() -> TestRunner {
    let settings = rig::settings::Settings::get();
    let cases = settings.cases.unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = match settings.seed {
        None => TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        Some(seed) => {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
        }
    };
    TestRunner::new_with_rng(config, rng)
}

type Any = BoxedStrategy<Value>;

/// Whether something may be marked for deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Config,
    Patch,
}

fn delete() -> Any {
    Just(json!({ "$patch": "delete" })).boxed()
}

impl Part {
    /// A field, rarely one to delete.
    fn field(self, value: Any) -> Any {
        match self {
            Self::Config => value,
            Self::Patch => prop_oneof![60 => value, 1 => delete()].boxed(),
        }
    }

    /// A mapping with some of the fields.
    fn mapping(self, fields: Vec<(&'static str, Any)>) -> Any {
        let fields = fields.into_iter().map(|(key, value)| {
            prop::option::weighted(0.6, self.field(value)).prop_map(move |it| Some((key, it?)))
        });
        let collect = |fields: Vec<Option<(&str, Value)>>| {
            let fields = fields.into_iter().flatten();
            Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect())
        };
        fields.collect::<Vec<_>>().prop_map(collect).boxed()
    }

    /// Elements with a key, rarely one to delete.
    fn keyed(self, key: &'static str, among: &'static [&'static str], item: Any) -> Any {
        let named =
            (prop::sample::select(among), item, 0..40u8).prop_map(move |(name, item, die)| {
                if self == Self::Patch && die == 0 {
                    return json!({ key: name, "$patch": "delete" });
                }
                // What is left of a deletion is no element.
                let fields = item.as_object().cloned().unwrap_or_default().into_iter();
                let fields = fields.filter(|(_, value)| value.get("$patch").is_none());
                let named = [(key.to_owned(), Value::from(name))];
                Value::Object(fields.chain(named).collect::<Map<_, _>>())
            });
        // Two elements of a config under one key would be refused.
        let unique = move |items: Vec<Value>| {
            let mut seen: Vec<Value> = Vec::new();
            let is_new = |item: &Value, seen: &[Value]| seen.iter().all(|it| it[key] != item[key]);
            for item in items {
                if is_new(&item, &seen) {
                    seen.push(item);
                }
            }
            Value::from(seen)
        };
        prop::collection::vec(named, 0..4).prop_map(unique).boxed()
    }

    fn table(self, value: &Any) -> Any {
        let fields = ["a", "b.c", "d/e"].map(|key| (key, value.clone()));
        self.mapping(fields.into())
    }

    fn machine(self) -> Any {
        let vlan = || self.mapping(vec![("mtu", number()), ("addresses", list(cidr()))]);
        let vlans = (prop::collection::btree_set(1..4u16, 0..3), vlan()).prop_map(|(ids, vlan)| {
            let vlan = vlan.as_object().cloned().unwrap_or_default();
            let fields = vlan.into_iter().filter(|(_, value)| value.get("$patch").is_none());
            let fields: Map<_, _> = fields.collect();
            let with = |id: u16| {
                let mut fields = fields.clone();
                fields.insert("vlanId".to_owned(), id.into());
                Value::Object(fields)
            };
            ids.into_iter().map(with).collect::<Value>()
        });
        let interface = self.mapping(vec![
            ("mtu", number()),
            ("dhcp", flag()),
            ("addresses", list(cidr())),
            ("vlans", vlans.boxed()),
        ]);
        self.mapping(vec![
            ("certSANs", list(text())),
            ("sysctls", self.table(&text())),
            ("nodeLabels", self.table(&text())),
            ("install", self.mapping(vec![("disk", text()), ("image", text()), ("wipe", flag())])),
            (
                "kubelet",
                self.mapping(vec![
                    ("image", text()),
                    ("extraArgs", self.table(&prop_oneof![text(), list(text())].boxed())),
                    ("extraConfig", self.free()),
                    ("clusterDNS", list(Just(json!("10.0.0.1")).boxed())),
                    ("disableManifestsDirectory", flag()),
                ]),
            ),
            (
                "network",
                self.mapping(vec![
                    ("nameservers", list(Just(json!("9.9.9.9")).boxed())),
                    ("interfaces", self.keyed("interface", &["eth0", "eth1", "eth2"], interface)),
                    ("kubespan", self.mapping(vec![("enabled", flag()), ("mtu", number())])),
                ]),
            ),
            (
                "registries",
                self.mapping(vec![(
                    "mirrors",
                    self.table(&self.mapping(vec![
                        ("endpoints", list(Just(json!("http://10.0.0.5:5000")).boxed())),
                        ("skipFallback", flag()),
                    ])),
                )]),
            ),
        ])
    }

    fn cluster(self) -> Any {
        let plugin = self.mapping(vec![("configuration", self.free())]);
        self.mapping(vec![
            (
                "network",
                self.mapping(vec![
                    ("dnsDomain", text()),
                    ("podSubnets", list(cidr())),
                    ("serviceSubnets", list(cidr())),
                ]),
            ),
            (
                "apiServer",
                self.mapping(vec![
                    ("certSANs", list(text())),
                    ("admissionControl", self.keyed("name", &["One", "Two"], plugin)),
                    ("auditPolicy", self.free()),
                    ("env", self.table(&text())),
                ]),
            ),
            ("etcd", self.mapping(vec![("extraArgs", self.table(&text())), ("image", text())])),
            ("extraManifests", list(text())),
        ])
    }

    /// What Talos knows no fields of; of one shape, so that it can be merged.
    fn free(self) -> Any {
        self.mapping(vec![
            ("words", list(text())),
            ("count", number()),
            ("flag", flag()),
            ("inner", self.mapping(vec![("word", text()), ("count", number())])),
        ])
    }

    /// The main document and perhaps others.
    fn documents(self) -> BoxedStrategy<Vec<Value>> {
        let document = |kind: &'static str, name: Option<&'static str>, fields: Any| {
            let whole = self.field(fields).prop_map(move |mut fields| {
                fields["apiVersion"] = "v1alpha1".into();
                fields["kind"] = kind.into();
                if let Some(name) = name {
                    fields["name"] = name.into();
                }
                fields
            });
            prop::option::of(whole)
        };
        let files = self.keyed("mountPath", &["/a", "/b"], self.mapping(vec![("content", text())]));
        let service = || {
            let fields = vec![("configFiles", files.clone()), ("environment", list(text()))];
            self.mapping(fields)
        };
        let label = self.mapping(vec![("labels", self.table(&text()))]);
        let resolver =
            self.mapping(vec![("searchDomains", self.mapping(vec![("domains", list(text()))]))]);
        let policy = self.mapping(vec![("configuration", self.free())]);
        let pod = self.mapping(vec![("pod", self.free())]);
        let ports = list(prop::sample::select(vec![53, 443]).prop_map(Value::from).boxed());
        let subnet = Just(json!({ "subnet": "10.1.0.0/16" })).boxed();
        let firewall = self.mapping(vec![
            ("portSelector", self.mapping(vec![("ports", ports)])),
            ("ingress", list(subnet)),
        ]);
        let bond = self.mapping(vec![
            ("links", list(text())),
            ("miimon", number()),
            ("mtu", number()),
            ("addresses", list(json_address())),
        ]);
        let main = (self.machine(), self.cluster())
            .prop_map(|(machine, cluster)| json!({ "machine": machine, "cluster": cluster }));
        (
            main,
            document("ExtensionServiceConfig", Some("one"), service()),
            document("ExtensionServiceConfig", Some("two"), service()),
            document("KubeNodeConfig", None, label),
            document("ResolverConfig", None, resolver),
            document("KubeAuditPolicyConfig", None, policy),
            document("KubeStaticPodConfig", Some("one"), pod),
            document("NetworkRuleConfig", Some("one"), firewall),
            document("BondConfig", Some("bond0"), bond),
        )
            .prop_map(|(main, one, two, node, resolver, policy, pod, firewall, bond)| {
                let others = [one, two, node, resolver, policy, pod, firewall, bond];
                [Some(main)].into_iter().chain(others).flatten().collect()
            })
            .boxed()
    }
}

fn list(item: Any) -> Any {
    prop::collection::vec(item, 0..4).prop_map(Value::from).boxed()
}

fn text() -> Any {
    prop::sample::select(vec!["", "a", "b", "1.10", "true"]).prop_map(Value::from).boxed()
}

fn number() -> Any {
    prop::sample::select(vec![0, 1400, 9000]).prop_map(Value::from).boxed()
}

fn flag() -> Any {
    any::<bool>().prop_map(Value::from).boxed()
}

fn json_address() -> Any {
    Just(json!({ "address": "10.1.0.2/16" })).boxed()
}

fn cidr() -> Any {
    prop::sample::select(vec!["10.1.0.0/16", "10.2.0.0/16"]).prop_map(Value::from).boxed()
}

/// JSON is YAML.
fn written(documents: &[Value]) -> String {
    let texts: Vec<_> = documents.iter().map(|document| format!("{document:#}\n")).collect();
    texts.join("---\n")
}

#[test]
fn any_patch_does_what_it_does_in_talosctl() {
    let Some(judge) = Judge::find() else { return };
    let refused = std::cell::Cell::new(0);
    let cases = (Part::Config.documents(), Part::Patch.documents());
    let result = runner().run(&cases, |(config, patch)| {
        let (config, patch) = (written(&config), written(&patch));
        // What talosctl does not take cannot be patched either.
        prop_assume!(judge.canonical(&config).is_ok());
        refused.set(refused.get() + u32::from(patched(&config, &[&patch]).is_err()));
        prop_assert_eq!(difference(&judge, &config, &[&patch]), None);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    println!("{} were refused by both", refused.get());
}

/// Places in [`MAIN`] and beside it.
const POINTERS: &[&str] = &[
    "/machine/certSANs",
    "/machine/certSANs/0",
    "/machine/certSANs/2",
    "/machine/certSANs/-",
    "/machine/certSANs/9",
    "/machine/sysctls/a~1b",
    "/machine/sysctls/new",
    "/machine/install",
    "/machine/install/disk",
    "/machine/none/disk",
    "/cluster/network/podSubnets",
    "/cluster",
    "/debug",
];

const MAIN: &str = "\
version: v1alpha1
debug: false
machine:
  certSANs: [a, b]
  sysctls: {a/b: '1'}
  install: {disk: /dev/sda}
cluster:
  network: {podSubnets: [10.244.0.0/16]}
";

fn operation() -> Any {
    let verbs = vec!["add", "remove", "replace", "test", "move", "copy"];
    let values = [json!("a"), json!(["a", "b"]), json!({ "disk": "/dev/sda" }), json!(false)];
    let pointer = || prop::sample::select(POINTERS);
    (prop::sample::select(verbs), pointer(), pointer(), prop::sample::select(values.to_vec()))
        .prop_map(|(verb, path, from, value)| match verb {
            "remove" => json!({ "op": verb, "path": path }),
            "move" | "copy" => json!({ "op": verb, "path": path, "from": from }),
            _ => json!({ "op": verb, "path": path, "value": value }),
        })
        .boxed()
}

#[test]
fn any_operations_do_what_they_do_in_talosctl() {
    let Some(judge) = Judge::find() else { return };
    let operations = prop::collection::vec(operation(), 1..4);
    let result = runner().run(&operations, |operations| {
        let lines: Vec<_> = operations.iter().map(Value::to_string).collect();
        let patch = format!("[\n{}\n]", lines.join(",\n"));
        let parsed = |text: String| serde_saphyr::from_multiple::<Value>(&text).unwrap();
        let ours = patched(MAIN, &[&patch]).map(parsed);
        let theirs = judge.patch(MAIN, &[&patch]);
        // The standard has these fail where there is nothing, and so do we.
        let failed = |(index, operation): (usize, &Value)| {
            (operation["op"] == "replace" || operation["op"] == "copy")
                && ours.as_ref().is_err_and(|it| it.contains(&format!("line {},", index + 2)))
        };
        if operations.iter().enumerate().any(failed) {
            return Ok(());
        }
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        prop_assert_eq!(ours.ok(), theirs.ok());
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
