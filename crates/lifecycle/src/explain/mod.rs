//! A page for every code: what it means, how it shows, what to do.
//!
//! The pages of the stages are files, so that they are read and mended as
//! texts; the addons bring theirs along.

use std::fmt;

use events::{Code, Heals};

use crate::healing;

/// What is known about a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// What is the matter, in one line.
    pub title: &'static str,
    /// Whether it goes away by waiting, unless the cause itself says otherwise.
    pub heals: Heals,
    /// What it means and what to do, as Markdown.
    pub body: &'static str,
}

/// The pages of the engine and the stages; the first line of each is its title.
const FILES: &[(Code, &str)] = &[
    (Code(100), include_str!("pages/SW0100.md")),
    (Code(101), include_str!("pages/SW0101.md")),
    (Code(102), include_str!("pages/SW0102.md")),
    (Code(103), include_str!("pages/SW0103.md")),
    (Code(104), include_str!("pages/SW0104.md")),
    (Code(201), include_str!("pages/SW0201.md")),
    (Code(202), include_str!("pages/SW0202.md")),
    (Code(203), include_str!("pages/SW0203.md")),
    (Code(204), include_str!("pages/SW0204.md")),
    (Code(205), include_str!("pages/SW0205.md")),
    (Code(206), include_str!("pages/SW0206.md")),
    (Code(207), include_str!("pages/SW0207.md")),
    (Code(208), include_str!("pages/SW0208.md")),
    (Code(209), include_str!("pages/SW0209.md")),
    (Code(210), include_str!("pages/SW0210.md")),
    (Code(301), include_str!("pages/SW0301.md")),
    (Code(302), include_str!("pages/SW0302.md")),
    (Code(303), include_str!("pages/SW0303.md")),
    (Code(304), include_str!("pages/SW0304.md")),
    (Code(305), include_str!("pages/SW0305.md")),
    (Code(306), include_str!("pages/SW0306.md")),
    (Code(307), include_str!("pages/SW0307.md")),
    (Code(308), include_str!("pages/SW0308.md")),
    (Code(309), include_str!("pages/SW0309.md")),
    (Code(310), include_str!("pages/SW0310.md")),
    (Code(311), include_str!("pages/SW0311.md")),
    (Code(312), include_str!("pages/SW0312.md")),
    (Code(313), include_str!("pages/SW0313.md")),
    (Code(314), include_str!("pages/SW0314.md")),
    (Code(315), include_str!("pages/SW0315.md")),
    (Code(316), include_str!("pages/SW0316.md")),
    (Code(317), include_str!("pages/SW0317.md")),
    (Code(318), include_str!("pages/SW0318.md")),
    (Code(319), include_str!("pages/SW0319.md")),
    (Code(320), include_str!("pages/SW0320.md")),
    (Code(321), include_str!("pages/SW0321.md")),
    (Code(322), include_str!("pages/SW0322.md")),
    (Code(323), include_str!("pages/SW0323.md")),
    (Code(324), include_str!("pages/SW0324.md")),
    (Code(325), include_str!("pages/SW0325.md")),
    (Code(326), include_str!("pages/SW0326.md")),
    (Code(327), include_str!("pages/SW0327.md")),
    (Code(328), include_str!("pages/SW0328.md")),
    (Code(329), include_str!("pages/SW0329.md")),
    (Code(330), include_str!("pages/SW0330.md")),
    (Code(331), include_str!("pages/SW0331.md")),
    (Code(501), include_str!("pages/SW0501.md")),
    (Code(502), include_str!("pages/SW0502.md")),
    (Code(503), include_str!("pages/SW0503.md")),
    (Code(504), include_str!("pages/SW0504.md")),
    (Code(505), include_str!("pages/SW0505.md")),
    (Code(506), include_str!("pages/SW0506.md")),
    (Code(507), include_str!("pages/SW0507.md")),
    (Code(508), include_str!("pages/SW0508.md")),
    (Code(601), include_str!("pages/SW0601.md")),
    (Code(602), include_str!("pages/SW0602.md")),
    (Code(603), include_str!("pages/SW0603.md")),
];

/// Returns all pages, by code.
pub fn pages() -> Vec<Page> {
    let ours = FILES.iter().map(|(code, text)| read(*code, text));
    let addons = addons::codes::PAGES.iter();
    let addons = addons.map(|it| Page {
        code: it.code,
        title: it.title,
        heals: healing::of(it.code),
        body: it.text,
    });
    let mut pages: Vec<_> = ours.chain(addons).collect();
    pages.sort_by_key(|page| page.code);
    pages
}

/// Returns the page of a code.
pub fn explain(code: Code) -> Option<Page> {
    pages().into_iter().find(|page| page.code == code)
}

fn read(code: Code, text: &'static str) -> Page {
    let (first, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let title = first.split_once(": ").map_or(first, |(_, title)| title);
    Page { code, title, heals: healing::of(code), body }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, title, heals, body } = self;
        write!(f, "# {code}: {title}\n\nHeals {heals}.\n\n{}\n", body.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_page() {
        let pages = pages();
        assert!(pages.is_sorted_by(|a, b| a.code < b.code), "each code once, in order");
        assert!(pages.len() > 50, "{}", pages.len());
        for page in &pages {
            assert!(!page.title.is_empty() && !page.body.is_empty(), "{}", page.code);
            assert!(page.body.lines().all(|line| line.chars().count() <= 100), "{}", page.code);
        }
        assert_eq!(explain(Code(9999)), None);
    }

    #[test]
    fn the_files_are_named_by_their_codes_and_say_what_to_do() {
        for (code, text) in FILES {
            assert!(text.starts_with(&format!("# {code}: ")), "{code}");
            for part in ["**Means.**", "**Shows.**", "**Do.**"] {
                assert!(text.contains(part), "{code} lacks {part}");
            }
        }
    }

    #[test]
    fn the_engine_s_causes_have_pages() {
        use engine::codes;
        for code in [
            codes::BUG,
            codes::NOT_READY_IN_TIME,
            codes::COULD_NOT_LOOK,
            codes::REFUSED,
            codes::NO_SUCCESS_IN_TIME,
        ] {
            assert!(explain(code).is_some(), "{code}");
        }
    }
}
