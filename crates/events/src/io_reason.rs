//! Words for errors of the operating system.

use std::io;

/// `EMFILE` and `ENFILE`, which have these numbers on Linux and macOS. The
/// standard library has no kind for them.
const PROCESS_FILES: i32 = 24;
const SYSTEM_FILES: i32 = 23;

/// Says what the operating system refused, without its error number: `permission
/// denied`, `too many open files (raise the limit with ulimit -n)`.
pub fn io_reason(error: &io::Error) -> String {
    match (error.raw_os_error(), error.kind()) {
        (Some(PROCESS_FILES), _) => {
            "too many open files in this process (raise the limit with `ulimit -n`)".to_owned()
        }
        (Some(SYSTEM_FILES), _) => "too many open files on this machine".to_owned(),
        (_, io::ErrorKind::OutOfMemory) => {
            "out of memory (`ulimit -v` or a memory limit of the container)".to_owned()
        }
        (Some(_), _) => without_number(&error.to_string()),
        (None, _) => error.to_string(),
    }
}

fn without_number(text: &str) -> String {
    let text = text.rsplit_once(" (os error ").map_or(text, |(words, _)| words);
    let mut rest = text.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_reason_names_what_ran_out_and_no_number() {
        let of = |code| io_reason(&io::Error::from_raw_os_error(code));
        assert!(of(24).starts_with("too many open files in this process"));
        assert!(of(12).starts_with("out of memory"));
        assert_eq!(of(111), "connection refused");
        assert_eq!(of(2), "no such file or directory");
        assert_eq!(io_reason(&io::Error::other("x")), "x");
    }
}
