//! Just enough of a driver to use a page like a reader does.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A headless Chromium with one page.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: TempDir,
}

/// The size of a window.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

pub(crate) const DESKTOP: Window = Window { width: 1360, height: 900 };
pub(crate) const PHONE: Window = Window { width: 390, height: 844 };

pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const ESCAPE: &str = "\u{e00c}";
pub(crate) const DOWN: &str = "\u{e015}";
pub(crate) const RIGHT: &str = "\u{e014}";

impl Browser {
    /// Starts a browser, or records that the test was skipped because there is none.
    pub(crate) fn start() -> Option<Self> {
        let rig::need::Browser { chromium, driver } = rig::need::browser()?;
        // Whatever the browser leaves behind goes away with its profile.
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .env("TMPDIR", profile.path())
            .env("HOME", profile.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let port = port_of(&mut driver);
        let mut browser = Self { driver, port, session: String::new(), profile };
        let data = format!("--user-data-dir={}", browser.profile.path().join("profile").display());
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "binary": chromium, "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-dev-shm-usage", data,
            ]},
        }}});
        let answer = browser.request("POST", "/session", &capabilities);
        answer["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        browser.resize(DESKTOP);
        Some(browser)
    }

    pub(crate) fn open(&self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.post("/url", &json!({ "url": url }));
    }

    pub(crate) fn resize(&self, window: Window) {
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({
                "width": window.width, "height": window.height,
                "deviceScaleFactor": 1, "mobile": window.width < 700,
            }),
        );
    }

    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.cdp("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Clicks in the middle of the first element that matches, as a mouse would.
    pub(crate) fn click(&self, css: &str) {
        let element = self.element(css);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types into whatever has the focus.
    pub(crate) fn press(&self, keys: &str) {
        let active =
            self.request("GET", &format!("/session/{}/element/active", self.session), &Value::Null);
        let id = element_id(&active);
        self.post(&format!("/element/{id}/value"), &json!({ "text": keys }));
    }

    pub(crate) fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Returns the visible text of the first element that matches.
    pub(crate) fn text(&self, css: &str) -> String {
        let text = self.script(&format!("return document.querySelector({css:?})?.innerText ?? ''"));
        text.as_str().unwrap().to_owned()
    }

    pub(crate) fn screenshot(&self) -> Vec<u8> {
        let path = format!("/session/{}/screenshot", self.session);
        let picture = self.request("GET", &path, &Value::Null);
        base64::engine::general_purpose::STANDARD.decode(picture.as_str().unwrap()).unwrap()
    }

    /// Returns what the console said since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().unwrap().iter();
        entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    fn cdp(&self, command: &str, parameters: &Value) {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    fn element(&self, css: &str) -> String {
        let found = self.post("/element", &json!({ "using": "css selector", "value": css }));
        element_id(&found)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}{path}", self.session), body)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let (head, body) = answer(&mut BufReader::new(stream));
        let mut value: Value = serde_json::from_slice(&body).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{method} {path}: {value:#}");
        value["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.request("DELETE", &format!("/session/{}", self.session), &Value::Null);
        } else if !self.session.is_empty() {
            // A second panic would abort: ask, and do not mind the answer.
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
                let _ = write!(
                    stream,
                    "DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                    self.session
                );
                let _ = stream.read(&mut [0; 64]);
            }
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        remove(self.profile.path());
    }
}

/// The browser's last process may still be writing while it goes.
#[expect(clippy::disallowed_methods, reason = "a real process takes real time to end")]
fn remove(folder: &Path) {
    for _ in 0..100 {
        if std::fs::remove_dir_all(folder).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The driver keeps the connection open, so that the length has to be obeyed.
fn answer(stream: &mut impl BufRead) -> (String, Vec<u8>) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0, "the driver hung up");
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

fn port_of(driver: &mut Child) -> u16 {
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let line = lines
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.contains("successfully on port"))
        .unwrap();
    // Whatever it says later has to go somewhere.
    std::thread::spawn(move || lines.for_each(drop));
    line.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap()
}

fn element_id(found: &Value) -> String {
    let fields = found.as_object().unwrap();
    fields.values().next().unwrap().as_str().unwrap().to_owned()
}
