//! What is wrong with text that is not YAML, in words that help.
//!
//! The parser knows where it gave up, which is often a line behind the mistake,
//! and says so in words of its grammar. The lines around that place mostly show
//! what was meant.

use granit_parser::{ErrorKind, ScanError};

use super::parse::MAX_DEPTH;
use super::problem::Problem;
use super::source::{Source, Span};
use crate::rules::Rule;
use crate::scalar::shortened;

/// Where the parser gave up, with the lines that matter.
struct Failure<'a> {
    text: &'a str,
    at: usize,
    kind: &'a ErrorKind,
    line: Line<'a>,
    /// The last line before it that says something.
    before: Option<Line<'a>>,
}

/// A line and where it starts.
#[derive(Clone, Copy)]
struct Line<'a> {
    start: usize,
    text: &'a str,
}

/// Says what is wrong where the parser gave up.
pub(super) fn syntax_problem(source: &Source, error: &ScanError) -> Problem {
    let text = source.text();
    let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
    // What is missing at the end of the file is shown at its last character.
    let last = text.trim_end().char_indices().next_back().map_or(0, |(index, _)| index);
    let at = at.min(last);
    let failure = Failure {
        text,
        at,
        kind: error.kind(),
        line: Line::at(text, at),
        before: Line::at(text, at).before(text),
    };
    failure
        .too_deep()
        .or_else(|| failure.tab())
        .or_else(|| failure.unclosed_quote())
        .or_else(|| failure.unclosed_bracket())
        .or_else(|| failure.missing_space())
        .or_else(|| failure.second_colon())
        .or_else(|| failure.missing_colon())
        .or_else(|| failure.stray_bracket())
        .or_else(|| failure.reserved_character())
        .or_else(|| failure.indentation())
        .unwrap_or_else(|| failure.problem(at, "the file is not valid YAML", error.kind()))
}

impl Failure<'_> {
    fn too_deep(&self) -> Option<Problem> {
        matches!(self.kind, ErrorKind::RecursionLimitExceeded).then(|| {
            Problem::error(Rule::TooDeep, self.one(self.at), "the file nests too deeply")
                .label(format!("this is level {}", MAX_DEPTH + 1))
        })
    }

    /// The parser meets a tab at the end of the line before it.
    fn tab(&self) -> Option<Problem> {
        let lines = [Some(self.line), self.line.after(self.text)];
        let tab = lines
            .into_iter()
            .flatten()
            .find_map(|line| line.indentation().find('\t').map(|column| line.start + column))?;
        Some(self.problem(tab, "a tab cannot indent YAML", "use spaces"))
    }

    fn unclosed_quote(&self) -> Option<Problem> {
        let quote = Openings::in_text(&self.text[..self.at]).quote?;
        let mark = &self.text[quote..=quote];
        let message = format!("a quoted value has no closing {mark}");
        let label = format!("a second {mark} is missing");
        Some(self.problem(quote, message, label))
    }

    fn unclosed_bracket(&self) -> Option<Problem> {
        let open_at_end = Openings::in_text(self.text).brackets;
        let bracket = *open_at_end.iter().rev().find(|bracket| **bracket <= self.at)?;
        let open = &self.text[bracket..=bracket];
        let close = if open == "[" { "]" } else { "}" };
        let message = format!("`{open}` is never closed");
        Some(self.problem(bracket, message, format!("`{close}` is missing")))
    }

    /// `key:value` and `-value` are words to YAML, not a key or an entry.
    fn missing_space(&self) -> Option<Problem> {
        let lines = [Some(self.line), self.before];
        lines.into_iter().flatten().find_map(|line| {
            let (start, words) = line.entry();
            if let Some(entry) = words.strip_prefix('-').filter(|it| it.starts_with(is_word)) {
                let label = format!("write `- {}`", shortened(entry));
                return Some(self.problem(start, "a space is missing behind `-`", label));
            }
            let (key, value) = words.split_once(':')?;
            let is_key =
                key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(is_word);
            let is_glued = value.starts_with(|c: char| !c.is_whitespace() && c != '/');
            (is_key && is_glued && !value.contains(": ")).then(|| {
                let label = format!("write `{key}: {}`", shortened(value));
                self.problem(start + key.len(), "a space is missing behind the colon", label)
            })
        })
    }

    /// `key: value: more`, where the second colon stopped the parser.
    fn second_colon(&self) -> Option<Problem> {
        let (start, words) = self.line.entry();
        let (key, value) = words.split_once(": ")?;
        let is_second = self.text[self.at..].starts_with(':') && self.at > start + key.len();
        let is_flow = value.trim_start().starts_with(['[', '{']);
        (is_second && !is_flow).then(|| {
            let label = "put the value in quotes if the colon belongs to it";
            self.problem(self.at, "a value cannot hold a colon and a space", label)
        })
    }

    /// A word alone, where the parser stopped or on the line before its next key.
    fn missing_colon(&self) -> Option<Problem> {
        let is_word_alone = |line: &Line<'_>| {
            let words = line.entry().1;
            !words.is_empty() && words.chars().all(is_word)
        };
        let here = Some(self.line).filter(|line| line.entry().0 == self.at);
        let neighbour = |line: &Line<'_>| line.indentation() == self.line.indentation();
        let before =
            self.before.filter(neighbour).filter(|_| self.text[self.at..].starts_with(':'));
        let line = here.filter(is_word_alone).or(before.filter(is_word_alone))?;
        let (start, words) = line.entry();
        let label = format!("expected `{}:`", shortened(words));
        Some(self.problem(start, "a colon is missing behind the key", label))
    }

    fn stray_bracket(&self) -> Option<Problem> {
        matches!(self.kind, ErrorKind::MisplacedFlowCollectionEnd).then(|| {
            self.problem(self.at, "this bracket closes nothing", "remove it, or open it before")
        })
    }

    fn reserved_character(&self) -> Option<Problem> {
        let ErrorKind::UnexpectedCharacter { character } = self.kind else {
            return None;
        };
        let message = format!("a value cannot start with `{character}`");
        Some(self.problem(self.at, message, "put the value in quotes"))
    }

    /// A line that starts between the columns of its neighbours.
    fn indentation(&self) -> Option<Problem> {
        let before = self.before?;
        let (width, expected) = (self.line.indentation().len(), before.indentation().len());
        let is_first = self.line.text[..self.at - self.line.start].trim().len();
        let key_ends_here = self.line.text.trim_start().find(':') == Some(is_first);
        if width == expected || (is_first > 0 && !key_ends_here) {
            return None;
        }
        let label =
            format!("this line starts with {}, the one before with {expected}", spaces(width));
        let problem = self.problem(
            self.line.start + width,
            "the indentation does not fit the lines before",
            label,
        );
        Some(problem.help("the keys of one mapping start in the same column"))
    }

    fn problem(
        &self,
        at: usize,
        message: impl Into<String>,
        label: impl std::fmt::Display,
    ) -> Problem {
        Problem::error(Rule::Syntax, self.one(at), message).label(label.to_string())
    }

    /// The place of one character.
    fn one(&self, start: usize) -> Span {
        let width = self.text[start..].chars().next().map_or(0, char::len_utf8);
        Span { start, end: start + width }
    }
}

impl<'a> Line<'a> {
    fn at(text: &'a str, offset: usize) -> Self {
        let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |newline| offset + newline);
        Self { start, text: &text[start..end] }
    }

    fn before(self, text: &'a str) -> Option<Self> {
        let mut line = self;
        while line.start > 0 {
            line = Self::at(text, line.start - 1);
            if !line.entry().1.is_empty() {
                return Some(line);
            }
        }
        None
    }

    fn after(self, text: &'a str) -> Option<Self> {
        let start = self.start + self.text.len() + 1;
        (start < text.len()).then(|| Self::at(text, start))
    }

    fn indentation(self) -> &'a str {
        let rest = self.text.trim_start_matches([' ', '\t']);
        &self.text[..self.text.len() - rest.len()]
    }

    /// The words without indentation, `- ` and comment, and where they start.
    fn entry(self) -> (usize, &'a str) {
        let indented = self.text.trim_start();
        let words = indented.strip_prefix("- ").map_or(indented, str::trim_start);
        let start = self.start + self.text.len() - words.len();
        let comment = if words.starts_with('#') { Some(0) } else { words.find(" #") };
        (start, words[..comment.unwrap_or(words.len())].trim_end())
    }
}

/// What was opened and not closed.
#[derive(Default)]
struct Openings {
    brackets: Vec<usize>,
    quote: Option<usize>,
}

impl Openings {
    fn in_text(text: &str) -> Self {
        let mut open = Self::default();
        let mut characters = text.char_indices();
        // The last character of the line that is no space: what comes behind it may be a value.
        let mut last = None;
        while let Some((index, character)) = characters.next() {
            match (open.quote, character) {
                (Some(quote), _) => {
                    if character == '\\' && text[quote..].starts_with('"') {
                        characters.next();
                    } else if text[quote..].starts_with(character) {
                        open.quote = None;
                    }
                    continue;
                }
                (None, '#') if index == 0 || text[..index].ends_with([' ', '\t', '\n']) => {
                    characters.by_ref().find(|(_, character)| *character == '\n');
                    last = None;
                    continue;
                }
                (None, '"' | '\'') if starts_value(last) => open.quote = Some(index),
                (None, '[' | '{') if starts_value(last) => open.brackets.push(index),
                (None, ']' | '}') => open.close(text, character),
                _ => {}
            }
            last =
                if character.is_whitespace() && character != '\n' { last } else { Some(character) };
        }
        open
    }

    fn close(&mut self, text: &str, close: char) {
        let open = if close == ']' { '[' } else { '{' };
        if self.brackets.last().is_some_and(|bracket| text[*bracket..].starts_with(open)) {
            self.brackets.pop();
        }
    }
}

fn starts_value(last: Option<char>) -> bool {
    last.is_none_or(|last| "\n:-,[{".contains(last))
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_.".contains(character)
}

fn spaces(count: usize) -> String {
    if count == 1 { "1 space".to_owned() } else { format!("{count} spaces") }
}
