//! Container images packed from one static binary.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::hex::hex;
use crate::packages::is_static;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// An image of one layer with one file, in memory.
#[derive(Debug, Clone)]
pub struct Image {
    name: String,
    manifest: Descriptor,
    blobs: BTreeMap<String, Vec<u8>>,
}

/// A blob, as other blobs refer to it.
#[derive(Debug, Clone)]
struct Descriptor {
    media: &'static str,
    digest: String,
    size: usize,
}

impl Image {
    /// Packs a static binary as `/NAME`, which the image runs.
    pub fn pack(name: &str, binary: &Path) -> io::Result<Self> {
        if !is_static(binary)? {
            let text =
                format!("{} is not static: alone in an image it cannot run", binary.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let program = binary.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let layer = one_file(&program, &fs::read(binary)?)?;
        let mut image =
            Self { name: name.to_owned(), manifest: placeholder(), blobs: BTreeMap::new() };
        let layer = image.put(LAYER, layer);
        let config = json!({
            "architecture": architecture(),
            "os": "linux",
            "config": { "Entrypoint": [format!("/{program}")] },
            "rootfs": { "type": "layers", "diff_ids": [layer.digest] },
        });
        let config = image.put(CONFIG, config.to_string().into_bytes());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.json(),
            "layers": [layer.json()],
        });
        image.manifest = image.put(MANIFEST, manifest.to_string().into_bytes());
        Ok(image)
    }

    /// Returns the image's name, with its tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the digest of the manifest.
    pub fn digest(&self) -> &str {
        &self.manifest.digest
    }

    /// Returns a blob, if the image has one of that digest.
    pub fn blob(&self, digest: &str) -> Option<&[u8]> {
        self.blobs.get(digest).map(Vec::as_slice)
    }

    /// Returns the image as an archive that `ctr images import` takes.
    pub fn archive(&self) -> io::Result<Vec<u8>> {
        let mut entry = self.manifest.json();
        entry["annotations"] = json!({ "io.containerd.image.name": self.name });
        let index = json!({ "schemaVersion": 2, "manifests": [entry] });
        let mut archive = Builder::new(Vec::new());
        append(&mut archive, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#, 0o644)?;
        append(&mut archive, "index.json", index.to_string().as_bytes(), 0o644)?;
        for (digest, blob) in &self.blobs {
            append(&mut archive, &format!("blobs/{}", digest.replace(':', "/")), blob, 0o644)?;
        }
        archive.into_inner()
    }

    fn put(&mut self, media: &'static str, blob: Vec<u8>) -> Descriptor {
        let hash = hex(&Sha256::digest(&blob));
        let descriptor = Descriptor { media, digest: format!("sha256:{hash}"), size: blob.len() };
        self.blobs.insert(descriptor.digest.clone(), blob);
        descriptor
    }
}

impl Descriptor {
    fn json(&self) -> Value {
        json!({ "mediaType": self.media, "digest": self.digest, "size": self.size })
    }
}

fn placeholder() -> Descriptor {
    Descriptor { media: MANIFEST, digest: String::new(), size: 0 }
}

fn one_file(name: &str, contents: &[u8]) -> io::Result<Vec<u8>> {
    let mut layer = Builder::new(Vec::new());
    append(&mut layer, name, contents, 0o755)?;
    layer.into_inner()
}

fn append(
    archive: &mut Builder<Vec<u8>>,
    path: &str,
    contents: &[u8],
    mode: u32,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(mode);
    // No time and no owner: the same binary gives the same digest.
    header.set_mtime(0);
    header.set_size(contents.len() as u64);
    archive.append_data(&mut header, path, contents)
}

/// Returns the architecture in the words of container images.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn packed() -> Image {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("demo");
        fs::write(&binary, "pretends to be static").unwrap();
        Image::pack("rig.local/demo:v1", &binary).unwrap()
    }

    #[test]
    fn the_same_binary_gives_the_same_digest() {
        assert_eq!(packed().digest(), packed().digest());
    }

    #[test]
    fn the_manifest_leads_to_the_binary() {
        let image = packed();
        let manifest: Value = serde_json::from_slice(image.blob(image.digest()).unwrap()).unwrap();
        let layer = image.blob(manifest["layers"][0]["digest"].as_str().unwrap()).unwrap();
        let mut layer = tar::Archive::new(layer);
        let mut file = layer.entries().unwrap().next().unwrap().unwrap();
        let mut contents = String::new();
        file.read_to_string(&mut contents).unwrap();
        assert_eq!(file.path().unwrap().to_str(), Some("demo"));
        assert_eq!(file.header().mode().unwrap(), 0o755);
        assert_eq!(contents, "pretends to be static");
    }

    #[test]
    fn a_dynamic_binary_is_refused() {
        let error = Image::pack("rig.local/sh:v1", Path::new("/bin/sh")).unwrap_err();
        assert!(error.to_string().contains("not static"), "{error}");
    }
}
