//! The gate of metrics-server: the API server reaches it.

use events::{Failure, Verdict};
use serde_json::Value;

use super::stand_in::{API, NAME};
use crate::codes;
use crate::gate::{
    Finding, Gate, Inquiry, Look, Need, Replicated, Seen, condition, has_condition, kinds, text,
    verdict,
};

/// Proves that the metrics API is available, and that it is this server's.
#[derive(Clone, Debug)]
pub struct MetricsServerGate {
    /// Where the server is.
    pub namespace: String,
}

impl MetricsServerGate {
    fn server(&self) -> Replicated<'_> {
        Replicated {
            namespace: &self.namespace,
            name: NAME,
            labels: "app.kubernetes.io/name=metrics-server",
        }
    }

    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        self.server().judge(seen, &mut inquiry)?;
        let finding = match seen.get(&api())? {
            None => Some(unavailable("it does not exist".to_owned())),
            Some(service) => self.lacking(service),
        };
        inquiry.found_all(finding);
        Ok(inquiry.conclude(format!("{API} is available")))
    }

    fn lacking(&self, service: &Value) -> Option<Finding> {
        let is_ours = text(service, "/spec/service/name") == Some(NAME)
            && text(service, "/spec/service/namespace") == Some(&self.namespace);
        if !is_ours {
            return Some(unavailable("it belongs to another service".to_owned()));
        }
        if has_condition(service, "Available", "True") {
            return None;
        }
        let said = condition(service, "Available").and_then(|one| text(one, "/message"));
        Some(unavailable(said.unwrap_or("nobody has looked at it yet").to_owned()))
    }
}

impl Gate for MetricsServerGate {
    fn needs(&self) -> Vec<Need> {
        let mut needs = self.server().needs();
        needs.push(api().decides());
        needs
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

fn api() -> Look {
    Look::one(kinds::API_SERVICE, API)
}

fn unavailable(why: String) -> Finding {
    Finding::new(codes::METRICS_UNAVAILABLE, format!("{API} is not available"))
        .because([why])
        .next(format!("kubectl describe apiservice {API}"), "tells which step fails")
}
