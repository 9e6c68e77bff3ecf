//! Every way to doubt, and every way not to.

use serde_json::{Value, json};

use super::*;

fn object(mut body: Value) -> Object {
    body["apiVersion"] = "v1".into();
    body["kind"] = "Thing".into();
    body["metadata"]["name"] = "a".into();
    Object::new(body).unwrap()
}

fn live(mut body: Value, fields: &Value) -> Object {
    body["metadata"]["uid"] = "u-1".into();
    body["metadata"]["resourceVersion"] = "7".into();
    body["metadata"]["managedFields"] = json!([
        { "manager": "seaworthy", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields },
        { "manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsV1": { "f:x": {} } },
    ]);
    object(body)
}

fn found(desired: Value, there: Value, fields: &Value) -> String {
    match compare(&object(desired), &live(there, fields), Some("u-1")) {
        Comparison::Same => "same".to_owned(),
        Comparison::Doubt(doubt) => doubt.to_string(),
    }
}

#[test]
fn equal_fields_are_the_same_whatever_others_have_there() {
    let desired = json!({ "metadata": { "labels": { "app.io/x": "1" } },
        "spec": { "n": 1, "empty": {}, "atomic": ["b", "a"], "on": true } });
    let there = json!({ "metadata": { "labels": { "app.io/x": "1", "theirs": "2" } },
        "spec": { "n": 1, "empty": {}, "atomic": ["b", "a"], "on": true, "default": 3 },
        "status": { "ready": true } });
    let fields = json!({ "f:metadata": { "f:labels": { "f:app.io/x": {} } },
        "f:spec": { "f:n": {}, "f:empty": {}, "f:atomic": {}, "f:on": {} } });
    assert_eq!(found(desired.clone(), there.clone(), &fields), "same");
    let mut with_status = desired;
    with_status["status"] = json!({ "ready": false });
    with_status["metadata"]["creationTimestamp"] = Value::Null;
    assert_eq!(found(with_status, there, &fields), "same");
    assert_eq!(found(json!({}), json!({}), &json!({})), "same");
}

#[test]
fn every_unequal_leaf_is_a_doubt_with_its_path() {
    let spec = json!({ "f:spec": { "f:v": {} } });
    let cases = [
        (json!("1000m"), json!("1"), "the values differ at `spec.v`"),
        (json!("80"), json!(80), "the values differ at `spec.v`"),
        (json!(null), json!(null), "null may mean a default at `spec.v`"),
        (json!({ "deep": [null] }), json!({}), "null may mean a default at `spec.v`"),
        (json!({}), json!({ "default": 1 }), "the values differ at `spec.v`"),
        (json!(["a", "b"]), json!(["b", "a"]), "the values differ at `spec.v`"),
    ];
    for (desired, there, doubt) in cases {
        let wrap = |value: Value| json!({ "spec": { "v": value } });
        assert_eq!(found(wrap(desired), wrap(there), &spec), doubt);
    }
}

#[test]
fn what_is_owned_and_desired_must_be_the_same_both_ways() {
    let two = json!({ "spec": { "a": 1, "b": 2 } });
    let one = json!({ "spec": { "a": 1 } });
    let own = |names: &[&str]| -> Value {
        let fields: Value = names.iter().map(|name| (format!("f:{name}"), json!({}))).collect();
        json!({ "f:spec": fields })
    };
    assert_eq!(found(two.clone(), two.clone(), &own(&["a", "b"])), "same");
    let lost = "the field is not ours at `spec.b`";
    assert_eq!(found(two.clone(), two.clone(), &own(&["a"])), lost);
    let dropped = "the field is ours, and not desired any more at `spec.b`";
    assert_eq!(found(one.clone(), two.clone(), &own(&["a", "b"])), dropped);
    let absent = "the field is not there at `spec.b`";
    assert_eq!(found(two, one.clone(), &own(&["a", "b"])), absent);
    let status = json!({ "f:spec": { "f:a": {} }, "f:status": { "f:x": {} } });
    let dropped = "the field is ours, and not desired any more at `status`";
    assert_eq!(found(one.clone(), one.clone(), &status), dropped);
    let labels = json!({ "f:spec": { "f:a": {} }, "f:metadata": { "f:labels": { "f:x": {} } } });
    let dropped = "the field is ours, and not desired any more at `metadata.labels`";
    assert_eq!(found(one.clone(), one, &labels), dropped);
}

#[test]
fn items_with_keys_are_met_by_key_and_keep_our_order() {
    let list = |items: Value| json!({ "l": items });
    let item = json!({ ".": {}, "f:name": {}, "f:x": {} });
    let fields =
        json!({ "f:l": { "k:{\"name\":\"a\"}": item.clone(), "k:{\"name\":\"b\"}": item } });
    let (a, b) = (json!({ "name": "a", "x": 1 }), json!({ "name": "b", "x": 2 }));
    let (other, a_more) = (json!({ "name": "o" }), json!({ "name": "a", "x": 1, "default": 0 }));
    let check = |desired: Value, there: Value| found(list(desired), list(there), &fields);
    assert_eq!(check(json!([a, b]), json!([other, a_more, other, b])), "same");
    let order = r#"the items are in another order at `l[name="b"]`"#;
    assert_eq!(
        check(json!([a, b]), json!([b, a])),
        r#"the items are in another order at `l[name="b"]`"#
    );
    assert_eq!(check(json!([a, b]), json!([b, other, a])), order);
    let gone = r#"the field is not there at `l[name="b"]`"#;
    assert_eq!(check(json!([a, b]), json!([a])), gone);
    let dropped = r#"the field is ours, and not desired any more at `l[name="b"]`"#;
    assert_eq!(check(json!([a]), json!([a, b])), dropped);
    assert_eq!(
        check(json!([a, b, other]), json!([a, b, other])),
        "the field is not ours at `l[2]`"
    );
    let twice = r#"the item cannot be told from others at `l[name="b"]`"#;
    assert_eq!(check(json!([a, b]), json!([a, b, b])), twice);
    assert_eq!(check(json!([a, b, b]), json!([a, b])), twice);
    assert_eq!(check(json!({}), json!([a, b])), "the value is of another shape at `l`");
}

#[test]
fn what_is_empty_may_be_written_as_nothing() {
    let fields = json!({ "f:spec": { "f:a": {}, "f:b": {} } });
    let there = json!({ "spec": { "a": 1 } });
    let check =
        |value: Value| found(json!({ "spec": { "a": 1, "b": value } }), there.clone(), &fields);
    for empty in [json!(false), json!(0), json!(""), json!([]), json!({})] {
        assert_eq!(check(empty), "same");
    }
    for full in [json!(true), json!(1), json!("x"), json!([0]), json!({ "x": {} }), json!(null)] {
        assert_eq!(check(full), "the field is not there at `spec.b`");
    }
}

#[test]
fn a_field_of_the_pod_may_leave_out_its_version_and_nothing_else() {
    let fields = json!({ "f:fieldRef": {}, "f:other": {} });
    let there = json!({ "apiVersion": "v1", "fieldPath": "metadata.name" });
    let check = |one: Value, other: Value| {
        let live = json!({ "fieldRef": there, "other": there });
        found(json!({ "fieldRef": one, "other": other }), live, &fields)
    };
    let short = json!({ "fieldPath": "metadata.name" });
    assert_eq!(check(short.clone(), there.clone()), "same");
    assert_eq!(check(there.clone(), short), "the values differ at `other`");
    let other = json!({ "fieldPath": "metadata.uid" });
    assert_eq!(check(other, there.clone()), "the values differ at `fieldRef`");
}

#[test]
fn a_port_may_leave_out_its_protocol_and_nothing_else() {
    let owned = |key: &str, below: Value| json!({ "f:ports": { key: below } });
    let tcp = "k:{\"port\":80,\"protocol\":\"TCP\"}";
    let below = json!({ ".": {}, "f:port": {} });
    let there = json!({ "ports": [{ "port": 80, "protocol": "TCP" }] });
    let desired = json!({ "ports": [{ "port": 80 }] });
    assert_eq!(found(desired.clone(), there.clone(), &owned(tcp, below.clone())), "same");
    // Whoever defines a kind can change its defaults.
    let custom = |object: Object| {
        let text = object
            .into_body()
            .to_string()
            .replace(r#""apiVersion":"v1""#, r#""apiVersion":"a.io/v1""#);
        Object::new(serde_json::from_str(&text).unwrap()).unwrap()
    };
    let there_custom = custom(live(there.clone(), &owned(tcp, below.clone())));
    let doubt = Why::NotOurs.at("ports[0]".parse().unwrap());
    let found_custom = compare(&custom(object(desired.clone())), &there_custom, None);
    assert_eq!(found_custom, Comparison::Doubt(doubt));
    let said = json!({ ".": {}, "f:port": {}, "f:protocol": {} });
    let doubt = found(desired.clone(), there.clone(), &owned(tcp, said));
    assert!(doubt.starts_with("the field is ours, and not desired any more"), "{doubt}");
    let udp = owned("k:{\"port\":80,\"protocol\":\"UDP\"}", below.clone());
    assert_eq!(found(desired, there.clone(), &udp), "the field is not ours at `ports[0]`");
    let ownerless = owned(tcp, json!({ "f:port": {} }));
    let desired = json!({ "ports": [{ "port": 80 }] });
    assert_eq!(found(desired, there, &ownerless), "the field is not ours at `ports[0]`");
}

#[test]
fn sets_are_met_by_value_and_positions_are_doubted() {
    let list = |items: Value| json!({ "l": items });
    let fields = json!({ "f:l": { "v:\"a\"": {}, "v:\"b\"": {} } });
    let check = |desired: Value, there: Value| found(list(desired), list(there), &fields);
    assert_eq!(check(json!(["b", "a"]), json!(["b", "o", "a"])), "same");
    let order = r#"the items are in another order at `l[="b"]`"#;
    assert_eq!(check(json!(["a", "b"]), json!(["b", "a"])), order);
    let dropped = r#"the field is ours, and not desired any more at `l[="b"]`"#;
    assert_eq!(check(json!(["a"]), json!(["a", "b"])), dropped);
    let by_position = json!({ "f:l": { "i:0": {} } });
    let doubt = "the item is owned by its position at `l[0]`";
    assert_eq!(found(list(json!(["a"])), list(json!(["a"])), &by_position), doubt);
}

#[test]
fn another_object_version_life_or_owner_is_a_doubt() {
    let fields = json!({ "f:spec": {} });
    let desired = object(json!({ "spec": {} }));
    let there = live(json!({ "spec": {} }), &fields);
    let doubt = |desired: &Object, there: &Object, life: Option<&str>| match compare(
        desired, there, life,
    ) {
        Comparison::Same => "same".to_owned(),
        Comparison::Doubt(doubt) => doubt.to_string(),
    };
    assert_eq!(doubt(&desired, &there, None), "same");
    assert_eq!(doubt(&desired, &there, Some("u-2")), "another object is there");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut body = there.body().clone();
        change(&mut body);
        doubt(&desired, &Object::new(body).unwrap(), None)
    };
    let named = |name: &str, value: Value| changed(&|body| body["metadata"][name] = value.clone());
    assert_eq!(named("name", json!("b")), "another object is there");
    assert_eq!(named("namespace", json!("n")), "another object is there");
    assert_eq!(named("uid", Value::Null), "another object is there");
    assert_eq!(named("deletionTimestamp", json!("2026")), "the object is being deleted");
    assert_eq!(named("managedFields", json!([])), "it was never applied by us");
    let odd = named("managedFields", json!([{ "operation": "Apply", "fieldsV1": { "q": {} } }]));
    assert_eq!(odd, "the fields of  cannot be read at `metadata.managedFields`");
    let v2 = changed(&|body| body["apiVersion"] = "v2".into());
    assert_eq!(v2, "it was applied as v2");
    let entry = changed(&|body| body["metadata"]["managedFields"][0]["apiVersion"] = "v0".into());
    assert_eq!(entry, "it was applied as v0");
    let update =
        changed(&|body| body["metadata"]["managedFields"][0]["operation"] = "Update".into());
    assert_eq!(update, "it was never applied by us");
    let scale =
        changed(&|body| body["metadata"]["managedFields"][0]["subresource"] = "scale".into());
    assert_eq!(scale, "it was never applied by us");
}

#[test]
fn who_wants_nothing_needs_to_own_nothing() {
    let bare = object(json!({}));
    let there = |managed: Value| {
        let mut body = live(json!({ "spec": { "finalizers": [] } }), &json!({})).into_body();
        body["metadata"]["managedFields"] = managed;
        Object::new(body).unwrap()
    };
    let others = there(json!([{ "manager": "other", "operation": "Update", "fieldsV1": {} }]));
    assert_eq!(compare(&bare, &others, None), Comparison::Same);
    let never = Comparison::Doubt(Why::NeverApplied.at(FieldPath::default()));
    assert_eq!(compare(&object(json!({ "spec": {} })), &others, None), never);
    // An apply would note who came first, which nobody asked for.
    assert_eq!(compare(&bare, &there(json!([])), None), Comparison::Same);
}

#[test]
fn a_settled_doubt_is_remembered_until_something_changes() {
    let fields = json!({ "f:spec": { "f:cpu": {} } });
    let desired = |cpu: &str| object(json!({ "spec": { "cpu": cpu } }));
    let there =
        |cpu: &str, other: i32| live(json!({ "spec": { "cpu": cpu, "o": other } }), &fields);
    let print =
        |one: &Object, other: &Object, of| Footprint::of(one, other).unwrap().defined_by(of);
    let first = print(&desired("1000m"), &there("1", 1), Some(3));
    let mut settled = Settled::default();
    settled.forget_unless_of("v1.36.3");
    assert!(!settled.knows(&first));
    let mut after = there("1", 1).into_body();
    after["status"] = json!({ "observed": 1 });
    after["metadata"]["resourceVersion"] = "8".into();
    after["metadata"]["managedFields"][0]["time"] = "2026-11-16T00:00:00Z".into();
    settled.learn(first.clone(), &there("2", 1));
    assert!(!settled.knows(&first));
    settled.learn(first.clone(), &Object::new(after).unwrap());
    assert!(settled.knows(&first) && settled.len() == 1);
    // What others have does not matter, nor does the time.
    assert!(settled.knows(&print(&desired("1000m"), &there("1", 2), Some(3))));
    assert!(!settled.knows(&print(&desired("1001m"), &there("1", 1), Some(3))));
    assert!(!settled.knows(&print(&desired("1000m"), &there("2", 1), Some(3))));
    assert!(!settled.knows(&print(&desired("1000m"), &there("1", 1), Some(4))));
    let kept = serde_json::to_string(&settled).unwrap();
    assert_eq!(Settled::kept(kept.as_bytes()), settled);
    let other_form = kept.replace("\"form\":1", "\"form\":0");
    assert!(Settled::kept(other_form.as_bytes()).is_empty());
    assert!(Settled::kept(b"torn {").is_empty());
    settled.forget_unless_of("v1.36.3");
    assert!(!settled.is_empty());
    settled.forget_unless_of("v1.37.0");
    assert!(settled.is_empty());
}

#[test]
fn nothing_of_a_secret_is_remembered() {
    let mut body =
        live(json!({ "data": { "k": "eA==" } }), &json!({ "f:data": { "f:k": {} } })).into_body();
    body["kind"] = "Secret".into();
    let secret = Object::new(body).unwrap();
    assert_eq!(Footprint::of(&secret, &secret), None);
}
