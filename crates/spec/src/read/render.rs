//! Problems as people see them: rustc's look.

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str,
};

use super::problem::{Problem, Severity};
use super::source::{Source, Span};

/// Beyond this many, more messages help nobody: the file is probably not a cluster file.
const SHOWN: usize = 50;

/// Whether messages carry ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// No escape codes.
    Plain,
    /// With escape codes.
    Ansi,
}

/// Renders all problems.
pub(crate) fn render_problems(source: &Source, problems: &[Problem], colour: Colour) -> String {
    let renderer = renderer(colour);
    let block = |problem| format!("{}\n", renderer.render(&[group(source, problem)]));
    problems.iter().take(SHOWN).map(block).collect::<Vec<_>>().join("\n")
}

/// Renders all problems and, if any is an error, the closing line, which starts with what
/// came of the file.
pub(crate) fn render(
    source: &Source,
    problems: &[Problem],
    outcome: &str,
    colour: Colour,
) -> String {
    let shown = render_problems(source, problems, colour);
    match closing(problems, outcome) {
        Some(line) => format!("{shown}\n{}\n", renderer(colour).render(&[line])),
        None => shown,
    }
}

fn renderer(colour: Colour) -> Renderer {
    match colour {
        Colour::Plain => Renderer::plain(),
        Colour::Ansi => Renderer::styled(),
    }
}

fn group<'a>(source: &'a Source, problem: &'a Problem) -> Group<'a> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(problem.message.as_str()));
    if let Some(span) = problem.span {
        group = group.element(snippet(source, problem, span));
    }
    group = group.elements(
        problem.notes.iter().map(|note| Level::NOTE.message(normalize_untrusted_str(note))),
    );
    group.elements(
        problem.help.iter().map(|help| Level::HELP.message(normalize_untrusted_str(help))),
    )
}

/// The lines that a problem points at. The renderer walks through all it is
/// given, so it gets no more than it shows.
fn snippet<'a>(
    source: &'a Source,
    problem: &'a Problem,
    span: Span,
) -> Snippet<'a, Annotation<'a>> {
    let spans = || problem.related.iter().map(|related| related.span).chain([span]);
    let lines = source.lines_of(spans());
    let within = |span: Span| span.start - lines.start..span.end - lines.start;
    let primary = AnnotationKind::Primary.span(within(span));
    let related = problem.related.iter().map(|related| {
        AnnotationKind::Context
            .span(within(related.span))
            .label(normalize_untrusted_str(&related.label))
    });
    Snippet::source(&source.text()[lines.start..lines.end])
        .line_start(source.position(lines.start).line)
        .path(source.name())
        .annotation(match problem.label.as_str() {
            "" => primary,
            label => primary.label(normalize_untrusted_str(label)),
        })
        .annotations(related)
}

fn closing<'a>(problems: &[Problem], outcome: &str) -> Option<Group<'a>> {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    if errors == 0 {
        return None;
    }
    let warnings = match problems.len() - errors {
        0 => String::new(),
        warnings => format!(", {}", counted(warnings, "warning")),
    };
    let shown = match problems.len() {
        total if total > SHOWN => format!(" (the first {SHOWN} are shown)"),
        _ => String::new(),
    };
    let errors = counted(errors, "problem");
    let line = format!("{outcome}: {errors}{warnings}{shown}");
    Some(Group::with_title(Level::ERROR.primary_title(line)))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
