//! Paths from their own text.

use std::str::FromStr;

use serde_json::Value;

use super::step::is_plain;
use super::{Atom, FieldPath, Key, NotAPath, Step};

impl FromStr for FieldPath {
    type Err = NotAPath;

    /// Reads what [`Display`](std::fmt::Display) writes; a dot may stand in front.
    fn from_str(text: &str) -> Result<Self, NotAPath> {
        let mut reader = Reader { text, at: 0 };
        let mut steps = Vec::new();
        if text == "." {
            return Ok(Self::default());
        }
        while let Some(next) = reader.rest().chars().next() {
            steps.push(match next {
                '[' => reader.bracket()?,
                '.' => reader.skip(1).name()?,
                _ if steps.is_empty() => reader.name()?,
                _ => return Err(reader.expected("`.` or `[`")),
            });
        }
        Ok(steps.into_iter().collect())
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, bytes: usize) -> &mut Self {
        self.at += bytes;
        self
    }

    fn expected(&self, expected: &'static str) -> NotAPath {
        let column = self.text[..self.at].chars().count() + 1;
        NotAPath { text: self.text.to_owned(), column, expected }
    }

    fn name(&mut self) -> Result<Step, NotAPath> {
        let name = self.word();
        if !is_plain(name) {
            return Err(self.expected("the name of a field"));
        }
        self.skip(name.len());
        Ok(Step::field(name))
    }

    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(['.', '[', ']', '=', ',', '"']).unwrap_or(rest.len());
        &rest[..end]
    }

    /// `["a.b"]`, `[0]`, `[="x"]`, `[name="app"]`.
    fn bracket(&mut self) -> Result<Step, NotAPath> {
        self.skip(1);
        let step = if self.rest().starts_with('=') {
            Step::Value(Atom::from(&self.skip(1).json()?))
        } else if let Ok(index) = self.word().parse() {
            self.skip(self.word().len());
            Step::Index(index)
        } else {
            self.name_or_key()?
        };
        self.close(step)
    }

    fn close(&mut self, step: Step) -> Result<Step, NotAPath> {
        if !self.rest().starts_with(']') {
            return Err(self.expected("`]`"));
        }
        self.skip(1);
        Ok(step)
    }

    fn name_or_key(&mut self) -> Result<Step, NotAPath> {
        let quoted = self.rest().starts_with('"');
        let name = self.key_name()?;
        if quoted && self.rest().starts_with(']') {
            return Ok(Step::Field(name));
        }
        let mut pairs = vec![(name, self.key_value()?)];
        while self.rest().starts_with(',') {
            let name = self.skip(1).key_name()?;
            pairs.push((name, self.key_value()?));
        }
        Key::new(pairs).map(Step::Item).ok_or_else(|| self.expected("each key once"))
    }

    fn key_name(&mut self) -> Result<Box<str>, NotAPath> {
        if !self.rest().starts_with('"') {
            let name = self.word();
            return self.name().map(|_| name.into());
        }
        match self.json()? {
            Value::String(name) => Ok(name.into()),
            _ => Err(self.expected("a name in quotes")),
        }
    }

    fn key_value(&mut self) -> Result<Atom, NotAPath> {
        if !self.rest().starts_with('=') {
            return Err(self.expected("`=`"));
        }
        Ok(Atom::from(&self.skip(1).json()?))
    }

    fn json(&mut self) -> Result<Value, NotAPath> {
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
        let value = values.next().and_then(Result::ok);
        let read = values.byte_offset();
        let value = value.ok_or_else(|| self.expected("a JSON value"))?;
        self.skip(read);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_back_from_their_text() {
        let texts = [
            ".",
            "spec.replicas",
            r#"data["nginx.conf"]"#,
            r#"metadata.labels["app.kubernetes.io/name"]"#,
            r#"spec.template.spec.containers[name="app"].image"#,
            r#"spec.ports[port=80,protocol="TCP"].targetPort"#,
            r#"metadata.finalizers[="example.com/stay"]"#,
            "spec.values[=1.5]",
            r#"spec.items["a b"=true].x"#,
            "spec.args[0]",
            r#"["a.b"].c"#,
            r#"data["quo\"te"]"#,
            r#"data["0"]"#,
        ];
        for text in texts {
            assert_eq!(text.parse::<FieldPath>().unwrap().to_string(), text);
        }
        assert_eq!(".spec.x".parse(), Ok(FieldPath::of_fields(["spec", "x"])));
        assert_eq!("".parse(), Ok(FieldPath::default()));
    }

    #[test]
    fn what_is_no_path_is_shown_where_it_breaks() {
        let cases = [
            ("a..b", 3, "the name of a field"),
            ("a[", 3, "the name of a field"),
            ("a[0", 4, "`]`"),
            ("a[name]", 7, "`=`"),
            ("a[name=x]", 8, "a JSON value"),
            ("a[x=1,x=2]", 10, "each key once"),
            ("a[0]b", 5, "`.` or `[`"),
            ("a b", 1, "the name of a field"),
        ];
        for (text, column, expected) in cases {
            let error = text.parse::<FieldPath>().unwrap_err();
            assert_eq!((error.column, error.expected), (column, expected), "{text}");
        }
        let error = "a[".parse::<FieldPath>().unwrap_err().to_string();
        assert_eq!(error, "`a[` is not a field path: expected the name of a field at column 3");
    }
}
