//! Just enough XML to write.

/// An element with its attributes, and children or text.
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(String, String)>,
    children: Vec<Self>,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Attribute,
    Content,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), children: Vec::new(), text: String::new() }
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    /// Returns the element as indented lines.
    pub(super) fn render(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let mut page = format!("{indent}<{}", self.name);
        for (name, value) in &self.attributes {
            page.extend([" ", name, "=\"", &escape(value, Place::Attribute), "\""]);
        }
        if self.children.is_empty() && self.text.is_empty() {
            return page + "/>\n";
        }
        page.push('>');
        page.push_str(&escape(&self.text, Place::Content));
        if !self.children.is_empty() {
            page.push('\n');
            page.extend(self.children.iter().map(|child| child.render(depth + 1)));
            page.push_str(&indent);
        }
        page + "</" + self.name + ">\n"
    }
}

/// Escapes what XML reads as markup, and drops what it forbids even escaped.
fn escape(text: &str, place: Place) -> String {
    let mut escaped = String::with_capacity(text.len());
    for symbol in text.chars().filter(|symbol| allowed(*symbol)) {
        match symbol {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // A reader turns a raw line break in an attribute into a blank.
            '\n' if place == Place::Attribute => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' if place == Place::Attribute => escaped.push_str("&#9;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The characters of XML 1.0.
fn allowed(symbol: char) -> bool {
    matches!(symbol,
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_survives_as_attribute_and_content(text: String) {
            let page = Element::new("a").with("b", &text).text(&text).render(0);
            let parsed = roxmltree::Document::parse(&page).unwrap();
            let kept: String = text.chars().filter(|symbol| allowed(*symbol)).collect();
            prop_assert_eq!(parsed.root_element().attribute("b").unwrap(), &kept);
            prop_assert_eq!(parsed.root_element().text().unwrap_or(""), &kept);
        }
    }
}
