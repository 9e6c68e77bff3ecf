//! Lists: filters, order, pages.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::call::{Call, Reply};
use crate::hetzner::refusal::Refusal;
use crate::hetzner::selector::{Labels, Selector};

const DEFAULT_PER_PAGE: usize = 25;
const MAX_PER_PAGE: usize = 50;

/// Answers with those of the entries that the query asks for.
pub(crate) fn answer(
    plural: &str,
    filters: &[&str],
    mut entries: Vec<Value>,
    call: &Call,
) -> Result<Reply, Refusal> {
    for field in ["name"].iter().chain(filters) {
        retain(&mut entries, field, call);
    }
    if let Some(text) = call.values("label_selector").next().filter(|text| !text.is_empty()) {
        let selector = Selector::of_field("label_selector", text)?;
        entries.retain(|entry| selector.matches(&labels_of(entry)));
    }
    sort(&mut entries, call)?;
    let page = Page::of(call, entries.len())?;
    let shown: Vec<Value> = entries.into_iter().skip(page.before()).take(page.size).collect();
    Ok(Reply::ok(json!({ plural: shown, "meta": { "pagination": page.view() } })))
}

/// Keeps the entries whose field has one of the wanted values.
fn retain(entries: &mut Vec<Value>, field: &str, call: &Call) {
    let wanted: Vec<&str> = call.values(field).filter(|value| !value.is_empty()).collect();
    if wanted.is_empty() {
        return;
    }
    entries.retain(|entry| match &entry[field] {
        Value::String(text) => wanted.contains(&text.as_str()),
        other => wanted.contains(&other.to_string().as_str()),
    });
}

fn labels_of(entry: &Value) -> Labels {
    let labels = entry["labels"].as_object().into_iter().flatten();
    labels.map(|(key, value)| (key.clone(), value.as_str().unwrap_or("").to_owned())).collect()
}

/// Sorts by `field`, `field:asc` or `field:desc`, the first one counting most.
fn sort(entries: &mut [Value], call: &Call) -> Result<(), Refusal> {
    let mut keys = Vec::new();
    for text in call.values("sort") {
        let (field, direction) = text.split_once(':').unwrap_or((text, "asc"));
        let known =
            ["id", "name", "created", "status", "command", "progress", "started", "finished"];
        match direction {
            "asc" | "desc" if known.contains(&field) => keys.push((field, direction == "desc")),
            _ => return Err(Refusal::invalid("sort", format!("cannot sort by `{text}`"))),
        }
    }
    entries.sort_by(|a, b| {
        let orders = keys.iter().map(|(field, reversed)| {
            let order = compare(&a[field], &b[field]);
            if *reversed { order.reverse() } else { order }
        });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    Ok(())
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_str().cmp(&b.as_str()),
    }
}

/// The part of a list that is shown.
struct Page {
    number: usize,
    size: usize,
    total: usize,
}

impl Page {
    fn of(call: &Call, total: usize) -> Result<Self, Refusal> {
        let number = |field: &str, otherwise: usize| {
            let text = call.values(field).next();
            let number = text.map_or(Ok(otherwise), str::parse::<usize>);
            let number = number.ok().filter(|number| *number > 0);
            number.ok_or_else(|| Refusal::invalid(field, "must be a number above zero"))
        };
        let size = number("per_page", DEFAULT_PER_PAGE)?.min(MAX_PER_PAGE);
        Ok(Self { number: number("page", 1)?, size, total })
    }

    /// Returns how many entries come before it, however far it is behind the last.
    fn before(&self) -> usize {
        (self.number - 1).saturating_mul(self.size)
    }

    fn view(&self) -> Value {
        let last = self.total.div_ceil(self.size).max(1);
        json!({
            "page": self.number,
            "per_page": self.size,
            "previous_page": (self.number > 1).then(|| self.number - 1),
            "next_page": (self.number < last).then(|| self.number + 1),
            "last_page": last,
            "total_entries": self.total,
        })
    }
}
