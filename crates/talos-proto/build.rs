//! Compiles our protocol files without the protocol compiler.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let files =
        ["machine", "image", "lifecycle", "storage", "security", "cosi", "cosi-meta", "specs"]
            .map(|name| format!("proto/{name}.proto"));
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile(files, ["proto"])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
