//! Desired, live and owned, walked together.

use serde_json::{Map, Value};

use super::{Doubt, Why};
use crate::fields::{Atom, FieldSet, Key, Node, Owners, Step};

/// What is not sent, or says which object is meant. Nobody owns these.
const NOT_OF_THE_ROOT: [&str; 3] = ["apiVersion", "kind", "status"];
const NOT_OF_METADATA: [&str; 6] =
    ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"];

pub(super) fn walk(
    desired: &Value,
    live: &Value,
    ours: &FieldSet,
    owners: &Owners,
) -> Result<(), Doubt> {
    let version = desired.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    // Only groups of Kubernetes itself do without a dot.
    let is_custom = version.split_once('/').is_some_and(|(group, _)| group.contains('.'));
    let all = owners.shares().iter().map(|share| &share.fields);
    let others = all.filter(|fields| !std::ptr::eq(*fields, ours)).collect();
    Walk { at: Vec::new(), is_custom, others }.inside(desired, live, ours)
}

struct Walk<'a> {
    /// Where the walk is.
    at: Vec<Step>,
    /// Whether somebody can change the defaults of this kind's fields.
    is_custom: bool,
    /// What the others own.
    others: Vec<&'a FieldSet>,
}

impl Walk<'_> {
    fn doubt(&self, why: Why) -> Doubt {
        why.at(self.at.iter().cloned().collect())
    }

    fn below<T>(
        &mut self,
        step: &Step,
        look: impl FnOnce(&mut Self) -> Result<T, Doubt>,
    ) -> Result<T, Doubt> {
        self.at.push(step.clone());
        let found = look(self)?;
        self.at.pop();
        Ok(found)
    }

    fn node(&mut self, desired: &Value, live: &Value, node: &Node) -> Result<(), Doubt> {
        self.below(&node.step, |walk| {
            if node.is_leaf() {
                walk.leaf(desired, live)
            } else {
                walk.inside(desired, live, &node.below)
            }
        })
    }

    /// A scalar, something empty, or a list or map that is owned as a whole.
    fn leaf(&self, desired: &Value, live: &Value) -> Result<(), Doubt> {
        if has_null(desired) {
            return Err(self.doubt(Why::Null));
        }
        let same = desired == live || self.is_a_field_selector_of(desired, live);
        if same { Ok(()) } else { Err(self.doubt(Why::Value)) }
    }

    /// A reference to a field of the pod is one value, and has a default inside:
    /// the version in which the field is named.
    fn is_a_field_selector_of(&self, desired: &Value, live: &Value) -> bool {
        let is_one = matches!(self.at.last(), Some(Step::Field(name)) if &**name == "fieldRef");
        let with_default = |desired: &Map<String, Value>| {
            let mut desired = desired.clone();
            desired.entry("apiVersion").or_insert_with(|| "v1".into());
            live.as_object() == Some(&desired)
        };
        is_one && !self.is_custom && desired.as_object().is_some_and(with_default)
    }

    /// What is ours and not there was sent as something empty, which
    /// Kubernetes' own kinds do not write down. Where somebody else owns it too,
    /// an apply takes it from them.
    fn is_written_as_nothing(&self, desired: &Value, node: &Node) -> bool {
        let path = || self.at.iter().chain([&node.step]);
        let owns = |fields: &&FieldSet| {
            path().try_fold(*fields, |fields, step| Some(&fields.node(step)?.below)).is_some()
        };
        node.is_leaf() && !self.is_custom && is_empty(desired) && !self.others.iter().any(owns)
    }

    fn inside(&mut self, desired: &Value, live: &Value, ours: &FieldSet) -> Result<(), Doubt> {
        match (desired, live) {
            (Value::Object(desired), Value::Object(live)) => self.fields(desired, live, ours),
            (Value::Array(desired), Value::Array(live)) => self.items(desired, live, ours),
            _ => Err(self.doubt(Why::Shape)),
        }
    }

    fn fields(
        &mut self,
        desired: &Map<String, Value>,
        live: &Map<String, Value>,
        ours: &FieldSet,
    ) -> Result<(), Doubt> {
        for (name, value) in desired {
            if self.is_left_out(name) {
                continue;
            }
            match (ours.field(name), live.get(name)) {
                (Some(node), Some(live)) => self.node(value, live, node)?,
                (None, _) if self.at.is_empty() && is_only_identity(name, value) => {}
                (None, _) => {
                    return self.below(&Step::field(name), |walk| Err(walk.doubt(Why::NotOurs)));
                }
                (Some(node), None) if self.is_written_as_nothing(value, node) => {}
                (Some(node), None) => {
                    return self.below(&node.step, |walk| Err(walk.doubt(Why::NotThere)));
                }
            }
        }
        let is_desired = |step: &Step| match step {
            Step::Field(name) => desired.contains_key(&**name) && !self.is_left_out(name),
            _ => false,
        };
        match ours.nodes().iter().find(|node| !is_desired(&node.step)) {
            Some(node) => self.below(&node.step, |walk| Err(walk.doubt(Why::Dropped))),
            None => Ok(()),
        }
    }

    fn is_left_out(&self, name: &str) -> bool {
        match self.at.as_slice() {
            [] => NOT_OF_THE_ROOT.contains(&name),
            [Step::Field(parent)] if &**parent == "metadata" => NOT_OF_METADATA.contains(&name),
            _ => false,
        }
    }

    /// Each desired item has a node of its own, and each node an item; what is
    /// there stands in the same order.
    fn items(&mut self, desired: &[Value], live: &[Value], ours: &FieldSet) -> Result<(), Doubt> {
        let mut behind = 0;
        let mut met = vec![false; ours.nodes().len()];
        for (number, item) in (0..).zip(desired) {
            let (index, node) =
                self.below(&Step::Index(number), |walk| walk.node_of(item, ours))?;
            if std::mem::replace(&mut met[index], true) {
                return self.below(&node.step, |walk| Err(walk.doubt(Why::Ambiguous)));
            }
            let at = self.below(&node.step, |walk| walk.position(live, &node.step))?;
            if at < behind {
                return self.below(&node.step, |walk| Err(walk.doubt(Why::Order)));
            }
            behind = at + 1;
            self.node(item, &live[at], node)?;
        }
        match met.iter().position(|met| !met) {
            Some(index) => {
                let step = &ours.nodes()[index].step;
                self.below(step, |walk| Err(walk.doubt(Why::Dropped)))
            }
            None => Ok(()),
        }
    }

    fn node_of<'a>(&self, item: &Value, ours: &'a FieldSet) -> Result<(usize, &'a Node), Doubt> {
        let mut found = None;
        for (index, node) in ours.nodes().iter().enumerate() {
            let is_meant = match &node.step {
                Step::Item(key) => self.is_desired_as(item, key),
                Step::Value(atom) => atom.is(item),
                Step::Index(_) => return Err(self.doubt(Why::Position)),
                Step::Field(_) => return Err(self.doubt(Why::Shape)),
            };
            if is_meant && found.replace((index, node)).is_some() {
                return Err(self.doubt(Why::Ambiguous));
            }
        }
        // An item that lost its owner has left only fields behind.
        found.filter(|(_, node)| node.member).ok_or_else(|| self.doubt(Why::NotOurs))
    }

    /// A desired item may leave out a key that has a default. The only one in
    /// Kubernetes' own kinds is `protocol: TCP`.
    fn is_desired_as(&self, item: &Value, key: &Key) -> bool {
        key.pairs().iter().all(|(name, atom)| match item.get(&**name) {
            Some(value) => atom.is(value),
            None => !self.is_custom && &**name == "protocol" && *atom == Atom::text("TCP"),
        })
    }

    fn position(&self, live: &[Value], step: &Step) -> Result<usize, Doubt> {
        let is_meant = |item: &Value| match step {
            Step::Item(key) => key.is_of(item),
            Step::Value(atom) => atom.is(item),
            Step::Field(_) | Step::Index(_) => false,
        };
        let mut found = live.iter().enumerate().filter(|(_, item)| is_meant(item));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(at),
            (None, _) => Err(self.doubt(Why::NotThere)),
            (Some(_), Some(_)) => Err(self.doubt(Why::Ambiguous)),
        }
    }
}

/// Metadata that only say which object it is are owned by nobody.
fn is_only_identity(name: &str, value: &Value) -> bool {
    let left_out =
        |map: &Map<String, Value>| map.keys().all(|name| NOT_OF_METADATA.contains(&name.as_str()));
    name == "metadata" && value.as_object().is_some_and(left_out)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => !yes,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
