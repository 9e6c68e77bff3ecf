//! `REPORT.html` in a real browser.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::browser::{Browser, DESKTOP, DOWN, ENTER, ESCAPE, PHONE, RIGHT, Window};
use crate::pictures::{bless, docs_images};
use crate::samples::{self, Sample};

struct Page {
    path: PathBuf,
    bytes: usize,
    _folder: TempDir,
}

fn page(sample: &Sample) -> Page {
    let folder = tempfile::tempdir().unwrap();
    let store = sample.store(folder.path());
    let path = folder.path().join("REPORT.html");
    let html = report::html::html(&sample.story(), &store);
    std::fs::write(&path, &html).unwrap();
    Page { path, bytes: html.len(), _folder: folder }
}

/// Keeps a picture where whoever runs the tests can look at it.
fn keep(browser: &Browser, name: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join(format!("report-{name}.png")), browser.screenshot()).unwrap();
}

fn rows(browser: &Browser) -> u64 {
    let count = browser.script("return document.querySelectorAll('#timeline .row').length");
    count.as_u64().unwrap()
}

fn quiet(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn a_click_on_a_gate_shows_its_evidence() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::failed());
    browser.open(&page.path);
    assert!(browser.text(".cause").contains("the load balancer has no healthy target"));
    assert!(browser.text("#detail").contains("EOF from 203.0.113.10:6443"), "the culprit is open");
    browser.click("#close");
    assert_eq!(browser.text("#detail"), "");

    browser.click("#s3");
    browser.click("#s3c0");
    let detail = browser.text("#detail");
    assert!(detail.contains("firewall covers 50000, 6443"), "{detail}");
    assert!(detail.contains("firewall.ports"), "the facts: {detail}");
    assert!(detail.contains("10.0.64.11:6443 unhealthy (404)"), "the file's text: {detail}");
    keep(&browser, "click");
    if bless() {
        std::fs::write(docs_images().join("report.png"), browser.screenshot()).unwrap();
    }

    browser.click("#s4");
    browser.click("#s4u0");
    assert!(browser.text("#detail").contains("create server demo-cp-1: done, server 42"));
    quiet(&browser);
}

#[test]
fn the_keyboard_does_all_that_the_mouse_does() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::proven());
    browser.open(&page.path);
    browser.script("document.querySelector('#timeline [tabindex=\"0\"]').focus()");
    browser.press(DOWN);
    browser.press(RIGHT);
    browser.press(DOWN);
    browser.press(ENTER);
    let detail = browser.text("#detail");
    assert!(detail.starts_with("bundle"), "{detail}");
    assert!(detail.contains("\"port\":6443"), "the facts: {detail}");
    let outline = browser.script(
        "return getComputedStyle(document.activeElement).outlineStyle + document.activeElement.id",
    );
    assert_eq!(outline, "solids1c0", "the focus is visible");
    browser.press(ESCAPE);
    assert_eq!(browser.text("#detail"), "");
    let focus = browser.script("return document.activeElement.id");
    assert_eq!(focus, "s1c0", "and stays where it was");
    browser.press("f");
    assert_eq!(browser.text("#timeline .empty"), "Nothing failed.");
    quiet(&browser);
}

#[test]
fn filters_leave_what_was_asked_for() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::five_hundred());
    assert!(page.bytes < report::html::LIMIT_BYTES, "{}", page.bytes);
    browser.open(&page.path);
    keep(&browser, "hundreds");
    browser.click("#failed-only");
    assert_eq!(rows(&browser), 3, "the stage, the node, the gate");
    assert!(browser.text("#timeline").contains("demo-worker-123"));
    browser.click("#failed-only");
    browser.click("#find");
    browser.press("worker-317");
    assert_eq!(
        rows(&browser),
        32,
        "sixteen stages and the node in each: {}",
        browser.text("#timeline")
    );
    keep(&browser, "found");
    quiet(&browser);
}

#[test]
fn search_shows_a_failed_gate_by_what_it_said() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::failed());
    browser.open(&page.path);
    browser.click("#close");
    browser.click("#find");
    browser.press("eof from 203.0.113.10");
    assert!(rows(&browser) >= 2, "the stage and its gate: {}", browser.text("#timeline"));
    assert!(browser.text("#timeline").contains("api"), "{}", browser.text("#timeline"));
    quiet(&browser);
}

#[test]
fn an_address_leads_to_a_row_and_commands_can_be_copied() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::failed());
    browser.open(&page.path);
    browser.click("#s3");
    browser.click("#s3c0");
    assert_eq!(browser.script("return location.hash"), "#s3c0");
    browser.script("location.reload()");
    let detail = browser.text("#detail");
    assert!(detail.contains("firewall covers 50000, 6443"), "{detail}");
    let buttons = browser.script("return document.querySelectorAll('.cause .copy').length");
    let commands = browser.script("return document.querySelectorAll('.cause ul li').length");
    assert_eq!(buttons, commands);
    let badge = browser.text(".badge.rehearsal");
    assert_eq!(badge.to_lowercase(), "rehearsal");
    let line = browser.text("#s3 .line");
    assert!(!line.is_empty(), "a stage that passed shows what proves it");
    quiet(&browser);
}

#[test]
fn no_window_cuts_the_next_steps_off() {
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.resize(Window { width: 390, height: 800 });
    let page = page(&samples::failed());
    browser.open(&page.path);
    let hidden = "const box = document.querySelector('.cause dl'); \
                  return box.scrollHeight - box.clientHeight";
    assert_eq!(browser.script(hidden), 0);
}

#[test]
fn no_window_scrolls_sideways() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let narrow = Window { width: 320, height: 700 };
    for (name, sample) in [
        ("proven", samples::proven()),
        ("failed", samples::failed()),
        ("late", samples::late()),
        ("hostile", samples::hostile()),
    ] {
        let page = page(&sample);
        for (view, window, scheme) in [
            ("desktop", DESKTOP, "light"),
            ("dark", DESKTOP, "dark"),
            ("phone", PHONE, "light"),
            ("narrow", narrow, "dark"),
        ] {
            browser.resize(window);
            browser.prefer(scheme);
            browser.open(&page.path);
            keep(&browser, &format!("{name}-{view}"));
            browser.script("document.querySelector('#s9').scrollIntoView()");
            browser.click("#s9");
            browser.click("#s9u0");
            keep(&browser, &format!("{name}-{view}-open"));
            let overflow = browser.script(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(overflow, 0, "{name} in {view}");
        }
        quiet(&browser);
    }
}

#[test]
fn hostile_words_stay_words() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::hostile());
    assert!(page.bytes < report::html::LIMIT_BYTES, "{}", page.bytes);
    browser.open(&page.path);
    browser.click("#s1");
    browser.click("#s1c0");
    assert!(browser.text("#detail").contains("</script><script>alert(1)"));
    assert!(
        browser.text("#detail .file").contains("invalid </script><img src=x onerror=alert(3)>")
    );
    let made = browser.script("return document.querySelectorAll('img, script:not(#data)').length");
    assert_eq!(made, 1, "just the page's own script");
    let text = browser.script("return document.documentElement.innerText");
    let text = text.as_str().unwrap();
    assert!(
        !text.contains(['\x1b', '\u{202e}', '\u{2028}', '\0']),
        "no control character is shown"
    );
    quiet(&browser);
}

#[test]
fn the_policy_stops_a_script_that_is_not_ours() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = page(&samples::proven());
    let html = std::fs::read_to_string(&page.path).unwrap();
    let forged = html.replace("<header>", "<header><script>document.title = 'forged'</script>");
    assert_ne!(forged, html);
    std::fs::write(&page.path, forged).unwrap();
    browser.open(&page.path);
    assert_eq!(
        browser.script("return document.title"),
        "proven: demo (rehearsal with stand-in addons)"
    );
    let console = browser.console().join("\n");
    assert!(console.contains("Content Security Policy"), "{console}");
}
