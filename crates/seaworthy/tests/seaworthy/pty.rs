//! A terminal of 80 columns for a command of ours.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A terminal: what is written to its inner side is seen outside.
pub(crate) struct Pty {
    outside: File,
    inside: File,
}

impl Pty {
    pub(crate) fn open() -> Self {
        let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&outside).unwrap();
        unlockpt(&outside).unwrap();
        let name = ptsname(&outside, Vec::new()).unwrap().into_string().unwrap();
        let inside = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(inside.as_fd(), size).unwrap();
        Self { outside: File::from(outside), inside }
    }

    /// Returns the terminal for a stream of a command.
    pub(crate) fn stream(&self) -> Stdio {
        Stdio::from(self.inside.try_clone().unwrap())
    }

    /// Runs a command that has got streams of this terminal, and returns what was seen.
    pub(crate) fn watch(self, mut command: Command) -> String {
        let Self { mut outside, inside } = self;
        let mut child = command.spawn().unwrap();
        drop((command, inside));
        let mut seen = Vec::new();
        // Reading fails, rather than ends, when the other side is closed.
        let _ = outside.read_to_end(&mut seen);
        child.wait().unwrap();
        String::from_utf8_lossy(&seen).into_owned()
    }
}
