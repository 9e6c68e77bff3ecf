//! The pictures of the README: made by the tests, and checked by them.

use std::path::PathBuf;

use anstyle::RgbColor;
use anstyle_svg::Term;
use report::terminal::Palette;

use crate::samples;
use crate::terminal::plain;

pub(crate) fn docs_images() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/images")
}

/// Whether the pictures are made anew instead of checked.
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the tests")]
pub(crate) fn bless() -> bool {
    std::env::var_os("SEAWORTHY_BLESS").is_some_and(|value| value == "1")
}

/// A terminal that reads well on a light and on a dark page.
fn term() -> Term {
    Term::new()
        .palette(anstyle_svg::WIN10_CONSOLE)
        .fg_color(RgbColor(0xd4, 0xd9, 0xdf).into())
        .bg_color(RgbColor(0x1c, 0x20, 0x26).into())
}

#[test]
fn the_terminal_pictures_are_up_to_date() {
    for (name, sample) in [
        ("rehearse.svg", samples::proven()),
        ("fault.svg", samples::failed()),
        ("late.svg", samples::late()),
    ] {
        let picture = term().render_svg(&plain(&sample, Palette::Colour));
        let path = docs_images().join(name);
        if bless() {
            std::fs::create_dir_all(docs_images()).unwrap();
            std::fs::write(&path, &picture).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == picture, "{name} is out of date: run the tests with SEAWORTHY_BLESS=1");
    }
}

#[test]
fn the_picture_of_the_page_is_small() {
    let picture = std::fs::metadata(docs_images().join("report.png")).unwrap();
    assert!(picture.len() < 200_000, "{}", picture.len());
}
