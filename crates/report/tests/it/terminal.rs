//! What people see on a terminal.

use events::StageName;
use report::Story;
use report::terminal::{Live, Palette, Plain, Printer, Screen, frame};
use unicode_width::UnicodeWidthStr as _;

use crate::samples::{self, Sample};

/// Prints a run as plain lines.
pub(crate) fn plain(sample: &Sample, palette: Palette) -> String {
    print(sample, &mut Plain::new(palette))
}

fn print(sample: &Sample, printer: &mut dyn Printer) -> String {
    let mut out = Vec::new();
    let mut story = Story::default();
    for event in &sample.events {
        story.apply(event);
        printer.event(&story, event, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn plain_lines() {
    for (name, sample) in [
        ("proven", samples::proven()),
        ("failed", samples::failed()),
        ("interrupted", samples::interrupted()),
        ("died", samples::died()),
        ("not_proven", samples::not_proven()),
        ("late", samples::late()),
        ("five_hundred", samples::five_hundred()),
    ] {
        insta::assert_snapshot!(format!("plain_{name}"), plain(&sample, Palette::Plain));
    }
}

fn usual(stage: &StageName) -> Option<u64> {
    (stage.as_str() == "ready").then_some(25_000)
}

fn frame_at(sample: &Sample, ms: u64, columns: usize) -> String {
    let screen = Screen { columns, rows: 24 };
    frame(&sample.story_until(ms), ms, screen, usual, Palette::Plain).join("\n")
}

#[test]
fn live_frames() {
    let late = samples::late();
    for columns in [80, 120] {
        for ms in [0, 7_300, 60_000, 150_000] {
            insta::assert_snapshot!(format!("frame_{columns}_{ms}"), frame_at(&late, ms, columns));
        }
    }
}

#[test]
fn the_cursor_goes_back_over_the_frame_and_nothing_else() {
    let sample = samples::late();
    let screen = Screen { columns: 80, rows: 24 };
    let mut live = Live::new(Palette::Plain, screen);
    live.compare([("ready".into(), 25_000)].into());
    let mut out = Vec::new();
    let story = sample.story_until(60_000);
    live.tick(&story, 60_000, &mut out).unwrap();
    let first = out.len();
    live.tick(&story, 60_020, &mut out).unwrap();
    assert_eq!(out.len(), first, "nothing moved, nothing is written");
    live.tick(&story, 61_000, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    insta::assert_snapshot!("cursor", text.replace('\x1b', "␛"));
}

#[test]
fn the_live_view_leaves_the_same_lines_as_the_plain_one() {
    for sample in [samples::proven(), samples::failed(), samples::not_proven()] {
        let wide = Screen { columns: 500, rows: 24 };
        let live = print(&sample, &mut Live::new(Palette::Plain, wide));
        assert_eq!(screen_after(&live), plain_without_waits(&sample));
    }
}

fn plain_without_waits(sample: &Sample) -> String {
    let lines = plain(sample, Palette::Plain);
    let stays = |line: &&str| !line.trim_start().starts_with("Waiting");
    lines.lines().filter(stays).flat_map(|line| [line, "\n"]).collect()
}

/// What a terminal shows in the end: knows just the sequences that the live view uses.
fn screen_after(output: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for piece in output.replace("\x1b[?2026h", "").replace("\x1b[?2026l", "").split('\n') {
        let mut rest = piece;
        if let Some(after) = rest.strip_prefix("\x1b[") {
            let (rows, after) = after.split_once("A\r\x1b[J").unwrap();
            lines.truncate(lines.len() - rows.parse::<usize>().unwrap());
            rest = after;
        }
        assert!(!rest.contains('\x1b'), "an unknown sequence in {rest:?}");
        lines.push(rest.to_owned());
    }
    lines.join("\n")
}

#[test]
fn a_silent_wait_is_told_once_a_minute() {
    let story = samples::late().story_until(150_000);
    let mut plain = Plain::new(Palette::Plain);
    let mut out = Vec::new();
    let mut said = |ms: u64| {
        out.clear();
        plain.tick(&story, ms, &mut out).unwrap();
        String::from_utf8(out.clone()).unwrap()
    };
    let line = said(151_000);
    assert!(line.contains("Waiting ready          4/5    51s  demo-worker-2: kubelet"), "{line}");
    assert_eq!(said(152_000), "");
    assert_eq!(said(210_999), "", "what it waits for has not changed");
    assert!(said(211_000).contains("1m51s"));
}

#[test]
fn a_small_screen_gets_a_small_frame() {
    let busy = samples::five_hundred();
    let story = busy.story_until(9_100);
    for rows in [0, 1, 4, 6, 24] {
        let screen = Screen { columns: 40, rows };
        let lines = frame(&story, 9_100, screen, |_| None, Palette::Plain);
        assert!(lines.len() <= (rows / 2).max(1), "{rows}: {lines:?}");
        assert!(lines.last().unwrap().contains("Elapsed"), "{lines:?}");
    }
}

#[test]
fn words_that_are_not_of_the_run_take_the_frame_off_the_screen() {
    let story = samples::late().story_until(60_000);
    let screen = Screen { columns: 80, rows: 24 };
    let mut live = Live::new(Palette::Plain, screen);
    live.compare([("ready".into(), 25_000)].into());
    let mut out = Vec::new();
    live.tick(&story, 60_000, &mut out).unwrap();
    live.say("Report", "demo/REPORT.html\x1b[2J", &mut out).unwrap();
    let left = screen_after(&String::from_utf8(out).unwrap());
    assert_eq!(left, "       Report demo/REPORT.html␛[2J\n", "shown, not obeyed");
}

#[test]
fn hostile_words_cannot_move_the_cursor() {
    let text = plain(&samples::hostile(), Palette::Plain);
    assert!(text.chars().all(|symbol| symbol == '\n' || !symbol.is_control()));
    assert!(!text.contains('\u{202e}') && !text.contains('\u{2028}'));
    assert!(text.lines().count() < 60, "{}", text.lines().count());
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 2_600, "{longest}");
}

#[test]
fn no_line_of_words_is_broken_by_the_terminal() {
    for sample in [samples::proven(), samples::failed(), samples::not_proven()] {
        let screen = Screen { columns: 80, rows: 24 };
        let text = screen_after(&print(&sample, &mut Live::new(Palette::Plain, screen)));
        for line in text.lines().filter(|line| line.width() > 80) {
            let word = line.split_whitespace().last().unwrap();
            assert!(word.width() > 50, "only what cannot be broken is longer: {line}");
        }
    }
}
