//! The page around the timeline.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::data::Data;
use crate::{FirstCause, Outcome, Run, Story, text, timeline, words};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

pub(super) fn page(story: &Story, data: &Data) -> Markup {
    let outcome = story.outcome();
    let cluster = story.run().map_or("nothing was recorded", |run| &run.cluster);
    let rehearsal = story.run().and_then(words::rehearsal);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (outcome.word()) ": " (cluster) @if let Some(words) = rehearsal { " (" (words) ")" } }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.badge.(class(outcome)) { (outcome.word()) }
                    h1 {
                        (cluster)
                        @if rehearsal.is_some() { " " span.badge.rehearsal { "Rehearsal" } }
                    }
                    @if let Some(run) = story.run() { (about(story, run)) }
                }
                @if let Some(first) = story.first_cause() { (cause(story, &first)) }
                (missing(story))
                (warnings(story))
                (timeline_section(story))
                (footer(story, data))
                script type="application/json" id="data" { (PreEscaped(data.script())) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Lets through just this script and this style: no other, and no request at all.
fn policy() -> String {
    let hash = |source: &str| STANDARD.encode(Sha256::digest(source));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Proven | Outcome::Healthy | Outcome::Removed => "passed",
        Outcome::Failed | Outcome::CutOff => "failed",
        Outcome::NotProven | Outcome::Unknown | Outcome::Stopped => "stopped",
        Outcome::Open => "running",
    }
}

fn about(story: &Story, run: &Run) -> Markup {
    let tally = story.tally();
    html! {
        p.title { (run.title) }
        @if let Some(limits) = words::rehearsal_limits(run) { p.limits { (limits) } }
        dl.figures {
            div { dt { "took" } dd { (words::duration(story)) } }
            @if let Some(cost) = story.cost() {
                div { dt { @if run.simulated_speed.is_some() { "would have cost" } @else { "cost" } } dd { (cost) } }
            }
            div { dt { "stages passed" } dd { (tally.stages_passed) " of " (story.stages().len()) } }
            div { dt { "checks ready" } dd { (tally.checks_ready) " of " (tally.checks_ready + tally.checks_failed + tally.checks_unseen) } }
            @if tally.retries > 0 { div { dt { "failed attempts" } dd { (tally.retries) } } }
            div { dt { "command" } dd { "seaworthy " (run.command) } }
            div { dt { "started" } dd { (run.started.strftime("%Y-%m-%d %H:%M:%S UTC")) } }
            div { dt { "run" } dd.id { (run.id) } }
            @if let Some(spec) = run.spec { div { dt { "cluster file" } dd.id { "sha256:" (spec) } } }
            @if let Some(resumed) = run.resumes { div { dt { "goes on from" } dd.id { (resumed) } } }
        }
    }
}

fn cause(story: &Story, first: &FirstCause<'_>) -> Markup {
    html! {
        section.cause aria-label="First cause" {
            h2 { code { (first.cause.code) } " " (first.cause.message) }
            dl {
                dt { (first.place_word()) } dd { (first.place()) }
                @if !first.cause.because.is_empty() {
                    dt { "because" }
                    dd { ol { @for line in &first.cause.because { li { (line) } } } }
                }
                @if !first.cause.also.is_empty() {
                    dt { "also" }
                    dd { ul { @for line in &first.cause.also { li { (line) } } } }
                }
                @if let Some(so) = &first.cause.so { dt { "so" } dd { (so) } }
                @if !first.cause.next.is_empty() {
                    dt { "next" }
                    dd { ul { @for step in &first.cause.next { li { code { (step.command) } " " span { (step.tells) } } } } }
                }
            }
            @if let Some(run) = story.run() { p.note { (marked(&words::remains(run))) } }
        }
    }
}

/// Shows what stands between backticks as code.
fn marked(words: &str) -> Markup {
    html! {
        @for (index, piece) in words.split('`').enumerate() {
            @if index % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

fn missing(story: &Story) -> Markup {
    list("Missing for the proof", story.missing().to_vec())
}

fn warnings(story: &Story) -> Markup {
    let line = |warning: &crate::Warning| match &warning.unit {
        Some(unit) => format!("{unit}: {}", warning.message),
        None => warning.message.clone(),
    };
    list("Warnings", story.warnings().iter().map(line).collect())
}

/// A list that stays short: the timeline and `report.json` have the rest.
fn list(heading: &str, mut lines: Vec<String>) -> Markup {
    const SHOWN: usize = 20;
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    html! {
        @if !lines.is_empty() {
            section.list aria-label=(heading) {
                h2 { (heading) }
                ul {
                    @for line in &lines { li { (line) } }
                    @if more > 0 { li { (more) " more, in report.json" } }
                }
            }
        }
    }
}

fn timeline_section(story: &Story) -> Markup {
    html! {
        main {
            div.toolbar {
                h2 { "Timeline" }
                input #find type="search" placeholder="Find a node or stage" aria-label="Find a node or stage";
                button #failed-only type="button" aria-pressed="false" { "Failed only" }
            }
            div.work {
                div #timeline role="treegrid" aria-label="Stages, nodes, attempts and gates" {}
                aside #detail aria-live="polite" hidden {}
            }
            p.keys { kbd { "↑" } kbd { "↓" } " move  " kbd { "→" } kbd { "←" } " unfold, fold  " kbd { "Enter" } " show  " kbd { "Esc" } " close  " kbd { "F" } " failed only" }
            noscript { pre { (chart(story)) } }
        }
    }
}

/// What a reader without scripts gets.
fn chart(story: &Story) -> String {
    let timeline = timeline(story);
    let chart = timeline.split("\n\n").nth(1).unwrap_or_default();
    text::clip(chart, 20_000)
}

fn footer(story: &Story, data: &Data) -> Markup {
    let tool = story.run().map_or("", |run| &run.tool);
    html! {
        footer {
            @if !data.left_out.is_empty() {
                p { "Left out for size: " (data.left_out.join(", ")) ". report.json and the evidence folder have everything." }
            }
            p { "seaworthy " (tool) ". This file needs no network." }
        }
    }
}
