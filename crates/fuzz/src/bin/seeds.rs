//! Writes the seeds of every target into a folder: `seeds FOLDER`.

use std::fs::{create_dir_all, write};
use std::io;
use std::path::PathBuf;

use fuzz::targets;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("usage: seeds FOLDER"))?;
    for target in targets() {
        let corpus = folder.join(target.name);
        create_dir_all(&corpus)?;
        for (number, seed) in target.seeds.iter().enumerate() {
            write(corpus.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
