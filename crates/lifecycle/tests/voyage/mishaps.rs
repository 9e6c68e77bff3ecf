//! What goes wrong in the state folder: the same law as for the faults of the
//! world.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::{ActError, Eyes, Hands, Skip, Work};
use events::{CheckName, Digest, Failure, Unit, Verdict};
use lifecycle::up::Up;
use lifecycle::{MISHAPS, Mishap};

use crate::harbour::{Fall, Harbour, new_bundle};

#[tokio::test(flavor = "multi_thread")]
async fn every_mishap_is_named() {
    for (number, mishap) in MISHAPS.iter().enumerate() {
        let harbour = Harbour::new(&format!("{}", 200 + number), 1, 0).await;
        let bundle = harbour.root().join("secrets.yaml");
        let kept = std::fs::read(&bundle).unwrap();
        let ran = match mishap.name {
            "bundle-lost" => {
                assert!(harbour.up(Some("nodes")).await.is_done);
                std::fs::remove_file(&bundle).unwrap();
                harbour.up(Some("nodes")).await
            }
            "bundle-replaced" => {
                harbour.up_with(Some("nodes"), |up| Meddler { up, bundle: bundle.clone() }).await
            }
            other => panic!("nobody lets {other} happen"),
        };
        let Mishap { check, code, .. } = *mishap;
        let expected = BTreeSet::from([Fall::check(check, check, code.0)]);
        assert_eq!(ran.falls, expected, "{}: {}", mishap.name, ran.text);
        std::fs::write(&bundle, kept).unwrap();
        let ran = harbour.up(Some("nodes")).await;
        assert!(ran.is_done, "{}, undone: {}", mishap.name, ran.text);
    }
}

/// Replaces the bundle after it was loaded and before the gate looks at it.
struct Meddler {
    up: Up,
    bundle: PathBuf,
}

impl Work for Meddler {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        self.up.act(unit, hands).await?;
        if unit.stage.as_str() == "secrets" {
            std::fs::remove_file(&self.bundle).unwrap();
            new_bundle(2).save_new(&self.bundle).unwrap();
        }
        Ok(())
    }

    async fn look(&self, unit: &Unit, check: &CheckName, eyes: &Eyes) -> Verdict {
        self.up.look(unit, check, eyes).await
    }

    async fn probe(&self, unit: &Unit, of: &CheckName, hands: &Hands) -> Result<Verdict, ActError> {
        self.up.probe(unit, of, hands).await
    }

    async fn inputs(&self, unit: &Unit, probe: &CheckName, eyes: &Eyes) -> Result<Digest, Failure> {
        self.up.inputs(unit, probe, eyes).await
    }

    fn skip(&self, unit: &Unit, check: Option<&CheckName>) -> Option<Skip> {
        self.up.skip(unit, check)
    }
}
