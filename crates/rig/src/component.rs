//! The catalogue: which component, which version, where it comes from.

use std::sync::OnceLock;

use serde::Deserialize;

/// One real component, as `versions.json` describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// The name of the component, and of its binary where it is built.
    pub name: String,
    /// The pinned version, or `host` for what the distribution provides.
    pub version: String,
    /// 1 is a control plane, 2 adds a node and the tools, 3 is Talos.
    pub tier: u8,
    /// How long building takes on two quiet cores, for the estimate.
    pub seconds: u64,
    /// Where it comes from.
    pub from: Origin,
    /// How a finished binary proves to be what was asked for.
    pub check: Option<Check>,
}

/// Where a component comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Origin {
    /// Built from a package that a module in `modules/` pins, with its go.sum.
    Wrapper {
        /// The folder below `modules/`.
        module: String,
        /// The package to build.
        package: String,
        /// The build tags.
        #[serde(default)]
        tags: Vec<String>,
    },
    /// Built by `go install module/package@version`.
    Install {
        /// The Go module.
        module: String,
        /// The package below it.
        package: String,
    },
    /// Built in a copy of the module's source: its go.mod has replacements,
    /// which `go install` refuses, or its module proxy has no list of versions,
    /// which `go install` asks for.
    Copy {
        /// The Go module.
        module: String,
        /// The package to build inside the copy.
        package: String,
    },
    /// A folder of a module's files, taken as they are.
    Files {
        /// The Go module.
        module: String,
        /// The folder inside it.
        folder: String,
    },
    /// Programs that the distribution installs; the first stands for the
    /// component.
    Debian(Vec<Packaged>),
    /// The root file system of a small Debian.
    Debootstrap {
        /// The release.
        suite: String,
        /// What it has besides the base.
        packages: Vec<String>,
    },
}

/// A program and the Debian package that brings it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packaged {
    /// The program's name, or its path where it is not on `PATH`.
    pub program: String,
    /// The package.
    pub package: String,
}

/// A command whose output proves the version of a finished binary.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The program that looks at the binary, where running that would be
    /// unwise: an init would take itself for this machine's.
    pub by: Option<String>,
    /// The arguments to run the binary with, or for the program that looks.
    pub args: Vec<String>,
    /// What its output must contain.
    pub prints: String,
}

/// Returns all components, tier by tier, in the order in which they are built.
pub fn catalogue() -> &'static [Component] {
    #[derive(Deserialize)]
    struct Versions {
        components: Vec<Component>,
    }
    static CATALOGUE: OnceLock<Vec<Component>> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let versions: Versions = serde_json::from_str(include_str!("../versions.json"))
            .expect("versions.json is checked by a test");
        versions.components
    })
}

/// Returns the component of that name, if the catalogue has it.
pub fn component(name: &str) -> Option<&'static Component> {
    catalogue().iter().find(|component| component.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_sorted_by_tier_and_names_are_unique() {
        let tiers: Vec<u8> = catalogue().iter().map(|component| component.tier).collect();
        assert!(tiers.is_sorted());
        let mut names: Vec<&str> = catalogue().iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), catalogue().len());
    }

    #[test]
    fn every_built_component_has_a_check() {
        for component in catalogue() {
            let built = !matches!(
                component.from,
                Origin::Debian(_) | Origin::Files { .. } | Origin::Debootstrap { .. }
            );
            assert_eq!(built, component.check.is_some(), "{}", component.name);
        }
    }

    #[test]
    fn wrapper_modules_pin_the_version_of_the_catalogue() {
        for component in catalogue().iter().filter(|c| c.version != "v1") {
            let Origin::Wrapper { module, .. } = &component.from else {
                continue;
            };
            let path = format!("{}/modules/{module}/go.mod", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let required = text.lines().find(|line| line.starts_with("require ")).unwrap();
            assert!(required.ends_with(&component.version), "{required}");
        }
    }
}
