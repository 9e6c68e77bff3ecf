//! Laws of everything that is rendered.

use std::collections::BTreeSet;

use addons::{Rendered, STAND_IN, SecretObject, cilium};
use events::Secret;
use objects::{Need, Object, Order};
use serde_json::Value;

use crate::samples;

fn identity(object: &Value) -> String {
    let group = object["apiVersion"].as_str().unwrap().split_once('/').map_or("", |(g, _)| g);
    let metadata = &object["metadata"];
    format!("{group}/{} {}/{}", object["kind"], metadata["namespace"], metadata["name"])
}

#[test]
fn every_object_is_somebody_and_only_once() {
    let rendered = samples::all();
    let secrets = rendered.iter().flat_map(Rendered::secrets).map(SecretObject::reveal);
    let objects = rendered.iter().flat_map(Rendered::objects).cloned();
    let mut seen = BTreeSet::new();
    for object in objects.chain(secrets).chain(samples::probes()) {
        let identity = identity(&object);
        assert!(object["metadata"]["name"].as_str().is_some_and(|name| !name.is_empty()));
        assert!(seen.insert(identity.clone()), "twice: {identity}");
        let yaml = serde_saphyr::to_string(&object).unwrap();
        assert_eq!(serde_saphyr::from_str::<Value>(&yaml).unwrap(), object, "{identity}");
    }
    assert!(seen.len() > 70, "{}", seen.len());
}

#[test]
fn every_stand_in_says_that_it_is_one() {
    for rendered in samples::all() {
        assert!(rendered.is_stand_in());
        for object in rendered.objects() {
            assert_eq!(object["metadata"]["annotations"][STAND_IN], "true", "{object}");
        }
    }
}

#[test]
fn no_secret_is_in_an_object_a_digest_or_a_debug_output() {
    let mut secrets = 0;
    for rendered in samples::all() {
        let shown = format!("{rendered:?} {}", Value::from(rendered.objects().to_vec()));
        assert!(!shown.contains(samples::CANARY), "{shown}");
        assert!(!shown.contains("Y2FuYXJ5LWh1bnRlcjIy"), "{shown}");
        secrets += rendered.secrets().len();
    }
    assert_eq!(secrets, 3);
    let ipsec = |keys| {
        let keys = cilium::Encryption::Ipsec { keys: Secret::new(keys) };
        samples::cilium(cilium::Routing::Tunnel, keys)
    };
    assert_eq!(ipsec("one").digest(), ipsec("other").digest());
}

#[test]
fn the_same_values_give_the_same_digest_and_others_another() {
    for (one, again) in samples::all().iter().zip(samples::all()) {
        assert_eq!(one.digest(), again.digest());
    }
    let plain = samples::cilium(cilium::Routing::Tunnel, cilium::Encryption::None);
    let encrypted = samples::cilium(cilium::Routing::Tunnel, cilium::Encryption::Wireguard);
    assert_ne!(plain.digest(), encrypted.digest());
}

#[test]
fn every_rendering_can_be_delivered_in_an_order() {
    let order_of = |rendered: &Rendered| {
        let secrets = rendered.secrets().iter().map(SecretObject::reveal);
        let objects = rendered.objects().iter().cloned().chain(secrets);
        Order::of(objects.map(|object| Object::new(object).unwrap()).collect()).unwrap()
    };
    for rendered in samples::all() {
        let order = order_of(&rendered);
        assert_eq!(order.sequence().len(), rendered.objects().len() + rendered.secrets().len());
    }
    // What Flux is told comes after the kinds that it is told in.
    let flux = order_of(&samples::flux());
    let is_told = |place: &&usize| {
        let object = &flux.objects()[**place];
        object.kind().group.ends_with(".toolkit.fluxcd.io")
    };
    let told: Vec<_> = flux.sequence().iter().filter(is_told).collect();
    assert!(!told.is_empty());
    for place in told {
        let waits = flux.waits_for(*place);
        let kinds: Vec<_> = waits
            .iter()
            .filter(|wait| wait.need == Need::Ready)
            .map(|wait| flux.objects()[wait.object].kind().kind.as_str())
            .collect();
        assert_eq!(kinds, ["CustomResourceDefinition"]);
    }
}

#[test]
fn a_single_control_plane_gets_single_replicas() {
    let values = |control_planes| cilium::Values {
        version: "1.20.0".into(),
        namespace: "kube-system".into(),
        routing: cilium::Routing::Tunnel,
        encryption: cilium::Encryption::None,
        api: "127.0.0.1:7445".parse().unwrap(),
        control_planes,
    };
    let replicas = |control_planes| {
        let rendered = cilium::render(&values(control_planes));
        let operator =
            rendered.objects().iter().find(|one| one["kind"] == "Deployment").unwrap().clone();
        operator["spec"]["replicas"].clone()
    };
    assert_eq!((replicas(1), replicas(3)), (1.into(), 2.into()));
}

#[test]
fn probes_carry_the_run_in_names_and_labels() {
    let run = samples::run().to_string();
    for object in samples::probes() {
        let metadata = &object["metadata"];
        assert_eq!(metadata["labels"]["seaworthy.dev/run"], run);
        let place = metadata["namespace"].as_str().or(metadata["name"].as_str()).unwrap();
        assert!(place.ends_with(&run.to_lowercase()), "{place}");
        assert!(place.len() <= 63, "{place}");
    }
}
