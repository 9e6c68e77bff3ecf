//! What configs and patches are made of by chance.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::scalars::{Any, address, cidr, entry, flag, list, number, text};

/// Whether something may be marked for deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
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
            ("sysctls", self.table(&entry())),
            ("nodeLabels", self.table(&entry())),
            ("install", self.mapping(vec![("disk", text()), ("image", text()), ("wipe", flag())])),
            (
                "kubelet",
                self.mapping(vec![
                    ("image", text()),
                    ("extraArgs", self.table(&prop_oneof![entry(), list(entry())].boxed())),
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
                    ("env", self.table(&entry())),
                ]),
            ),
            ("etcd", self.mapping(vec![("extraArgs", self.table(&entry())), ("image", text())])),
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
    pub(super) fn documents(self) -> BoxedStrategy<Vec<Value>> {
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
        let label = self.mapping(vec![("labels", self.table(&entry()))]);
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
            ("addresses", list(address())),
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
