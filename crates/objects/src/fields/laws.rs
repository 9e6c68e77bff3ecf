//! Laws of paths and sets, on generated ones.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Atom, FieldPath, FieldSet, Key, Step};

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", "[a-zA-Z_][a-zA-Z0-9_-]{0,5}", "[ -~äß\u{1}]{0,6}"]
}

fn atom() -> impl Strategy<Value = Atom> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has none", |float| float.is_finite()).prop_map(Value::from),
        name().prop_map(Value::from),
        vec(0..3, 0..3).prop_map(|items| json!(items)),
    ];
    value.prop_map(|value| Atom::from(&value))
}

fn step() -> impl Strategy<Value = Step> {
    let pair = (name().prop_map(Box::from), atom());
    let key = vec(pair, 1..3).prop_filter_map("a key twice", Key::new);
    prop_oneof![
        4 => name().prop_map(|name| Step::field(&name)),
        1 => key.prop_map(Step::Item),
        1 => atom().prop_map(Step::Value),
        1 => (0..3_u32).prop_map(Step::Index),
    ]
}

fn path() -> impl Strategy<Value = FieldPath> {
    vec(step(), 1..5).prop_map(|steps| steps.into_iter().collect())
}

fn set() -> impl Strategy<Value = FieldSet> {
    vec(path(), 0..8).prop_map(|paths| paths.iter().collect())
}

proptest! {
    #[test]
    fn paths_read_back(path in path()) {
        prop_assert_eq!(path.to_string().parse::<FieldPath>(), Ok(path));
    }

    #[test]
    fn any_text_reads_or_is_refused(text in "[a-c.\\[\\]=\",0-9]{0,12}") {
        if let Ok(path) = text.parse::<FieldPath>() {
            prop_assert_eq!(path.to_string().parse::<FieldPath>(), Ok(path));
        }
        let _ = FieldPath::told(&text, Some(&json!({ "a": { "b.c": [{ "a": 1 }] } })));
    }

    #[test]
    fn what_the_api_names_is_found_in_what_was_sent(
        names in vec(vec("[a.]{1,3}", 1..4), 1..5),
        which in any::<prop::sample::Index>(),
    ) {
        let mut sent = json!({});
        for names in &names {
            let last = names.iter().fold(&mut sent, |value, name| &mut value[name]);
            *last = json!({ "end": 1 });
        }
        let path = FieldPath::of_fields(which.get(&names).iter().map(String::as_str));
        // Other names may lead to the same text, but never to nothing.
        if path.find(&sent).is_some() {
            let told = FieldPath::told(&path.as_told(), Some(&sent)).unwrap();
            prop_assert!(told.find(&sent).is_some(), "{} in {}", told, sent);
            prop_assert_eq!(told.as_told(), path.as_told());
        }
    }

    #[test]
    fn atoms_are_their_values(atom in atom()) {
        prop_assert!(atom.is(&atom.value()));
        prop_assert_eq!(Atom::from(&atom.value()), atom);
    }

    #[test]
    fn sets_read_back(set in set()) {
        prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), Ok(set.clone()));
        prop_assert_eq!(set.paths().iter().collect::<FieldSet>(), set.clone());
        prop_assert_eq!(set.paths().len(), set.len());
    }

    #[test]
    fn sets_have_what_was_put_in(paths in vec(path(), 0..8), other in path()) {
        let set: FieldSet = paths.iter().collect();
        prop_assert!(paths.iter().all(|path| set.contains(path) && set.covers(path)));
        prop_assert_eq!(set.contains(&other), paths.contains(&other));
    }

    #[test]
    fn membership_is_boolean(one in set(), other in set(), path in path()) {
        let either = one.union(&other);
        for path in either.paths().iter().chain([&path]) {
            let (left, right) = (one.contains(path), other.contains(path));
            prop_assert_eq!(either.contains(path), left || right);
            prop_assert_eq!(one.difference(&other).contains(path), left && !right);
            prop_assert_eq!(one.intersection(&other).contains(path), left && right);
        }
    }

    #[test]
    fn sets_obey_the_laws_of_sets(a in set(), b in set(), c in set()) {
        let nothing = FieldSet::default();
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b.union(&c)), a.intersection(&b).union(&a.intersection(&c)));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert_eq!(a.difference(&a), nothing.clone());
        prop_assert_eq!(a.union(&nothing), a.clone());
        prop_assert_eq!(a.union(&b).len() + a.intersection(&b).len(), a.len() + b.len());
    }
}

/// What a set takes on the heap, without what the allocator adds.
fn heap(set: &FieldSet) -> usize {
    let step = |step: &Step| match step {
        Step::Field(name) => name.len(),
        Step::Item(key) => {
            key.pairs().iter().map(|(name, _)| size_of_val(key.pairs()) + name.len()).sum()
        }
        Step::Value(atom) => atom.to_string().len(),
        Step::Index(_) => 0,
    };
    let nodes = set.nodes();
    size_of_val(nodes)
        + nodes.iter().map(|node| step(&node.step) + heap(&node.below)).sum::<usize>()
}

#[test]
fn ten_thousand_sets_are_small() {
    let container = |name: &str| {
        let fields = ["name", "image", "args", "command", "imagePullPolicy", "tty", "workingDir"];
        let mut below: Value =
            fields.iter().map(|field| (format!("f:{field}"), json!({}))).collect();
        below["."] = json!({});
        below["f:resources"] = json!({ "f:limits": { "f:cpu": {}, "f:memory": {} },
            "f:requests": { "f:cpu": {}, "f:memory": {} } });
        below["f:env"] = (0..10)
            .map(|i| {
                (
                    format!("k:{{\"name\":\"VAR_{i}\"}}"),
                    json!({ ".": {}, "f:name": {}, "f:value": {} }),
                )
            })
            .collect();
        (format!("k:{{\"name\":\"{name}\"}}"), below)
    };
    let containers: Value = ["app", "proxy"].into_iter().map(container).collect();
    let fields = json!({ "f:metadata": { "f:labels": { "f:app": {}, "f:tier": {} } },
        "f:spec": { "f:replicas": {}, "f:selector": {}, "f:template": {
            "f:metadata": { "f:labels": { "f:app": {} } }, "f:spec": { "f:containers": containers } } } });
    let set = FieldSet::from_fields_v1(&fields).unwrap();
    assert_eq!(set.len(), 89);
    let bytes = heap(&set);
    assert!(bytes * 10_000 < 100_000_000, "{bytes} bytes for {} paths", set.len());
}
