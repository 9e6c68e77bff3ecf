//! Answering the owner of a world.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};

use super::{Answer, FaultNow, MachineNow, Place, Question};
use crate::world::World;
use crate::world::fault::{Cast, FAULTS, Fault};

/// The longest question that is read.
const LONGEST: u64 = 64 << 10;

/// How long somebody may take to ask, in real time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that answers until it is dropped; its socket goes with it.
#[derive(Debug)]
pub struct Admin {
    place: Place,
    inode: u64,
    task: AbortHandle,
    end: Arc<Notify>,
}

/// Answers at a place for a world until the handle is dropped.
pub fn serve(place: Place, world: Arc<World>, cast: Cast) -> io::Result<Admin> {
    let listener = place.listen()?;
    listener.set_nonblocking(true)?;
    let (listener, owner) = (UnixListener::from_std(listener)?, place.owner()?);
    let (inode, end) = (place.inode()?, Arc::new(Notify::new()));
    let desk = Arc::new(Desk { world, cast, end: Arc::clone(&end) });
    let task = tokio::spawn(async move {
        let mut talks = JoinSet::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            // Between its making and its mode the socket was open to others.
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == owner) {
                let talk = Arc::clone(&desk).talk(stream);
                talks.spawn(async move { tokio::time::timeout(PATIENCE, talk).await });
            }
            while talks.try_join_next().is_some() {}
        }
    });
    Ok(Admin { place, inode, task: task.abort_handle(), end })
}

impl Admin {
    /// Waits until the owner asks for the end of the world.
    pub async fn ended(&self) {
        self.end.notified().await;
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.task.abort();
        // It may be gone with its folder, or be another world's by now.
        if self.place.inode().is_ok_and(|inode| inode == self.inode) {
            let _ = std::fs::remove_file(self.place.path());
        }
    }
}

struct Desk {
    world: Arc<World>,
    cast: Cast,
    end: Arc<Notify>,
}

impl Desk {
    /// Answers one question; whoever hangs up before has none.
    async fn talk(self: Arc<Self>, mut stream: UnixStream) -> io::Result<()> {
        let (reading, mut writing) = stream.split();
        let mut line = String::new();
        BufReader::new(reading.take(LONGEST)).read_line(&mut line).await?;
        let answer = match serde_json::from_str(&line) {
            Ok(question) => self.answer(&question),
            Err(error) => Answer::Refused { why: format!("not a question: {error}") },
        };
        let mut said = serde_json::to_vec(&answer).map_err(io::Error::other)?;
        said.push(b'\n');
        writing.write_all(&said).await?;
        writing.shutdown().await?;
        // Not before the answer is out: the process may end at once.
        if answer == Answer::Ending {
            self.end.notify_one();
        }
        Ok(())
    }

    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Faults => self.faults(),
            Question::Strike { fault } => self.turn(fault, Fault::strike),
            Question::Mend { fault } => self.turn(fault, Fault::mend),
            Question::Counters => Answer::Counters { counters: self.world.effects().counters() },
            Question::Machines => self.machines(),
            Question::End => Answer::Ending,
        }
    }

    fn turn(&self, name: &str, turn: fn(&Fault, &World, &Cast)) -> Answer {
        let Some(fault) = Fault::named(name) else {
            return Answer::Refused { why: format!("there is no fault {name}") };
        };
        turn(fault, &self.world, &self.cast);
        self.faults()
    }

    fn faults(&self) -> Answer {
        let struck = self.world.faults();
        let now = |fault: &Fault| FaultNow {
            name: fault.name.to_owned(),
            does: fault.does.to_owned(),
            struck: struck.contains(fault.name),
        };
        Answer::Faults { faults: FAULTS.iter().map(now).collect() }
    }

    fn machines(&self) -> Answer {
        let now = |name: String| {
            let node = self.world.node(&name)?;
            let facts = node.facts();
            Some(MachineNow {
                name,
                address: facts.address,
                instance: facts.instance_id.clone(),
                stage: node.stage().name().to_owned(),
                failure: node.failure(),
            })
        };
        Answer::Machines { machines: self.world.nodes().into_iter().filter_map(now).collect() }
    }
}
