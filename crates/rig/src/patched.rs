//! A module that is built in with changes of ours, where the module proxy has
//! no version that fits.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

/// What `patched.json` in a wrapper module says. The module's go.mod takes the
/// changed module from a folder below itself; the folder in the repository
/// holds the files that we add, and the module's own are laid beside them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patched {
    /// The Go module.
    pub(crate) module: String,
    /// Its version.
    pub(crate) version: String,
    /// The folder below the wrapper module.
    pub(crate) folder: String,
    /// The file of the module that gets more lines.
    file: String,
    /// Pairs of a line of the file and the line that is put after it.
    after: Vec<(String, String)>,
}

impl Patched {
    /// Reads what a wrapper module changes; most change nothing.
    pub(crate) fn of(wrapper: &Path) -> io::Result<Option<Self>> {
        match fs::read(wrapper.join("patched.json")) {
            Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds the lines to the file, in a copy of the wrapper module.
    pub(crate) fn apply(&self, copy: &Path) -> io::Result<()> {
        let path = copy.join(&self.folder).join(&self.file);
        let mut text = fs::read_to_string(&path)?;
        for (line, added) in &self.after {
            text = put_after(&text, line, added).ok_or_else(|| {
                let said = format!("{} has no line `{}`", path.display(), line.trim());
                io::Error::new(io::ErrorKind::InvalidData, said)
            })?;
        }
        fs::write(path, text)
    }
}

fn put_after(text: &str, line: &str, added: &str) -> Option<String> {
    let whole = format!("\n{line}\n");
    let end = text.find(&whole)? + whole.len();
    Some(format!("{}{added}\n{}", &text[..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_put_after_another() {
        let text = "struct {\n\tA int\n}\n";
        let put = put_after(text, "\tA int", "\tB int");
        assert_eq!(put.as_deref(), Some("struct {\n\tA int\n\tB int\n}\n"));
        assert_eq!(put_after(text, "\tA", "\tB int"), None);
    }
}
