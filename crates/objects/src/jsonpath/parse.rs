//! Reading a path.

use std::str::FromStr;

use super::{Comparison, Filter, JsonPath, Literal, PathError, PathProblem, Step};

/// Where the reader stands.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Read<T> = Result<T, (usize, PathProblem)>;

impl FromStr for JsonPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let (path, rest) = Self::prefix(text)?;
        match rest.chars().next() {
            None => Ok(path),
            Some(other) => {
                let (at, problem) = (text.len() - rest.len(), PathProblem::Unexpected(other));
                Err(PathError { text: text.to_owned(), at, problem })
            }
        }
    }
}

impl JsonPath {
    /// Reads the path that a text begins with, and returns what follows it.
    pub(crate) fn prefix(text: &str) -> Result<(Self, &str), PathError> {
        let mut reader = Reader { text, at: 0 };
        match reader.path() {
            Ok(steps) => {
                let path = Self { text: text[..reader.at].to_owned(), steps };
                Ok((path, &text[reader.at..]))
            }
            Err((at, problem)) => Err(PathError { text: text.to_owned(), at, problem }),
        }
    }
}

impl Reader<'_> {
    fn path(&mut self) -> Read<Vec<Step>> {
        let braces = self.takes('{');
        self.takes('$');
        let mut steps = Vec::new();
        // The dot before the first key may be left out.
        if self.peek().is_some_and(is_of_a_key) {
            steps.push(Step::Key(self.key()?));
        }
        self.steps(&mut steps)?;
        if braces && !self.takes('}') {
            return Err(self.wrong(match self.peek() {
                Some(other) => PathProblem::Unexpected(other),
                None => PathProblem::Unclosed('{'),
            }));
        }
        if steps.is_empty() { Err(self.wrong(PathProblem::Empty)) } else { Ok(steps) }
    }

    fn steps(&mut self, steps: &mut Vec<Step>) -> Read<()> {
        loop {
            if self.takes('.') {
                match self.peek() {
                    Some('.') => return Err(self.wrong(PathProblem::Recursion)),
                    // As in `.items.[0]`, which kubectl takes.
                    Some('[') => {}
                    Some('*') => {
                        self.takes('*');
                        steps.push(Step::Every);
                    }
                    _ => steps.push(Step::Key(self.key()?)),
                }
            } else if self.takes('[') {
                steps.push(self.bracket()?);
            } else {
                return Ok(());
            }
        }
    }

    fn bracket(&mut self) -> Read<Step> {
        let start = self.at - 1;
        let step = match self.peek() {
            Some('*') => {
                self.takes('*');
                Step::Every
            }
            Some('?') => Step::Where(self.filter()?),
            Some('\'' | '"') => Step::Key(self.quoted()?),
            Some('-' | '0'..='9') => Step::Index(self.index()?),
            Some(other) if is_of_a_key(other) => Step::Where(self.short_filter()?),
            Some(_) => return Err(self.wrong(PathProblem::NoStep)),
            None => return Err((start, PathProblem::Unclosed('['))),
        };
        match self.peek() {
            Some(']') => {
                self.takes(']');
                Ok(step)
            }
            Some(',' | ':') => Err(self.wrong(PathProblem::ManyIndices)),
            Some(other) => Err(self.wrong(PathProblem::Unexpected(other))),
            None => Err((start, PathProblem::Unclosed('['))),
        }
    }

    /// `?(@.type=="Ready")`.
    fn filter(&mut self) -> Read<Filter> {
        let begins = self.takes('?') && self.takes('(') && self.skips_spaces() && self.takes('@');
        if !begins {
            return Err(self.wrong(PathProblem::NoFilter));
        }
        let mut path = Vec::new();
        self.steps(&mut path)?;
        self.skips_spaces();
        let test = match self.comparison() {
            Some(comparison) => {
                self.skips_spaces();
                Some((comparison, self.literal()?))
            }
            None => None,
        };
        self.skips_spaces();
        if self.takes(')') {
            Ok(Filter { path, test })
        } else {
            Err(self.wrong(PathProblem::Unclosed('(')))
        }
    }

    /// `name="app"`, the way field paths of the API are written.
    fn short_filter(&mut self) -> Read<Filter> {
        let path = vec![Step::Key(self.key()?)];
        match self.comparison() {
            Some(Comparison::Equal) => {
                Ok(Filter { path, test: Some((Comparison::Equal, self.literal()?)) })
            }
            _ => Err(self.wrong(PathProblem::NoFilter)),
        }
    }

    fn comparison(&mut self) -> Option<Comparison> {
        // The longer ones first.
        let table = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("=", Comparison::Equal),
            ("<", Comparison::Below),
            (">", Comparison::Above),
        ];
        let (sign, comparison) = table.iter().find(|(sign, _)| self.rest().starts_with(sign))?;
        self.at += sign.len();
        Some(*comparison)
    }

    fn literal(&mut self) -> Read<Literal> {
        if let Some('\'' | '"') = self.peek() {
            return Ok(Literal::Text(self.quoted()?));
        }
        let start = self.at;
        let word = self.take_while(|c| !matches!(c, ')' | ']' | ' '));
        match word {
            "true" => Ok(Literal::Truth(true)),
            "false" => Ok(Literal::Truth(false)),
            _ => match word.parse() {
                Ok(number) => Ok(Literal::Number(number)),
                Err(_) => Err((start, PathProblem::NoFilter)),
            },
        }
    }

    fn index(&mut self) -> Read<i64> {
        let start = self.at;
        let digits = self.take_while(|c| c == '-' || c.is_ascii_digit());
        digits.parse().map_err(|_| (start, PathProblem::NoStep))
    }

    fn quoted(&mut self) -> Read<String> {
        let start = self.at;
        let Some(quote @ ('\'' | '"')) = self.next() else {
            return Err((start, PathProblem::NoStep));
        };
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err((start, PathProblem::Unclosed(quote))),
                Some(end) if end == quote => return Ok(text),
                Some('\\') => text.extend(self.next()),
                Some(other) => text.push(other),
            }
        }
    }

    /// A key without quotes; a backslash takes the next character as it is.
    fn key(&mut self) -> Read<String> {
        let mut key = String::new();
        while let Some(next) = self.peek().filter(|c| is_of_a_key(*c)) {
            self.next();
            if next == '\\' { key.extend(self.next()) } else { key.push(next) }
        }
        if key.is_empty() { Err(self.wrong(PathProblem::NoStep)) } else { Ok(key) }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn takes(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
        &self.text[start..self.at]
    }

    fn skips_spaces(&mut self) -> bool {
        self.take_while(|c| c == ' ');
        true
    }

    fn wrong(&self, problem: PathProblem) -> (usize, PathProblem) {
        (self.at, problem)
    }
}

fn is_of_a_key(c: char) -> bool {
    !c.is_whitespace() && !".[]{}()=<>~!'\"*?@$,:".contains(c)
}
