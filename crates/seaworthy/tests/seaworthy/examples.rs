//! The examples of the documentation, run as they stand there.
//!
//! In `docs/*.md`, a block `yaml` whose first line is `# file: NAME` becomes a
//! file, and a block `console` is a talk with a shell: after `$ ` a command,
//! then `? 3` where it ends with another code than 0, then what it prints on
//! both outputs. `[..]` stands for anything within a line, a line `...` for any
//! lines. Each page has a namespace and a folder of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rig::Namespace;
use serde_json::Value;

/// A page with examples.
struct Page {
    name: String,
    blocks: Vec<Block>,
}

/// A part of a page that does something.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    File { name: String, text: String },
    Command(Example),
}

/// A command, and what has to come of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Example {
    /// The line of the page.
    line: usize,
    command: String,
    exit: i32,
    output: Vec<String>,
}

/// Where the examples of a page run.
struct Stage {
    namespace: Namespace,
    folder: tempfile::TempDir,
}

#[test]
fn every_example_of_the_documentation_runs() {
    let pages = pages();
    assert!(pages.iter().any(|page| page.name == "apply.md"), "no example was found");
    if rig::need::namespace().is_none() {
        return;
    }
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| page.run())).collect();
        runs.into_iter().filter_map(|run| run.join().unwrap().err()).collect()
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn output_is_matched_line_by_line() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let meets = |pattern: &str, text: &str| meets(&lines(pattern), &lines(text));
    assert!(meets("a\nb", "a\nb") && !meets("a\nb", "a") && !meets("a", "a\nb"));
    assert!(meets("in [..]s, [..]", "in 0.3s, at last") && !meets("in [..]s", "in 0.3 ms now"));
    assert!(meets("...\nb\n...", "a\nb\nc\nd") && meets("...\nb", "b") && !meets("...\nb", "a"));
    assert!(meets("[..]b", "aab") && !meets("[..]b", "ba"));
}

#[test]
fn a_page_is_read_as_files_and_commands() {
    let text = "# T\n```yaml\n# file: a.yaml\nk: 1\n```\n```yaml\nno: file\n```\n\
        ```console\n$ one\n? 3\nout\n$ two\n```\n";
    let command = |line, command: &str, exit, output: &[&str]| {
        let output = output.iter().map(|line| (*line).to_owned()).collect();
        Block::Command(Example { line, command: command.to_owned(), exit, output })
    };
    let file = Block::File { name: "a.yaml".to_owned(), text: "# file: a.yaml\nk: 1\n".to_owned() };
    let expected = [file, command(10, "one", 3, &["out"]), command(13, "two", 0, &[])];
    assert_eq!(blocks(text), expected);
}

fn pages() -> Vec<Page> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let files = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    let pages = files.iter().map(|file| Page {
        name: file.file_name().unwrap().to_string_lossy().into_owned(),
        blocks: blocks(&fs::read_to_string(file).unwrap()),
    });
    let runs = |page: &Page| page.blocks.iter().any(|block| matches!(block, Block::Command(_)));
    pages.filter(runs).collect()
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((_, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let body: Vec<(usize, &str)> =
            lines.by_ref().take_while(|(_, line)| !line.starts_with("```")).collect();
        match kind {
            "yaml" => blocks.extend(file(&body)),
            "console" => blocks.extend(commands(&body)),
            _ => {}
        }
    }
    blocks
}

fn file(body: &[(usize, &str)]) -> Option<Block> {
    let name = body.first()?.1.strip_prefix("# file: ")?.trim().to_owned();
    let text = body.iter().fold(String::new(), |text, (_, line)| text + line + "\n");
    Some(Block::File { name, text })
}

fn commands(body: &[(usize, &str)]) -> Vec<Block> {
    let mut examples: Vec<Example> = Vec::new();
    for (number, line) in body {
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), _) => {
                let command = command.to_owned();
                examples.push(Example { line: *number, command, ..Example::default() });
            }
            (None, Some(example)) => match line.strip_prefix("? ") {
                Some(exit) if example.output.is_empty() => example.exit = exit.parse().unwrap(),
                _ => example.output.push(line.trim_end().to_owned()),
            },
            (None, None) => panic!("line {number}: output without a command"),
        }
    }
    examples.into_iter().map(Block::Command).collect()
}

impl Page {
    /// Runs the page, and says what was wrong first.
    fn run(&self) -> Result<(), String> {
        let stage = Stage::build();
        for block in &self.blocks {
            match block {
                Block::File { name, text } => stage.write(name, text),
                Block::Command(example) => stage.run(example, &self.name)?,
            }
        }
        Ok(())
    }
}

impl Stage {
    fn build() -> Self {
        let namespace = rig::need::namespace().expect("it was there a moment ago");
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join(".bin");
        fs::create_dir(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_seaworthy"), programs.join("seaworthy")).unwrap();
        symlink(namespace.kubectl().binary(), programs.join("kubectl")).unwrap();
        let stage = Self { namespace, folder };
        stage.write(".kubeconfig", &stage.kubeconfig());
        stage
    }

    /// The rig's kubeconfig, with the page's namespace as the usual one.
    fn kubeconfig(&self) -> String {
        let text = fs::read(self.namespace.access().kubeconfig()).unwrap();
        let mut config: Value = serde_json::from_slice(&text).unwrap();
        for context in config["contexts"].as_array_mut().unwrap() {
            context["context"]["namespace"] = self.namespace.name().into();
        }
        config.to_string()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn run(&self, example: &Example, page: &str) -> Result<(), String> {
        let folder = self.folder.path();
        let shell = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1; {}", example.command))
            .current_dir(folder)
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", folder.join(".bin").display()))
            .env("HOME", folder)
            .env("KUBECONFIG", folder.join(".kubeconfig"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let exit = shell.status.code().unwrap();
        let output = String::from_utf8(shell.stdout).unwrap();
        let printed: Vec<String> = output.lines().map(|line| line.trim_end().to_owned()).collect();
        if exit == example.exit && meets(&example.output, &printed) {
            return Ok(());
        }
        let Example { line, command, exit: expected, output } = example;
        let (printed, output) = (quoted(&printed), quoted(output));
        Err(format!(
            "docs/{page}:{line}: `{command}`\nended with {exit}, expected {expected}, and printed\n\
             {printed}where this is documented\n{output}"
        ))
    }
}

fn quoted(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  | {line}\n")).collect::<Vec<_>>().concat()
}

/// Returns whether lines are as the pattern says.
fn meets(pattern: &[String], lines: &[String]) -> bool {
    match (pattern.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "..." => {
            (0..=lines.len()).any(|skipped| meets(rest, &lines[skipped..]))
        }
        (Some((first, rest)), Some((line, lines))) => meets_line(first, line) && meets(rest, lines),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn meets_line(pattern: &str, line: &str) -> bool {
    match pattern.split_once("[..]") {
        None => pattern == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            let ends = line.char_indices().map(|(index, _)| index).chain([line.len()]);
            ends.into_iter().any(|end| meets_line(rest, &line[end..]))
        }),
    }
}
