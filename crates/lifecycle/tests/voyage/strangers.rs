//! A machine that takes the place of one that was not there to be asked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use engine::{ActError, Eyes, Hands, Skip, Work};
use events::{CheckName, Clock, Digest, Failure, Unit, Verdict};
use lifecycle::up::Up;
use sim::talos::Stage;

use crate::harbour::Fall;
use crate::yard::Yard;

const WORKER: &str = "w-1";

/// A worker that was given its config and refuses connections passes as one that
/// waits for its control plane. What waits for a config there a moment later was
/// never asked who it is, and a config is full of secrets.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_nobody_identified_gets_no_config() {
    let yard = Arc::new(Yard::new(16));
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    let before = yard.effects();
    let ran = yard.up_with(Some("config"), |up| Swap { up, yard: Arc::clone(&yard) }).await;
    println!("{}", ran.text);
    assert_eq!(ran.falls, BTreeSet::from([Fall::act("config", 309)]), "{}", ran.text);
    assert!(ran.text.contains("w-1 waits for its config, and did not say who"), "{}", ran.text);
    assert_eq!(yard.effects(), before, "nothing was sent to any machine: {}", ran.text);
    assert!(yard.node(WORKER).config().is_none(), "{}", ran.text);

    // The next run asks it first, as the cause says.
    let ran = yard.up(Some("config")).await;
    assert!(ran.is_done, "{}", ran.text);
    assert!(yard.node(WORKER).config().is_some(), "{}", ran.text);
}

/// Switches the worker off before it is asked who it is, and puts an empty
/// machine into its place once the gate has let it pass.
struct Swap {
    up: Up,
    yard: Arc<Yard>,
}

impl Work for Swap {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        self.up.act(unit, hands).await
    }

    async fn look(&self, unit: &Unit, check: &CheckName, eyes: &Eyes) -> Verdict {
        let verdict = self.up.look(unit, check, eyes).await;
        let is_worker = unit.node.as_ref().is_some_and(|node| node.as_str() == WORKER);
        if !is_worker || !matches!(verdict, Verdict::Ready { .. }) {
            return verdict;
        }
        match unit.stage.as_str() {
            "nodes" => self.yard.node(WORKER).power_off(),
            "identity" => {
                self.yard.wipe(WORKER);
                while self.yard.node(WORKER).stage() != Stage::Maintenance {
                    Clock::real().sleep(Duration::from_millis(5)).await;
                }
            }
            _ => {}
        }
        verdict
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
