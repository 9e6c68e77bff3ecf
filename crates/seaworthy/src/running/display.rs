//! Telling a run while it goes on, from a thread of its own: a terminal that
//! takes its time holds up nothing.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use events::{Clock, Event, Observer, StageName};
use report::Story;
use report::terminal::{Live, Palette, Plain, Printer, Screen, say};

use crate::commands::palette;
use crate::patient;
use crate::ui::Ui;

/// Shows a run.
pub(super) struct Display {
    shows: Sender<Show>,
    thread: JoinHandle<Story>,
    abandoned: Receiver<()>,
}

/// What is to be shown.
enum Show {
    Event(Box<Event>),
    Usual(BTreeMap<StageName, u64>),
    Say {
        verb: &'static str,
        words: String,
    },
    /// Nothing comes after it.
    End,
}

/// The thread's side.
struct Screenwriter {
    clock: Clock,
    palette: Palette,
    story: Story,
    view: View,
    /// Whether nobody reads any more. The run goes on without a reader.
    is_gone: bool,
}

/// The two ways to show it.
enum View {
    Live(Live),
    Plain(Plain),
}

/// Ten frames a second: a clock that moves, and nothing that flickers.
const FRAME: Duration = Duration::from_millis(100);

/// How long the last words may take where the end must be at once.
const LAST_WORDS: Duration = Duration::from_millis(200);

// === impl Display ===

impl Display {
    pub(super) fn start(ui: &Ui, clock: Clock) -> io::Result<Self> {
        let (shows, incoming) = mpsc::channel();
        let (done, abandoned) = mpsc::channel();
        let (palette, moves) = (palette(ui), ui.moves());
        let thread = std::thread::Builder::new().name("display".to_owned()).spawn(move || {
            let story = Screenwriter::new(clock, palette, moves).show(&incoming);
            // Nobody waits for it after an ordinary end.
            let _ = done.send(());
            story
        })?;
        Ok(Self { shows, thread, abandoned })
    }

    /// Returns who watches the journal for the display.
    pub(super) fn observer(&self) -> Observer {
        let shows = self.shows.clone();
        Box::new(move |event| {
            let _ = shows.send(Show::Event(Box::new(event.clone())));
        })
    }

    /// Tells how long stages usually take.
    pub(super) fn usual(&self, usual: BTreeMap<StageName, u64>) {
        let _ = self.shows.send(Show::Usual(usual));
    }

    /// Shows a line that is not of the run.
    pub(super) fn say(&self, verb: &'static str, words: &str) {
        let _ = self.shows.send(Show::Say { verb, words: words.to_owned() });
    }

    /// Shows all that is left, and returns the story as it was told.
    pub(super) fn finish(self) -> Story {
        let _ = self.shows.send(Show::End);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Shows last words, and waits only a moment for them to be seen.
    pub(super) fn abandon(&self, verb: &'static str, words: &str) {
        patient::hurry();
        self.say(verb, words);
        let _ = self.shows.send(Show::End);
        let _ = self.abandoned.recv_timeout(LAST_WORDS);
    }
}

// === impl Screenwriter ===

impl Screenwriter {
    fn new(clock: Clock, palette: Palette, moves: bool) -> Self {
        let view = match screen().filter(|_| moves) {
            Some(screen) => View::Live(Live::new(palette, screen)),
            None => View::Plain(Plain::new(palette)),
        };
        Self { clock, palette, story: Story::default(), view, is_gone: false }
    }

    fn show(mut self, shows: &Receiver<Show>) -> Story {
        loop {
            let drawn = match shows.recv_timeout(FRAME) {
                Ok(Show::End) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(show) => self.take(show),
                Err(RecvTimeoutError::Timeout) => self.tick(),
            };
            self.is_gone |= drawn.is_err();
        }
        self.story
    }

    fn take(&mut self, show: Show) -> io::Result<()> {
        match show {
            Show::Event(event) => {
                self.story.apply(&event);
                self.draw(|view, story, out| view.printer().event(story, &event, out))
            }
            Show::Usual(usual) => {
                if let View::Live(live) = &mut self.view {
                    live.compare(usual);
                }
                Ok(())
            }
            Show::Say { verb, words } => {
                let palette = self.palette;
                self.draw(|view, _, out| view.say(palette, verb, &words, out))
            }
            Show::End => Ok(()),
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        if let (View::Live(live), Some(screen)) = (&mut self.view, screen()) {
            live.resize(screen);
        }
        let elapsed = u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.draw(|view, story, out| view.printer().tick(story, elapsed, out))
    }

    fn draw(
        &mut self,
        draw: impl FnOnce(&mut View, &Story, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        // Not through a stream that strips escapes: the palette has decided
        // about colour, and a frame has to move without it too.
        draw(&mut self.view, &self.story, &mut patient::stderr())
    }
}

// === impl View ===

impl View {
    fn printer(&mut self) -> &mut dyn Printer {
        match self {
            Self::Live(live) => live,
            Self::Plain(plain) => plain,
        }
    }

    fn say(
        &mut self,
        palette: Palette,
        verb: &str,
        words: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Live(live) => live.say(verb, words, out),
            Self::Plain(_) => say(palette, verb, words, out),
        }
    }
}

/// Returns the size of the terminal, where there is one.
fn screen() -> Option<Screen> {
    let (width, height) = terminal_size::terminal_size_of(io::stderr())?;
    Some(Screen { columns: width.0.into(), rows: height.0.into() })
}
