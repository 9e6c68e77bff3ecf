//! Container images made of a few layers, each with what it needs and no more.

mod layer;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType};

use crate::hex::hex;
use crate::packages::is_static;
use layer::append;
pub use layer::{Blob, Layer};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// What programs of an image find their helpers by.
const SEARCH_PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// An image: its name and its blobs by digest.
#[derive(Debug, Clone)]
pub struct Image {
    name: String,
    manifest: String,
    blobs: BTreeMap<String, Blob>,
}

impl Image {
    /// Packs a static binary as `/NAME`, which the image runs, in memory.
    pub fn pack(name: &str, binary: &Path) -> io::Result<Self> {
        if !is_static(binary)? {
            let text =
                format!("{} is not static: alone in an image it cannot run", binary.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let program = binary.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let layer = one_file(&program, &fs::read(binary)?)?;
        let layer = Layer { digest: digest_of(&layer), blob: Blob::Memory(layer) };
        Ok(Self::assemble(name, &[layer], &format!("/{program}")))
    }

    /// Makes an image of layers that runs a program of theirs.
    pub fn assemble(name: &str, layers: &[Layer], program: &str) -> Self {
        let mut image =
            Self { name: name.to_owned(), manifest: String::new(), blobs: BTreeMap::new() };
        let digests: Vec<&str> = layers.iter().map(|layer| layer.digest.as_str()).collect();
        let config = json!({
            "architecture": architecture(),
            "os": "linux",
            "config": { "Entrypoint": [program], "Env": [SEARCH_PATH] },
            "rootfs": { "type": "layers", "diff_ids": digests },
        });
        let config = image.put(config.to_string().into_bytes());
        for layer in layers {
            image.blobs.insert(layer.digest.clone(), layer.blob.clone());
        }
        let of_layers: Vec<Value> =
            digests.iter().map(|digest| image.descriptor(LAYER, digest)).collect();
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": image.descriptor(CONFIG, &config),
            "layers": of_layers,
        });
        image.manifest = image.put(manifest.to_string().into_bytes());
        image
    }

    /// Returns the image's name, with its tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the digest of the manifest.
    pub fn digest(&self) -> &str {
        &self.manifest
    }

    /// Returns a blob, if the image has one of that digest.
    pub fn blob(&self, digest: &str) -> Option<&Blob> {
        self.blobs.get(digest)
    }

    /// Returns the image as an archive that `ctr images import` takes.
    pub fn archive(&self) -> io::Result<Vec<u8>> {
        let mut entry = self.descriptor(MANIFEST, &self.manifest);
        entry["annotations"] = json!({ "io.containerd.image.name": self.name });
        let index = json!({ "schemaVersion": 2, "manifests": [entry] }).to_string();
        let mut archive = Builder::new(Vec::new());
        let mut put = |path: &str, bytes: &[u8]| {
            append(&mut archive, path, EntryType::Regular, bytes.len() as u64, bytes)
        };
        put("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        put("index.json", index.as_bytes())?;
        for (digest, blob) in &self.blobs {
            put(&format!("blobs/{}", digest.replace(':', "/")), &blob.read()?)?;
        }
        archive.into_inner()
    }

    fn put(&mut self, bytes: Vec<u8>) -> String {
        let digest = digest_of(&bytes);
        self.blobs.insert(digest.clone(), Blob::Memory(bytes));
        digest
    }

    /// Returns a blob as other blobs refer to it.
    fn descriptor(&self, media: &str, digest: &str) -> Value {
        let size = self.blobs.get(digest).map_or(0, Blob::size);
        json!({ "mediaType": media, "digest": digest, "size": size })
    }
}

fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

fn one_file(name: &str, contents: &[u8]) -> io::Result<Vec<u8>> {
    let mut layer = Builder::new(Vec::new());
    append(&mut layer, name, EntryType::Regular, contents.len() as u64, contents)?;
    layer.into_inner()
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
        let manifest: Value =
            serde_json::from_slice(&image.blob(image.digest()).unwrap().read().unwrap()).unwrap();
        let layer = image.blob(manifest["layers"][0]["digest"].as_str().unwrap()).unwrap();
        let layer = layer.read().unwrap();
        let mut layer = tar::Archive::new(layer.as_slice());
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
