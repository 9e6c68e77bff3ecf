//! Following a path.

use serde_json::Value;

use super::{Comparison, Filter, JsonPath, Literal, Step};

impl JsonPath {
    /// Returns the values that the path leads to, in their order; none where
    /// it leads nowhere.
    pub fn select<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        follow(&self.steps, root)
    }
}

fn follow<'a>(steps: &[Step], root: &'a Value) -> Vec<&'a Value> {
    steps.iter().fold(vec![root], |here, step| {
        here.into_iter().flat_map(|value| step.from(value)).collect()
    })
}

impl Step {
    fn from<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(map)) => map.get(key).into_iter().collect(),
            (Self::Index(index), Value::Array(items)) => {
                place(*index, items.len()).and_then(|at| items.get(at)).into_iter().collect()
            }
            (Self::Every, Value::Array(items)) => items.iter().collect(),
            (Self::Every, Value::Object(map)) => map.values().collect(),
            (Self::Where(filter), Value::Array(items)) => {
                items.iter().filter(|item| filter.keeps(item)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    usize::try_from(if index < 0 { index + length } else { index }).ok()
}

impl Filter {
    fn keeps(&self, item: &Value) -> bool {
        let found = follow(&self.path, item);
        match &self.test {
            None => !found.is_empty(),
            Some((comparison, literal)) => {
                found.into_iter().any(|value| literal.compares(*comparison, value))
            }
        }
    }
}

impl Literal {
    /// Values of another type are unequal, and neither larger nor smaller.
    fn compares(&self, comparison: Comparison, value: &Value) -> bool {
        let order = match (self, value) {
            (Self::Text(text), Value::String(value)) => Some(value.as_str().cmp(text)),
            (Self::Number(number), Value::Number(value)) => {
                value.as_f64().and_then(|value| value.partial_cmp(number))
            }
            (Self::Truth(truth), Value::Bool(value)) => Some(value.cmp(truth)),
            _ => None,
        };
        match comparison {
            Comparison::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Comparison::Unequal => !order.is_some_and(std::cmp::Ordering::is_eq),
            Comparison::Below => order.is_some_and(std::cmp::Ordering::is_lt),
            Comparison::AtMost => order.is_some_and(std::cmp::Ordering::is_le),
            Comparison::Above => order.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::AtLeast => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}
