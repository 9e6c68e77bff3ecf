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

/// Renders all problems and, if any is an error, the closing line.
pub(crate) fn render(source: &Source, problems: &[Problem], colour: Colour) -> String {
    let renderer = renderer(colour);
    let mut blocks: Vec<String> = problems
        .iter()
        .take(SHOWN)
        .map(|problem| renderer.render(&[group(source, problem)]))
        .collect();
    blocks.extend(closing(source, problems).map(|line| renderer.render(&[line])));
    blocks.iter().map(|block| format!("{block}\n")).collect::<Vec<_>>().join("\n")
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

fn closing<'a>(source: &Source, problems: &[Problem]) -> Option<Group<'a>> {
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
    let (name, errors) = (source.name(), counted(errors, "problem"));
    let line = format!("could not read {name}: {errors}{warnings}{shown}");
    Some(Group::with_title(Level::ERROR.primary_title(line)))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
