//! Layers of images: tar archives, in memory or in files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::hex::hex;

/// A blob of an image: small ones are kept in memory, layers of programs that
/// take a hundred megabytes stay on disk.
#[derive(Debug, Clone)]
pub enum Blob {
    /// Its bytes.
    Memory(Vec<u8>),
    /// A file that holds it.
    File {
        /// Where.
        path: PathBuf,
        /// How long it is.
        size: u64,
    },
}

/// A layer that was written to a file.
#[derive(Debug, Clone)]
pub struct Layer {
    pub(super) digest: String,
    pub(super) blob: Blob,
}

impl Blob {
    /// Returns how many bytes it has.
    pub fn size(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { size, .. } => *size,
        }
    }

    /// Returns its bytes, read whole.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => Ok(bytes.clone()),
            Self::File { path, .. } => fs::read(path),
        }
    }
}

impl Layer {
    /// Writes a layer with one program at an absolute path into a folder of
    /// blobs.
    pub fn of_program(blobs: &Path, program: &Path, at: &str) -> io::Result<Self> {
        Self::write(blobs, |archive| {
            let at = at.trim_start_matches('/');
            for above in above(at) {
                append(archive, &above, EntryType::Directory, 0, io::empty())?;
            }
            let file = File::open(program)?;
            let size = file.metadata()?.len();
            append(archive, at, EntryType::Regular, size, file)
        })
    }

    /// Writes a layer with a folder's files, but for those that `without`
    /// names by the beginnings of their paths.
    pub fn of_tree(blobs: &Path, root: &Path, without: &[&str]) -> io::Result<Self> {
        Self::write(blobs, |archive| {
            archive.follow_symlinks(false);
            append_tree(archive, root, Path::new(""), without)
        })
    }

    /// Finds a layer that was written before.
    pub fn read(blobs: &Path, digest: &str) -> io::Result<Self> {
        let path = blobs.join(digest);
        let size = fs::metadata(&path)?.len();
        Ok(Self { digest: digest.to_owned(), blob: Blob::File { path, size } })
    }

    /// Returns the digest.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    fn write(
        blobs: &Path,
        pack: impl FnOnce(&mut Builder<&mut Hashing>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let staged = blobs.join("layer.new");
        let file = BufWriter::new(File::create(&staged)?);
        let mut out = Hashing { file, hash: Sha256::new(), size: 0 };
        let mut archive = Builder::new(&mut out);
        pack(&mut archive)?;
        archive.finish()?;
        drop(archive);
        out.file.flush()?;
        let digest = format!("sha256:{}", hex(&out.hash.finalize()));
        let path = blobs.join(&digest);
        fs::rename(staged, &path)?;
        Ok(Self { digest, blob: Blob::File { path, size: out.size } })
    }
}

/// A file that is hashed while it is written.
struct Hashing {
    file: BufWriter<File>,
    hash: Sha256,
    size: u64,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Appends an entry without time and owner: the same file gives the same
/// digest.
pub(super) fn append<W: Write>(
    archive: &mut Builder<W>,
    path: &str,
    kind: EntryType,
    size: u64,
    contents: impl io::Read,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(0o755);
    header.set_mtime(0);
    header.set_size(size);
    archive.append_data(&mut header, path, contents)
}

fn append_tree<W: Write>(
    archive: &mut Builder<W>,
    root: &Path,
    below: &Path,
    without: &[&str],
) -> io::Result<()> {
    let mut entries = fs::read_dir(root.join(below))?.collect::<io::Result<Vec<fs::DirEntry>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = below.join(entry.file_name());
        if without.iter().any(|start| path.starts_with(start)) {
            continue;
        }
        let kind = entry.file_type()?;
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        header.set_size(0);
        header.set_mode(entry.metadata()?.permissions().mode() & 0o7777);
        if kind.is_dir() {
            header.set_entry_type(EntryType::Directory);
            archive.append_data(&mut header, &path, io::empty())?;
            append_tree(archive, root, &path, without)?;
        } else if kind.is_symlink() {
            header.set_entry_type(EntryType::Symlink);
            archive.append_link(&mut header, &path, fs::read_link(entry.path())?)?;
        } else if kind.is_file() {
            header.set_entry_type(EntryType::Regular);
            header.set_size(entry.metadata()?.len());
            archive.append_data(&mut header, &path, File::open(entry.path())?)?;
        }
    }
    Ok(())
}

/// Returns the folders above a path, outermost first.
fn above(path: &str) -> Vec<String> {
    path.match_indices('/').map(|(end, _)| format!("{}/", &path[..end])).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn entries(layer: &Layer) -> Vec<String> {
        let bytes = layer.blob.read().unwrap();
        let mut archive = tar::Archive::new(bytes.as_slice());
        let path = |entry: tar::Entry<'_, &[u8]>| entry.path().unwrap().display().to_string();
        archive.entries().unwrap().map(|entry| path(entry.unwrap())).collect()
    }

    #[test]
    fn a_program_lies_where_it_was_asked_for() {
        let blobs = tempfile::tempdir().unwrap();
        let program = blobs.path().join("p");
        fs::write(&program, "x").unwrap();
        let layer = Layer::of_program(blobs.path(), &program, "/usr/bin/p").unwrap();
        assert_eq!(entries(&layer), ["usr/", "usr/bin/", "usr/bin/p"]);
        let again = Layer::of_program(blobs.path(), &program, "/usr/bin/p").unwrap();
        assert_eq!(layer.digest, again.digest);
    }

    #[test]
    fn a_tree_keeps_links_and_leaves_out_what_it_should() {
        let (root, blobs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(root.path().join("usr/share/doc")).unwrap();
        fs::write(root.path().join("usr/share/doc/x"), "long").unwrap();
        symlink("usr", root.path().join("bin")).unwrap();
        let layer = Layer::of_tree(blobs.path(), root.path(), &["usr/share/doc"]).unwrap();
        assert_eq!(entries(&layer), ["bin", "usr", "usr/share"]);
    }
}
