//! The decoder's vocabulary: take keys out of a mapping, one by one.
//!
//! A decoder asks for each key with the type it wants. Everything that is wrong
//! becomes a [`Problem`] and a stand-in value, so that decoding goes on and the
//! reader sees all problems at once; stand-ins sit at [`Span::NOWHERE`], where
//! no later rule can complain about them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::nearest::nearest;
use super::node::{Content, Entry, Node, ScalarKind};
use super::problem::{Problem, Problems};
use super::shape::{Field, Kind, Pick, Shape};
use super::source::{Span, Spanned};
use super::wording::{bad_value, names_a_secret, wrong_json_type, wrong_kind};
use crate::rules::Rule;
use crate::scalar::{Scalar, one_of, shortened};

/// A mapping that is being decoded.
pub(crate) struct Fields<'a> {
    shape: &'static Shape,
    /// `None` if the mapping itself could not be read.
    entries: Option<&'a [Entry]>,
    /// Where the mapping is shown: its key, or its first key in a list.
    at: Span,
    /// Its key, for messages.
    name: String,
    problems: &'a Problems,
    /// Known keys that are not set, but that misspelt ones mean.
    meant: Vec<&'static str>,
    /// Keys that the decoder asked for, to prove that it knows all it describes.
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Fields<'a> {
    /// Opens the root of a document.
    pub(crate) fn root(node: &'a Node, shape: &'static Shape, problems: &'a Problems) -> Self {
        let place = Place { at: node.caret(), name: String::new() };
        Self::open(node, place, shape, problems)
    }

    fn open(node: &'a Node, place: Place, shape: &'static Shape, problems: &'a Problems) -> Self {
        let entries = node.entries();
        if entries.is_none() {
            let problem = wrong_kind(node, place.at, "expected a mapping".to_owned());
            problems.push(problem.label(format!("write `{}`", place.example(shape))));
        }
        let Place { at, name } = place;
        let fields = Self {
            shape,
            entries,
            at: if entries.is_some() { at } else { Span::NOWHERE },
            name,
            problems,
            meant: meant_keys(shape, entries.unwrap_or_default()),
            asked: RefCell::default(),
        };
        fields.check_keys();
        fields
    }

    fn unreadable(&self, shape: &'static Shape) -> Self {
        Self {
            shape,
            entries: None,
            at: Span::NOWHERE,
            name: String::new(),
            problems: self.problems,
            meant: Vec::new(),
            asked: RefCell::default(),
        }
    }

    /// Where the mapping is shown.
    pub(crate) fn at(&self) -> Span {
        self.at
    }

    /// Where a key is written, if it is.
    pub(crate) fn key_span(&self, key: &str) -> Option<Span> {
        self.entry(key).map(|entry| entry.key.span)
    }

    /// Reports it if not exactly one of two keys is set.
    pub(crate) fn exactly_one(&self, one: &str, other: &str) {
        match (self.key_span(one), self.key_span(other)) {
            (Some(first), Some(second)) => self.problems.push(
                Problem::error(
                    Rule::ExclusiveKeys,
                    second,
                    format!("`{one}` and `{other}` exclude each other"),
                )
                .label("remove one of them")
                .related(first, "the other one"),
            ),
            (None, None) if !self.is_meant(one) && !self.is_meant(other) => self.problems.push(
                Problem::error(
                    Rule::MissingKey,
                    self.at,
                    format!("missing key `{one}` or `{other}`"),
                )
                .label("one of them is needed here"),
            ),
            _ => {}
        }
    }

    /// Takes a scalar that must be there.
    pub(crate) fn required<T: Scalar>(&self, key: &'static str) -> Spanned<T> {
        self.optional(key).unwrap_or_else(unreadable)
    }

    /// Takes a scalar that may be there.
    pub(crate) fn optional<T: Scalar>(&self, key: &'static str) -> Option<Spanned<T>> {
        self.ask(key, |kind| matches!(kind, Kind::Scalar(format) if *format == T::FORMAT));
        match self.entry(key) {
            Some(entry) => Some(self.scalar(&entry.value, entry.key.span)),
            None => self.is_meant(key).then(unreadable),
        }
    }

    /// Takes a list of scalars; a missing key is an empty list.
    pub(crate) fn list<T: Scalar>(&self, key: &'static str) -> Vec<Spanned<T>> {
        self.ask(key, |kind| matches!(kind, Kind::Scalars(format) if *format == T::FORMAT));
        let read = |item: &Node| self.scalar(item, item.span);
        match self.items(key) {
            Some(items) => items.iter().map(read).collect(),
            None => vec![unreadable()],
        }
    }

    /// Takes a mapping that must be there.
    pub(crate) fn required_map(&self, key: &'static str) -> Self {
        let shape = self.ask_for_map(key);
        self.take_map(key, shape).unwrap_or_else(|| self.unreadable(shape))
    }

    /// Takes a mapping that may be there.
    pub(crate) fn map(&self, key: &'static str) -> Option<Self> {
        let shape = self.ask_for_map(key);
        self.take_map(key, shape)
    }

    fn ask_for_map(&self, key: &'static str) -> &'static Shape {
        match self.ask(key, |kind| matches!(kind, Kind::Map(_))) {
            Kind::Map(shape) => shape,
            _ => unreachable!("`{key}` is described as a mapping"),
        }
    }

    fn take_map(&self, key: &'static str, shape: &'static Shape) -> Option<Self> {
        let Some(entry) = self.entry(key) else {
            return self.is_meant(key).then(|| self.unreadable(shape));
        };
        let place = Place { at: entry.key.span, name: format!("`{key}`") };
        Some(Self::open(&entry.value, place, shape, self.problems))
    }

    /// Takes a list of mappings; a missing key is an empty list.
    pub(crate) fn maps(&self, key: &'static str) -> Vec<Self> {
        let kind = self.ask(key, |kind| matches!(kind, Kind::Maps(_)));
        let Kind::Maps(shape) = kind else {
            return Vec::new();
        };
        let open = |item: &'a Node| {
            let place = Place { at: item.caret(), name: format!("an entry of `{key}`") };
            Self::open(item, place, shape, self.problems)
        };
        match self.items(key) {
            Some(items) => items.iter().map(open).collect(),
            None => vec![self.unreadable(shape)],
        }
    }

    /// Takes a mapping from scalars to scalars; a missing key is an empty one.
    pub(crate) fn table<K: Scalar, V: Scalar>(
        &self,
        key: &'static str,
    ) -> Vec<(Spanned<K>, Spanned<V>)> {
        let described = |kind: &Kind| matches!(kind, Kind::Table { keys, values } if *keys == K::FORMAT && *values == V::FORMAT);
        self.ask(key, described);
        let read =
            |entry: &Entry| (self.key(&entry.key), self.scalar(&entry.value, entry.key.span));
        self.entries_of(key).iter().map(read).collect()
    }

    /// Takes a mapping from scalars to mappings; a missing key is an empty one.
    pub(crate) fn table_of_maps<K: Scalar>(&self, key: &'static str) -> Vec<(Spanned<K>, Self)> {
        let kind = self
            .ask(key, |kind| matches!(kind, Kind::TableOfMaps { keys, .. } if *keys == K::FORMAT));
        let Kind::TableOfMaps { values: shape, .. } = kind else {
            return Vec::new();
        };
        let read = |entry: &'a Entry| {
            let place = Place { at: entry.key.span, name: format!("`{}`", entry.key.value) };
            (self.key(&entry.key), Self::open(&entry.value, place, shape, self.problems))
        };
        self.entries_of(key).iter().map(read).collect()
    }

    /// Takes a mapping that is passed on as it is.
    pub(crate) fn free(&self, key: &'static str) -> Option<Spanned<Node>> {
        self.ask(key, |kind| matches!(kind, Kind::Free));
        let entry = self.entry(key)?;
        if entry.value.entries().is_none() {
            let expected = Kind::Free.expected();
            self.problems.push(wrong_kind(&entry.value, entry.key.span, expected));
            return None;
        }
        entry.value.report_ambiguous(self.problems);
        Some(Spanned::new(entry.value.clone(), entry.key.span))
    }

    /// The mapping, or the list of mappings, of a key that is read by somebody else.
    pub(crate) fn free_or_list(&self, key: &'static str) -> Option<Spanned<Node>> {
        self.ask(key, |kind| matches!(kind, Kind::FreeOrList));
        let entry = self.entry(key)?;
        let wrong = match &entry.value.content {
            Content::Map(_) => None,
            Content::List(items) => items.iter().find(|item| item.entries().is_none()),
            Content::Scalar(_) => Some(&entry.value),
        };
        if let Some(wrong) = wrong {
            let expected = Kind::FreeOrList.expected();
            self.problems.push(wrong_kind(wrong, entry.key.span, expected));
            return None;
        }
        entry.value.report_ambiguous(self.problems);
        Some(Spanned::new(entry.value.clone(), entry.key.span))
    }

    /// Ends the decoding of this mapping.
    ///
    /// In builds with debug assertions it proves that the decoder asked for
    /// every key of its description: what the schema offers, the decoder reads.
    pub(crate) fn finish(self) {
        let asked = self.asked.borrow();
        let forgotten = self.shape.fields().find(|field| !asked.contains(&field.key));
        debug_assert!(
            forgotten.is_none(),
            "the decoder of {} never asks for `{}`",
            self.shape.name,
            forgotten.map_or("", |field| field.key)
        );
    }

    /// Notes that a key was asked for, and proves that it is described that way.
    fn ask(&self, key: &'static str, described: impl Fn(&Kind) -> bool) -> Kind {
        let Some(field) = self.shape.field(key) else {
            unreachable!(
                "the decoder of {} asks for `{key}`, which is not described",
                self.shape.name
            )
        };
        debug_assert!(
            described(&field.kind),
            "the decoder of {} reads `{key}` as something else than described",
            self.shape.name
        );
        self.asked.borrow_mut().push(field.key);
        field.kind
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries?.iter().find(|entry| entry.key.value == key)
    }

    /// The items of a list, none if it is not there; `None` if it cannot be read.
    fn items(&self, key: &str) -> Option<&'a [Node]> {
        let Some(entry) = self.entry(key) else {
            return (!self.is_meant(key)).then_some(&[]);
        };
        if let Content::List(items) = &entry.value.content {
            return Some(items);
        }
        self.refuse(key, entry);
        None
    }

    fn entries_of(&self, key: &str) -> &'a [Entry] {
        let Some(entry) = self.entry(key) else {
            return &[];
        };
        entry.value.entries().unwrap_or_else(|| {
            self.refuse(key, entry);
            &[]
        })
    }

    fn refuse(&self, key: &str, entry: &Entry) {
        let Some(field) = self.shape.field(key) else {
            return;
        };
        let problem = wrong_kind(&entry.value, entry.key.span, field.kind.expected());
        self.problems.push(match (field.kind, &entry.value.content) {
            (Kind::Scalars(_), Content::Scalar(scalar)) if !entry.value.is_null() => {
                problem.label(format!("put it in brackets: `[{}]`", shortened(&scalar.text)))
            }
            _ => problem,
        });
    }

    fn key<K: Scalar>(&self, key: &Spanned<String>) -> Spanned<K> {
        match K::read(&key.value) {
            Ok(value) => Spanned::new(value, key.span),
            Err(complaint) => self.stand_in(bad_value(&key.value, key.span, K::FORMAT, complaint)),
        }
    }

    fn scalar<T: Scalar>(&self, node: &Node, key: Span) -> Spanned<T> {
        let Content::Scalar(scalar) = &node.content else {
            return self.stand_in(wrong_kind(node, key, T::FORMAT.expected()));
        };
        if scalar.kind == ScalarKind::Null {
            return self.stand_in(wrong_kind(node, key, T::FORMAT.expected()));
        }
        let read = T::read(&scalar.text);
        if let Some(problem) = wrong_json_type(scalar, node.span, T::FORMAT, read.is_ok()) {
            return self.stand_in(problem);
        }
        match read {
            Ok(value) => Spanned::new(value, node.span),
            Err(complaint) => {
                self.stand_in(bad_value(&scalar.text, node.span, T::FORMAT, complaint))
            }
        }
    }

    fn stand_in<T: Scalar>(&self, problem: Problem) -> Spanned<T> {
        self.problems.push(problem);
        unreadable()
    }

    fn check_keys(&self) {
        let Some(entries) = self.entries else { return };
        let unknown = entries.iter().filter(|entry| self.shape.field(&entry.key.value).is_none());
        for entry in unknown.take_while(|_| !self.problems.is_full()) {
            self.problems.push(self.unknown_key(&entry.key));
        }
        for entry in entries {
            self.check_supported(entry);
        }
        match self.shape.pick {
            Pick::Any => self.check_missing(entries),
            Pick::One => self.check_choice(entries),
        }
    }

    fn check_supported(&self, entry: &Entry) {
        let field = self.shape.field(&entry.key.value);
        let Some(not_yet) = field.and_then(|field| field.not_yet) else { return };
        let what = match not_yet.feature {
            Some(feature) => feature.to_owned(),
            None => format!("`{}`", entry.key.value),
        };
        let problem = Problem::error(
            Rule::NotSupported,
            entry.key.span,
            format!("{what} is not supported yet"),
        );
        let whole = Span { start: entry.key.span.start, end: entry.value.span.end };
        self.problems.refuse(problem.label(not_yet.instead), whole, not_yet.feature);
    }

    /// A misspelt key is also a missing one; only the first is worth a message.
    fn check_missing(&self, entries: &[Entry]) {
        let set = |field: &Field| entries.iter().any(|entry| entry.key.value == field.key);
        let missing = |field: &&Field| field.required && !set(field) && !self.is_meant(field.key);
        let missing: Vec<&Field> = self.shape.fields().filter(missing).collect();
        match missing.as_slice() {
            [] => {}
            [field] => self.problems.push(self.missing_key(field)),
            fields => self.problems.push(self.missing_keys(fields)),
        }
    }

    fn check_choice(&self, entries: &[Entry]) {
        let known = |entry: &&Entry| self.shape.field(&entry.key.value).is_some();
        let mut chosen = entries.iter().filter(known);
        match (chosen.next(), chosen.next()) {
            (None, _) if entries.is_empty() => self.problems.push(
                Problem::error(Rule::MissingKey, self.at, format!("{} is empty", self.name))
                    .label(format!("expected {}", one_of(&self.usable()))),
            ),
            (Some(first), Some(second)) => self.problems.push(
                Problem::error(
                    Rule::ExclusiveKeys,
                    second.key.span,
                    format!("{} has more than one choice", self.name),
                )
                .label(format!("use either `{}` or `{}`", first.key.value, second.key.value))
                .related(first.key.span, "the first choice"),
            ),
            _ => {}
        }
    }

    /// Whether a key that is not there was meant: it is misspelt, or the mapping cannot be read.
    ///
    /// It is then taken for one that cannot be read, so that nothing is said to be missing.
    fn is_meant(&self, key: &str) -> bool {
        self.entries.is_none() || self.meant.contains(&key)
    }

    fn unknown_key(&self, key: &Spanned<String>) -> Problem {
        let problem = Problem::error(
            Rule::UnknownKey,
            key.span,
            format!("unknown key `{}`", shortened(&key.value)),
        );
        let problem = match nearest(&key.value, self.keys()) {
            Some(meant) => problem.label(format!("did you mean `{meant}`?")),
            None if self.name.is_empty() => {
                problem.label(format!("a cluster file has {}", self.all_keys()))
            }
            None => problem.label(format!("{} has {}", self.name, self.all_keys())),
        };
        if names_a_secret(&key.value) {
            return problem
                .note("secrets come from the environment or a file, never from the cluster file");
        }
        problem
    }

    fn missing_key(&self, field: &Field) -> Problem {
        let example = match &field.kind {
            Kind::Scalar(format) => format.suggestion(),
            _ => String::new(),
        };
        Problem::error(
            Rule::MissingKey,
            self.at,
            format!("missing key `{}`{}", field.key, self.inside()),
        )
        .label(format!("`{}` is needed here{example}", field.key))
    }

    fn missing_keys(&self, fields: &[&Field]) -> Problem {
        let keys: Vec<&str> = fields.iter().map(|field| field.key).collect();
        let list = one_of(&keys).replace(" or ", " and ");
        Problem::error(Rule::MissingKey, self.at, format!("missing keys {list}{}", self.inside()))
            .label("they are needed here")
    }

    /// Where the mapping is, for the end of a message.
    fn inside(&self) -> String {
        match self.name.as_str() {
            "" => String::new(),
            name => format!(" in {name}"),
        }
    }

    /// All keys: one that is refused for now can be misspelt too.
    fn keys(&self) -> Vec<&'static str> {
        self.shape.fields().map(|field| field.key).collect()
    }

    /// The keys that can be used, for messages.
    fn all_keys(&self) -> String {
        one_of(&self.usable()).replace(" or ", " and ")
    }

    fn usable(&self) -> Vec<&'static str> {
        self.shape.usable().map(|field| field.key).collect()
    }
}

/// The keys that the unknown keys of a mapping probably mean.
fn meant_keys(shape: &Shape, entries: &[Entry]) -> Vec<&'static str> {
    let unknown = entries.iter().filter(|entry| shape.field(&entry.key.value).is_none());
    let meant = unknown
        .filter_map(|entry| nearest(&entry.key.value, shape.fields().map(|field| field.key)));
    let keys: BTreeSet<&str> = meant.collect();
    keys.into_iter().collect()
}

/// What takes the place of a scalar that could not be read.
fn unreadable<T: Scalar>() -> Spanned<T> {
    Spanned::new(T::stand_in(), Span::NOWHERE)
}

struct Place {
    at: Span,
    name: String,
}

impl Place {
    /// What a mapping looks like that takes the defaults where it can.
    fn example(&self, shape: &Shape) -> String {
        let needed = shape.fields().filter(|field| field.required);
        let chosen = shape.usable().filter(|_| shape.pick == Pick::One).take(1);
        let keys: Vec<String> =
            needed.chain(chosen).map(|field| format!("{}: …", field.key)).collect();
        let mapping = match keys.as_slice() {
            [] => "{}".to_owned(),
            keys => format!("{{ {} }}", keys.join(", ")),
        };
        match self.name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
            Some(key) => format!("{key}: {mapping}"),
            None if self.name.is_empty() => keys.first().cloned().unwrap_or_default(),
            None => format!("- {mapping}"),
        }
    }
}
