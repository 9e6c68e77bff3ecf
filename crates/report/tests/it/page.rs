//! `REPORT.html` in a real browser.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::browser::{Browser, DESKTOP, DOWN, ENTER, ESCAPE, PHONE, RIGHT};
use crate::samples::{self, Sample};

struct Page {
    path: PathBuf,
    _folder: TempDir,
}

fn page(sample: &Sample) -> Page {
    let folder = tempfile::tempdir().unwrap();
    let store = sample.store(folder.path());
    let path = folder.path().join("REPORT.html");
    std::fs::write(&path, report::html::html(&sample.story(), &store)).unwrap();
    Page { path, _folder: folder }
}

#[test]
#[ignore = "writes pictures to look at"]
fn pictures() {
    let Some(browser) = Browser::start("pictures") else {
        return;
    };
    for (name, sample) in [
        ("proven", samples::proven()),
        ("failed", samples::failed()),
        ("late", samples::late()),
        ("hostile", samples::hostile()),
        ("hundreds", samples::five_hundred()),
    ] {
        let page = page(&sample);
        eprintln!("{name} {}", std::fs::metadata(&page.path).unwrap().len());
        for (view, window, scheme) in
            [("desktop", DESKTOP, "light"), ("dark", DESKTOP, "dark"), ("phone", PHONE, "light")]
        {
            browser.resize(window);
            browser.prefer(scheme);
            browser.open(&page.path);
            std::fs::write(format!("/tmp/pic-{name}-{view}.png"), browser.screenshot()).unwrap();
        }
        eprintln!("{:?}", browser.console());
    }
}
