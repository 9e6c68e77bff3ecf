//! A small simulated world, for trying the laws themselves and for making
//! journals of every kind: each unit makes one thing of its own, and probes
//! make and remove another. It can refuse calls, and lose calls and answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use events::{
    Because, Call, CallClass, CheckName, Class, ClusterId, Digest, Evidence, Failure, IntentRef,
    Made, Permit, Plan, Unit, Verdict,
};

use super::{Effects, World};
use crate::{ActError, Eyes, Hands, SendError, Sight, Work};

/// The world. Clones are the same world.
#[derive(Clone)]
pub struct Harbour {
    plan: Plan,
    sea: Arc<Mutex<Sea>>,
    faults: Arc<BTreeMap<(Unit, u32), Fault>>,
}

/// What goes wrong with the n-th call or look of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call never arrives, and the caller knows.
    Refused(Class),
    /// The call never arrives, and the caller does not know.
    LostCall,
    /// The call arrives, and its answer does not.
    LostAnswer,
}

/// All that there is.
#[derive(Default)]
struct Sea {
    things: BTreeMap<String, u32>,
    mutations: u64,
    calls: BTreeMap<Unit, u32>,
    looks: BTreeMap<Unit, u32>,
}

/// The clients of one process.
pub struct Crew {
    harbour: Harbour,
    effects: Effects,
}

// === impl Harbour ===

impl Harbour {
    /// A world in which nothing goes wrong.
    pub fn calm(plan: Plan) -> Self {
        Self::rough(plan, BTreeMap::new())
    }

    /// A world with faults, by unit and number of the call.
    pub fn rough(plan: Plan, faults: BTreeMap<(Unit, u32), Fault>) -> Self {
        Self { plan, sea: Arc::default(), faults: Arc::new(faults) }
    }

    fn sea<T>(&self, look: impl FnOnce(&mut Sea) -> T) -> T {
        look(&mut self.sea.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Every class of call has its stages.
    fn class(&self, unit: &Unit) -> CallClass {
        let index = self.plan.stages.iter().position(|stage| stage.name == unit.stage);
        [CallClass::Named, CallClass::Once, CallClass::Unnamed, CallClass::Idempotent]
            [index.unwrap_or_default() % 4]
    }
}

impl World for Harbour {
    type Work = Crew;

    fn plan(&self, cluster: ClusterId) -> Plan {
        Plan { cluster_id: cluster, ..self.plan.clone() }
    }

    fn work(&self, effects: Effects) -> Arc<Crew> {
        Arc::new(Crew { harbour: self.clone(), effects })
    }

    fn mutations(&self) -> u64 {
        self.sea(|sea| sea.mutations)
    }

    fn check(&self) -> Result<(), String> {
        let things = self.sea(|sea| sea.things.clone());
        let expected = self.plan.units().map(|unit| (unit.to_string(), 1)).collect();
        if things == expected { Ok(()) } else { Err(format!("{things:?}")) }
    }
}

// === impl Crew ===

impl Crew {
    /// Sends a call that makes `name`, unless it is there already.
    async fn make(self: Arc<Self>, unit: Unit, name: String) -> Result<Made, SendError> {
        let idempotent = self.harbour.class(&unit) == CallClass::Idempotent;
        let fault = self.harbour.sea(|sea| {
            let calls = sea.calls.entry(unit.clone()).or_default();
            *calls += 1;
            self.harbour.faults.get(&(unit.clone(), *calls)).copied()
        });
        match fault {
            Some(Fault::Refused(class)) => return Err(refused(class)),
            Some(Fault::LostCall) => return Err(lost()),
            Some(Fault::LostAnswer) | None => {}
        }
        self.harbour.sea(|sea| {
            sea.mutations += 1;
            let thing = sea.things.entry(name.clone()).or_default();
            *thing = if idempotent { 1 } else { *thing + 1 };
        });
        self.effects.happened().await;
        if fault == Some(Fault::LostAnswer) { Err(lost()) } else { Ok(Made::id("thing", name)) }
    }

    async fn remove(self: Arc<Self>, name: String) -> Result<Made, SendError> {
        self.harbour.sea(|sea| {
            sea.mutations += 1;
            sea.things.remove(&name);
        });
        self.effects.happened().await;
        Ok(Made::default())
    }

    fn see(&self, name: &str) -> Sight {
        if self.harbour.sea(|sea| sea.things.contains_key(name)) {
            Sight::There(Made::id("thing", name))
        } else {
            Sight::NotThere
        }
    }

    fn crew(&self) -> Arc<Self> {
        Arc::new(Self { harbour: self.harbour.clone(), effects: self.effects.clone() })
    }
}

impl Work for Crew {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        let name = unit.to_string();
        let call = Call::new(self.harbour.class(unit), "make", &name, name.as_bytes());
        let (crew, unit, thing) = (self.crew(), unit.clone(), name.clone());
        let send = move |permit: Permit| {
            assert_eq!(permit.call().name, thing);
            crew.make(unit, thing)
        };
        hands.ensure(call, async |_| Ok(self.see(&name)), send).await?;
        Ok(())
    }

    async fn look(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        let (there, looks) = self.harbour.sea(|sea| {
            let looks = sea.looks.entry(unit.clone()).or_default();
            *looks += 1;
            (sea.things.contains_key(&unit.to_string()), *looks)
        });
        match looks {
            1 => Verdict::not_yet(Because::new("the tide is low").caused_by("the moon")),
            2 => Verdict::blind(Failure::transient("fog")),
            _ if there => Verdict::ready(Evidence::new("afloat").fact("looks", looks > 0)),
            _ => Verdict::not_yet("nothing to be seen"),
        }
    }

    async fn probe(&self, unit: &Unit, _: &CheckName, hands: &Hands) -> Result<Verdict, ActError> {
        let name = format!("probe of {unit}");
        let call = Call::new(CallClass::Unnamed, "make probe", &name, b"");
        let (crew, thing) = (self.crew(), name.clone());
        let of = Unit::whole(name.as_str());
        let send = move |_: Permit| async move {
            crew.harbour.sea(|sea| {
                sea.mutations += 1;
                *sea.things.entry(thing).or_default() += 1;
            });
            crew.effects.happened().await;
            Ok(Made::id("probe", of.to_string()))
        };
        hands.ensure(call, async |_| Ok(self.see(&name)), send).await?;
        let call = Call::new(CallClass::Idempotent, "remove probe", &name, b"");
        let (crew, thing) = (self.crew(), name.clone());
        let gone = async |_: Vec<IntentRef>| {
            Ok(match self.see(&name) {
                Sight::NotThere => Sight::There(Made::default()),
                _ => Sight::NotThere,
            })
        };
        hands.ensure(call, gone, |_| crew.remove(thing)).await?;
        let log = format!("the log of the {name}").into_bytes();
        let file = hands.eyes().attach("probe.log", log).await;
        let file = file.map_err(|error| Failure::permanent(error.to_string()))?;
        Ok(Verdict::ready(Evidence::new("probed").simulated().file(file)))
    }

    async fn inputs(&self, unit: &Unit, probe: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Ok(Digest::of(format!("{unit} {probe}").as_bytes()))
    }
}

fn refused(class: Class) -> SendError {
    SendError::refused(Failure::new(class, "the harbour master says no"))
}

fn lost() -> SendError {
    SendError::lost(Failure::transient("no answer"))
}
