//! What peers say to people, and where they are said to be.

use ::peers::{Proxies, ProxyVariables};
use events::text as shown;

use crate::{Target, text};

pub(crate) const TARGETS: &[Target] = &[
    Target { name: "foreign-text", seeds: TEXTS, feed: show_text },
    Target { name: "proxy", seeds: PROXIES, feed: read_proxies },
];

const TEXTS: &[&str] = &[
    "\u{1b}[31mred\u{1b}[0m and \u{1b}]0;title\u{7} and \u{1b}[2J",
    "abc\u{202e}cba\u{2066} one\r\ntwo\u{85}three\u{9b}8m",
    "\u{1b}[38;5;1;8mconcealed",
];

/// The URL of a proxy, and on a second line what is not proxied.
const PROXIES: &[&str] = &[
    "http://bob:p%40ss@proxy.example:3128\n.example.com,10.0.0.0/8,[fd00::1]:443,*",
    "socks5h://[fd00::1]\nlocalhost:80",
    "https://proxy\n",
];

fn show_text(bytes: &[u8]) {
    text(bytes, |foreign| {
        let line = shown::line(foreign);
        assert!(!line.contains(shown::is_steering), "a line steers the terminal: {line:?}");
        let block = shown::block(foreign);
        let steers = |symbol| !matches!(symbol, '\n' | '\t') && shown::is_steering(symbol);
        assert!(!block.contains(steers), "a block steers the terminal: {block:?}");
        let ours = shown::shown_with_colours(foreign);
        assert_eq!(shown::shown_with_colours(&ours), ours, "what was shown is shown otherwise");
    });
}

fn read_proxies(bytes: &[u8]) {
    text(bytes, |both| {
        let (proxy, no) = both.split_once('\n').unwrap_or((both, ""));
        let (https, no) = (Some(proxy.to_owned()), Some(no.to_owned()));
        let read = Proxies::of(&ProxyVariables { https, http: None, no });
        let _ = read.map(|proxies| format!("{proxies:?}")).map_err(|error| error.to_string());
    });
}
