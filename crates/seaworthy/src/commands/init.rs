//! `init`: a new cluster file, from answers.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use report::terminal::say;
use spec::CloudKind;
use spec::init::{Answers, InitError, Question, Refusal, clouds, cluster_file, questions};

use super::{CLUSTER_FILE, colour, palette};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Which file to write, and the answers that were given as flags.
///
/// The flags are the questions of `spec`, so that a new question is a flag at once.
#[derive(Debug)]
pub(crate) struct InitArgs {
    file: PathBuf,
    cloud: Option<String>,
    yes: bool,
    given: Vec<(String, String)>,
}

const ABOUT: &str = "Write a new cluster file";
const LONG_ABOUT: &str = "Write a new cluster file\n\n\
    Asks on a terminal for what no flag says; elsewhere, or with --yes, takes the \
    defaults. An existing file is never overwritten.";

pub(crate) fn run(args: &InitArgs, ui: &Ui) -> Result<(), CommandError> {
    if args.file.exists() {
        return Err(exists(&args.file));
    }
    let asks = ui.can_ask() && !args.yes;
    let mut answers = if asks { asked(args, ui)? } else { given(args)? };
    let text = loop {
        match cluster_file(&answers) {
            Ok(text) => break text,
            Err(error) if asks => ask_again(&error, &mut answers, &args.file, ui)?,
            Err(error) => return Err(refused(&error, &args.file, ui)),
        }
    };
    write_new(&args.file, &text)?;
    tell(&args.file, ui)
}

/// Takes flags and defaults.
fn given(args: &InitArgs) -> Result<Answers, CommandError> {
    let mut answers = Answers::new(cloud(args.cloud.as_deref().unwrap_or(clouds()[0]))?);
    for (key, answer) in &args.given {
        answers.answer(key, answer).map_err(|error| CommandError::new(Exit::Usage, &error))?;
    }
    Ok(answers)
}

/// Asks for what no flag says.
fn asked(args: &InitArgs, ui: &Ui) -> Result<Answers, CommandError> {
    let chosen = match &args.cloud {
        Some(chosen) => cloud(chosen)?,
        None => ask_cloud(ui)?,
    };
    let mut answers = given(&InitArgs {
        file: args.file.clone(),
        cloud: Some(chosen.as_str().to_owned()),
        yes: args.yes,
        given: args.given.clone(),
    })?;
    for question in questions(chosen) {
        if args.given.iter().all(|(key, _)| key != question.key) {
            ask(question, &mut answers, ui)?;
        }
    }
    Ok(answers)
}

fn ask_cloud(ui: &Ui) -> Result<CloudKind, CommandError> {
    loop {
        let prompt = format!("Where does it run ({})? [{}]", clouds().join(", "), clouds()[0]);
        let answer = answered(ui, &prompt)?;
        let answer = if answer.is_empty() { clouds()[0] } else { &answer };
        match CloudKind::parse(answer) {
            Ok(cloud) => return Ok(cloud),
            Err(problem) => writeln!(ui.stderr(), "  {problem}")?,
        }
    }
}

/// Asks once more what does not fit; all other answers stay.
fn ask_again(
    error: &InitError,
    answers: &mut Answers,
    file: &Path,
    ui: &Ui,
) -> Result<(), CommandError> {
    let keys: Vec<String> = match error {
        InitError::Answer(error) => vec![error.key().to_owned()],
        InitError::Refused(refusal) => {
            show(refusal, file, ui)?;
            refusal.questions().iter().map(ToString::to_string).collect()
        }
    };
    writeln!(ui.stderr(), "  {error}; once more:")?;
    // The first of several may well be right: it is proposed again, and the others follow it.
    let kept = usize::from(keys.len() > 1);
    for key in &keys[kept..] {
        answers.forget(key);
    }
    let concerned = questions(answers.cloud()).filter(|it| keys.iter().any(|key| key == it.key));
    for question in concerned {
        ask(question, answers, ui)?;
    }
    Ok(())
}

fn ask(question: &Question, answers: &mut Answers, ui: &Ui) -> Result<(), CommandError> {
    let choices = match question.choices {
        [] => String::new(),
        choices => format!(" ({})", choices.join(", ")),
    };
    let proposal = answers.get(question.key);
    let shown = proposal.as_ref().map(|text| format!(" [{text}]")).unwrap_or_default();
    let prompt = format!("{}{choices}?{shown}", question.prompt);
    loop {
        let answer = answered(ui, &prompt)?;
        if answer.is_empty() && (question.optional || proposal.is_some()) {
            return Ok(());
        }
        match answers.answer(question.key, &answer) {
            Ok(()) => return Ok(()),
            Err(problem) => writeln!(ui.stderr(), "  {problem}")?,
        }
    }
}

fn answered(ui: &Ui, prompt: &str) -> Result<String, CommandError> {
    ui.ask(prompt)?.ok_or_else(|| {
        CommandError::say(Exit::Interrupted, "the input ended before the last answer")
            .hint("nothing was written; `--yes` takes the defaults")
    })
}

fn cloud(name: &str) -> Result<CloudKind, CommandError> {
    CloudKind::parse(name).map_err(|problem| CommandError::say(Exit::Usage, problem))
}

/// Writes a file that must not exist: between the look and the write somebody
/// else may have made it.
fn write_new(path: &Path, text: &str) -> Result<(), CommandError> {
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => CommandError::unwritten(path, &error),
    })
}

fn exists(path: &Path) -> CommandError {
    CommandError::say(Exit::Usage, format!("{} exists and is not overwritten", path.display()))
        .hint("name another file: `seaworthy init other.yaml`")
}

fn refused(error: &InitError, file: &Path, ui: &Ui) -> CommandError {
    if let InitError::Refused(refusal) = error {
        let _ = show(refusal, file, ui);
    }
    CommandError::say(Exit::Usage, format!("{error}; {} was not written", file.display()))
}

fn show(refusal: &Refusal, file: &Path, ui: &Ui) -> io::Result<()> {
    writeln!(ui.stderr(), "{}", refusal.render(&file.display().to_string(), colour(ui)))
}

fn tell(path: &Path, ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        // A path need not be UTF-8, JSON must.
        return Ok(ui.json(&serde_json::json!({ "file": path.display().to_string() }))?);
    }
    let mut err = ui.stderr();
    let shown = path.display().to_string();
    let argument = if shown == CLUSTER_FILE { String::new() } else { format!(" {shown}") };
    say(palette(ui), "Wrote", &shown, &mut err)?;
    say(palette(ui), "Try it", &format!("seaworthy validate{argument}"), &mut err)?;
    say(palette(ui), "", &format!("seaworthy plan{argument}"), &mut err)?;
    Ok(())
}

// === impl InitArgs ===

impl Args for InitArgs {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("file")
            .value_name("FILE")
            .default_value(CLUSTER_FILE)
            .value_parser(clap::value_parser!(PathBuf))
            .help("The file to write");
        let cloud = Arg::new("cloud")
            .long("cloud")
            .value_parser(PossibleValuesParser::new(clouds()))
            .help("Where the cluster runs");
        let yes = Arg::new("yes")
            .long("yes")
            .short('y')
            .action(clap::ArgAction::SetTrue)
            .help("Take the defaults instead of asking");
        let command = command.about(ABOUT).long_about(LONG_ABOUT).arg(file).arg(cloud).arg(yes);
        all_questions().into_iter().fold(command, |command, question| command.arg(flag(&question)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for InitArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let text = |key: &str| matches.get_one::<String>(key).cloned();
        let file = matches.get_one::<PathBuf>("file").cloned();
        let given = all_questions().into_iter().map(|question| question.key);
        Ok(Self {
            file: file.unwrap_or_else(|| PathBuf::from(CLUSTER_FILE)),
            cloud: text("cloud"),
            yes: matches.get_flag("yes"),
            given: given.filter_map(|key| Some((key.to_owned(), text(key)?))).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A question, and the clouds that ask it.
struct Asked {
    key: &'static str,
    prompt: &'static str,
    help: &'static str,
    by: Vec<CloudKind>,
}

/// Returns every question once, although several clouds ask it.
fn all_questions() -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for cloud in clouds().iter().filter_map(|name| CloudKind::parse(name).ok()) {
        for Question { key, prompt, help, .. } in questions(cloud) {
            match all.iter_mut().find(|asked| asked.key == *key) {
                Some(asked) => asked.by.push(cloud),
                None => all.push(Asked { key, prompt, help, by: vec![cloud] }),
            }
        }
    }
    all
}

fn flag(asked: &Asked) -> Arg {
    let only: Vec<_> = asked.by.iter().map(|cloud| cloud.as_str()).collect();
    let only = match only.len() {
        n if n == clouds().len() => String::new(),
        _ => format!(" ({} only)", only.join(" and ")),
    };
    Arg::new(asked.key)
        .long(asked.key)
        .value_name("ANSWER")
        .help(format!("{}{only}", asked.prompt))
        .long_help(format!("{}{only}. {}", asked.prompt, asked.help))
}
