//! The binary; everything else is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    seaworthy::run()
}
