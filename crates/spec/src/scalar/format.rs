//! How scalars are read and described.

use crate::read::nearest;

/// A value that is written as one YAML scalar.
pub(crate) trait Scalar: Sized {
    /// What it looks like.
    const FORMAT: Format;

    /// Reads it from its text.
    fn read(text: &str) -> Result<Self, Complaint>;

    /// A harmless value that takes the place of one that could not be read.
    ///
    /// It never leaves the crate: a file with an error gives no cluster.
    fn stand_in() -> Self;
}

/// What a scalar looks like, for messages and for the JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Format {
    /// The name with its article: "a duration".
    pub(crate) name: &'static str,
    /// Examples, in backticks: "`10m` or `1h30m`".
    pub(crate) example: &'static str,
    /// The form in JSON.
    pub(crate) json: Json,
}

/// The form of a scalar in JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Json {
    /// Text that matches a pattern.
    Text { pattern: &'static str },
    /// One of some words.
    Words(&'static [&'static str]),
    /// A whole number within bounds.
    Integer { min: u32, max: u32 },
    /// A number that is at least zero.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// Why a text is not what its format says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complaint {
    /// What is wrong; by default "`text` is not a duration".
    pub(crate) message: Option<String>,
    /// What the caret says.
    pub(crate) label: String,
    /// Why it matters.
    pub(crate) notes: Vec<String>,
}

/// A choice between a few words.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// What is chosen: "encryption".
    const WHAT: &'static str;
    /// All choices.
    const ALL: &'static [Self];
    /// Their words, in the same order; the first is the stand-in.
    const WORDS: &'static [&'static str];

    /// The word as it is written.
    fn word(self) -> &'static str {
        let index = Self::ALL.iter().position(|choice| *choice == self);
        index.map_or("", |index| Self::WORDS[index])
    }
}

/// Gives newtypes of text their accessor and `Display`.
macro_rules! text_of {
    ($($name:ident),*) => {$(
        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}
pub(super) use text_of;

impl Format {
    /// Says what was expected, for a caret.
    pub(crate) fn expected(&self) -> String {
        match (self.json, self.example) {
            (Json::Words(words), _) => format!("expected {}", one_of(words)),
            (_, "") => format!("expected {}", self.name),
            (_, example) => format!("expected {}, such as {example}", self.name),
        }
    }

    /// What could be written, as the end of a sentence; empty if there is too much to choose from.
    pub(crate) fn suggestion(&self) -> String {
        match (self.json, self.example) {
            (Json::Words(words @ ([_] | [_, _] | [_, _, _])), _) => format!(": {}", one_of(words)),
            (_, "") => String::new(),
            (_, example) => format!(", such as {example}"),
        }
    }
}

impl Complaint {
    /// A complaint with a message of its own.
    pub(crate) fn new(message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { message: Some(message.into()), label: label.into(), notes: Vec::new() }
    }

    /// A complaint with the usual message.
    pub(crate) fn label(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Adds a reason.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl<T: Word> Scalar for T {
    const FORMAT: Format = Format { name: T::WHAT, example: "", json: Json::Words(T::WORDS) };

    fn read(text: &str) -> Result<Self, Complaint> {
        if let Some(index) = T::WORDS.iter().position(|word| *word == text) {
            return Ok(T::ALL[index]);
        }
        let label = match nearest(text, T::WORDS.iter().copied()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("expected {}", one_of(T::WORDS)),
        };
        Err(Complaint::new(format!("unknown {} `{}`", T::WHAT, shortened(text)), label))
    }

    fn stand_in() -> Self {
        T::ALL[0]
    }
}

impl Scalar for bool {
    const FORMAT: Format = Format { name: "a boolean", example: "", json: Json::Boolean };

    fn read(text: &str) -> Result<Self, Complaint> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Complaint::label("expected `true` or `false`")),
        }
    }

    fn stand_in() -> Self {
        false
    }
}

/// Words as a list to choose from: "`a`, `b` or `c`".
pub(crate) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A text short enough to be quoted in a message.
pub(crate) fn shortened(text: &str) -> String {
    const KEPT: usize = 48;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= KEPT && line.len() == text.trim_end().len() {
        return line.to_owned();
    }
    line.chars().take(KEPT).chain(['…']).collect()
}
