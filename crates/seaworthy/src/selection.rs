//! Which objects a command is about: by name, by kind and labels, or by files.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use objects::{
    ApiError, Cluster, KindNameError, ObjectId, Resource, Scope, Subject, Trouble, check_selector,
};

use crate::command_error::CommandError;
use crate::commands::apply::files;
use crate::exit::Exit;
use crate::reading::Reader;
use crate::running::Signals;

/// Objects by name, by kind and labels, or by files; any of them together.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Objects")]
pub(crate) struct SelectionArgs {
    /// KIND/NAME, or KIND NAME...; with --selector or --all, kinds alone
    #[arg(value_name = "KIND/NAME")]
    named: Vec<String>,

    /// Every object of these kinds that has these labels, such as app=web
    #[arg(short = 'l', long, value_name = "LABELS", conflicts_with = "all")]
    selector: Option<String>,

    /// Every object of these kinds
    #[arg(long)]
    all: bool,

    /// In all namespaces, with --selector or --all
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,

    /// The objects of a manifest, of a folder of manifests, or of `-` for stdin
    #[arg(short, long = "filename", value_name = "FILE")]
    filename: Vec<PathBuf>,

    /// Read the folders inside of folders too
    #[arg(short = 'R', long, requires = "filename")]
    recursive: bool,
}

/// What was named, before anybody was asked.
pub(crate) struct Selection {
    words: Vec<Word>,
    in_files: Vec<ObjectId>,
    selector: Option<String>,
    all_namespaces: bool,
}

/// One subject, and where it was named.
pub(crate) struct Selected {
    pub(crate) subject: Subject,
    pub(crate) named_in: NamedIn,
}

/// Where a subject was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedIn {
    /// On the command line, by its name.
    Words,
    /// By a selector.
    Selector,
    /// In a file.
    File,
}

/// A kind as somebody wrote it, and a name where one object is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    kind: String,
    name: Option<String>,
}

// === impl SelectionArgs ===

impl SelectionArgs {
    /// Returns the words that name objects or kinds.
    pub(crate) fn words(&self) -> &[String] {
        &self.named
    }

    /// Returns whether words alone say which objects are meant.
    pub(crate) fn is_by_name(&self) -> bool {
        !self.all && self.selector.is_none() && self.filename.is_empty()
    }

    /// Returns whether nothing is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.is_by_name()
    }

    /// Reads files and words; nothing is asked yet.
    pub(crate) async fn read(
        &self,
        patience: Duration,
        signals: &mut Signals,
    ) -> Result<Selection, CommandError> {
        let many = self.all || self.selector.is_some();
        if let Some(selector) = &self.selector {
            check_selector(selector).map_err(|error| CommandError::new(Exit::Usage, &error))?;
        }
        let words = words(&self.named, many)?;
        if self.all_namespaces && !many {
            return Err(CommandError::say(
                Exit::Usage,
                "`--all-namespaces` goes with `--selector` or `--all`; a name is in one namespace",
            ));
        }
        if many && !words.iter().any(|word| word.name.is_none()) {
            return Err(CommandError::say(Exit::Usage, "no kind is named to select from")
                .hint("name one, such as `deployment -l app=web`"));
        }
        if words.is_empty() && self.filename.is_empty() {
            return Err(CommandError::say(Exit::Usage, "no object is named")
                .hint("name KIND/NAME, a KIND with `-l LABELS`, or files with `-f FILE`"));
        }
        let in_files = if self.filename.is_empty() {
            Vec::new()
        } else {
            let objects = files::read(&self.filename, self.recursive, patience, signals).await?;
            objects.iter().map(|object| object.id().clone()).collect()
        };
        let (selector, all_namespaces) = (self.selector.clone(), self.all_namespaces);
        Ok(Selection { words, in_files, selector, all_namespaces })
    }
}

/// Reads `KIND/NAME`, `KIND NAME…` and `KIND,KIND`, as kubectl does.
fn words(named: &[String], many: bool) -> Result<Vec<Word>, CommandError> {
    if named.iter().any(String::is_empty) {
        return Err(not_an_object(""));
    }
    let mut words = Vec::new();
    let (slashed, bare): (Vec<&String>, Vec<&String>) =
        named.iter().partition(|word| word.contains('/'));
    for word in &slashed {
        match word.split_once('/') {
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() && !name.contains('/') => {
                words.extend(of_kinds(kind, Some(name)));
            }
            _ => return Err(not_an_object(word)),
        }
    }
    match (&bare[..], many) {
        ([], _) => {}
        (kinds, true) => words.extend(kinds.iter().flat_map(|kinds| of_kinds(kinds, None))),
        ([kind], false) => return Err(no_name(kind, slashed.first().copied())),
        (_, false) if !slashed.is_empty() => {
            return Err(no_name(bare[0], slashed.first().copied()));
        }
        ([kinds, rest @ ..], false) => {
            words.extend(rest.iter().flat_map(|name| of_kinds(kinds, Some(name))));
        }
    }
    Ok(words)
}

fn of_kinds(kinds: &str, name: Option<&str>) -> Vec<Word> {
    let kinds = kinds.split(',').filter(|kind| !kind.is_empty());
    kinds.map(|kind| Word { kind: kind.to_owned(), name: name.map(str::to_owned) }).collect()
}

fn not_an_object(word: &str) -> CommandError {
    CommandError::say(Exit::Usage, format!("`{word}` is not KIND/NAME, as `deployment/web` is"))
}

fn no_name(word: &str, beside: Option<&String>) -> CommandError {
    let message = match beside {
        Some(beside) => format!("`{word}` stands beside `{beside}`, but is not KIND/NAME"),
        None => format!("`{word}` names no object"),
    };
    CommandError::say(Exit::Usage, message)
        .hint(format!("name {word}/NAME, or select with `-l LABELS` or `--all`"))
}

// === impl Selection ===

impl Selection {
    /// Asks what the kinds are, and returns who is meant.
    pub(crate) async fn resolve(
        &self,
        reader: &Reader,
        namespace: &str,
    ) -> Result<Vec<Selected>, CommandError> {
        let mut selected = Vec::new();
        for word in &self.words {
            let resource = kind_called(reader, &word.kind).await?;
            selected.push(self.select(&resource, word.name.as_deref(), namespace));
        }
        for id in &self.in_files {
            let id = reader.ask(async || place(&reader.cluster, id, namespace).await).await?;
            selected.push(Selected { subject: Subject::One(id), named_in: NamedIn::File });
        }
        Ok(selected)
    }

    fn select(&self, resource: &Resource, name: Option<&str>, namespace: &str) -> Selected {
        let namespace = Some(namespace).filter(|_| resource.namespaced);
        if let Some(name) = name {
            let subject = Subject::One(resource.kind.named(namespace, name));
            return Selected { subject, named_in: NamedIn::Words };
        }
        let mut scope = Scope::all(resource.kind.clone());
        if let Some(namespace) = namespace.filter(|_| !self.all_namespaces) {
            scope = scope.within(namespace);
        }
        if let Some(selector) = &self.selector {
            scope = scope.labelled(selector);
        }
        Selected { subject: Subject::Each(scope), named_in: NamedIn::Selector }
    }
}

/// Puts an object of a file where it is. A kind that nobody serves is left as
/// it stands: it means something else to everybody who asks.
async fn place(cluster: &Cluster, id: &ObjectId, namespace: &str) -> Result<ObjectId, ApiError> {
    let namespaced = match cluster.resource(&id.kind).await {
        Ok(resource) => resource.namespaced,
        Err(error) if matches!(error.trouble(), Trouble::KindMissing { .. }) => {
            return Ok(id.clone());
        }
        Err(error) => return Err(error),
    };
    let namespace = id.namespace.as_deref().unwrap_or(namespace);
    Ok(id.kind.named(Some(namespace).filter(|_| namespaced), id.name.clone()))
}

async fn kind_called(reader: &Reader, word: &str) -> Result<Resource, CommandError> {
    let asked = reader.ask(async || match reader.cluster.kind_called(word).await {
        Ok(resource) => Ok(Ok(resource)),
        Err(KindNameError::Unknown(unknown)) => Ok(Err(unknown)),
        Err(KindNameError::Api(error)) => Err(error),
    });
    asked.await?.map_err(|unknown| {
        CommandError::new(Exit::Usage, &unknown).hint("`kubectl api-resources` lists all kinds")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(named: &[&str], many: bool) -> Result<Vec<String>, String> {
        let named: Vec<String> = named.iter().map(|word| (*word).to_owned()).collect();
        let shown = |word: Word| format!("{} {}", word.kind, word.name.unwrap_or_default());
        let words = words(&named, many).map_err(|error| error.message());
        words.map(|words| words.into_iter().map(|word| shown(word).trim().to_owned()).collect())
    }

    #[test]
    fn objects_are_named_as_with_kubectl() {
        let ok = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(read(&["deploy/a", "sts/b"], false), ok(&["deploy a", "sts b"]));
        assert_eq!(read(&["deploy", "a", "b"], false), ok(&["deploy a", "deploy b"]));
        assert_eq!(read(&["deploy,sts", "a"], false), ok(&["deploy a", "sts a"]));
        assert_eq!(read(&["deploy,sts"], true), ok(&["deploy", "sts"]));
        assert_eq!(read(&["job/x", "deploy", "sts"], true), ok(&["job x", "deploy", "sts"]));
        let err = |words: &str| Err(words.to_owned());
        assert_eq!(read(&["deploy"], false), err("`deploy` names no object"));
        assert_eq!(
            read(&["a/b/c"], false),
            err("`a/b/c` is not KIND/NAME, as `deployment/web` is")
        );
        assert_eq!(read(&["cm", ""], false), err("`` is not KIND/NAME, as `deployment/web` is"));
        assert_eq!(read(&["a/"], true), err("`a/` is not KIND/NAME, as `deployment/web` is"));
        assert_eq!(
            read(&["deploy/a", "b"], false),
            err("`b` stands beside `deploy/a`, but is not KIND/NAME")
        );
    }
}
