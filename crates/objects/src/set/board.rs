//! Who waits for what, and who is next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::report::{Outcome, Step};
use crate::{Need, Order, Strength};

/// The objects of a set between their first request and their last.
pub(super) struct Board<'a> {
    order: &'a Order,
    observe: &'a mut (dyn FnMut(&Step) + Send),
    /// How many prerequisites each object still waits for.
    waits: Vec<usize>,
    followers: Vec<Vec<Follower>>,
    /// The turn of each object in the sequence.
    turns: Vec<usize>,
    next: BinaryHeap<Reverse<(usize, usize)>>,
    outcomes: Vec<Option<Outcome>>,
}

#[derive(Clone, Copy)]
struct Follower {
    place: usize,
    need: Need,
    strength: Strength,
}

impl<'a> Board<'a> {
    pub(super) fn new(order: &'a Order, observe: &'a mut (dyn FnMut(&Step) + Send)) -> Self {
        let count = order.objects().len();
        let mut turns = vec![0; count];
        for (turn, place) in order.sequence().iter().enumerate() {
            turns[*place] = turn;
        }
        let mut followers = vec![Vec::new(); count];
        let mut waits = Vec::with_capacity(count);
        let mut next = BinaryHeap::new();
        for (place, turn) in turns.iter().enumerate() {
            for wait in order.waits_for(place) {
                let (need, strength) = (wait.need, wait.strength);
                followers[wait.object].push(Follower { place, need, strength });
            }
            waits.push(order.waits_for(place).len());
            if waits[place] == 0 {
                next.push(Reverse((*turn, place)));
            }
        }
        let mut outcomes = Vec::new();
        outcomes.resize_with(count, || None);
        Self { order, observe, waits, followers, turns, next, outcomes }
    }

    /// Returns the place of an object that waits for nothing.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.next.pop().map(|Reverse((_, place))| place)
    }

    /// Takes what came of an object; `settles` is whether it is still on its
    /// way to being ready.
    pub(super) fn sent(&mut self, place: usize, outcome: Outcome, settles: bool) {
        let there = matches!(outcome, Outcome::There(_));
        self.tell(place, outcome);
        for follower in self.followers[place].clone() {
            match follower {
                Follower { strength: Strength::Hard, .. } if !there => {
                    self.leave(follower.place, &self.waits_in_vain(place, "failed"));
                }
                Follower { need: Need::Ready, .. } if settles => {}
                _ => self.release(follower.place),
            }
        }
    }

    /// Takes whether an object is ready, or why it is not.
    pub(super) fn settled(&mut self, place: usize, result: &Result<(), String>) {
        for follower in self.followers[place].clone() {
            match result {
                _ if follower.need != Need::Ready => {}
                Ok(()) => self.release(follower.place),
                Err(why) => {
                    let because = self.waits_in_vain(place, &format!("is not ready: {why}"));
                    self.leave(follower.place, &because);
                }
            }
        }
    }

    /// Returns what came of everything. What has had no turn was kept from it
    /// by the end of the work.
    pub(super) fn end(mut self) -> Vec<Step> {
        for place in 0..self.outcomes.len() {
            if self.outcomes[place].is_none() {
                self.tell(place, Outcome::NoTurn);
            }
        }
        let ids = self.order.objects().iter().map(|object| object.id().clone());
        let outcomes = self.outcomes.into_iter().flatten();
        ids.zip(outcomes).map(|(id, outcome)| Step { id, outcome }).collect()
    }

    fn release(&mut self, place: usize) {
        self.waits[place] = self.waits[place].saturating_sub(1);
        if self.waits[place] == 0 && self.outcomes[place].is_none() {
            self.next.push(Reverse((self.turns[place], place)));
        }
    }

    /// Leaves an object, and what cannot go without it.
    fn leave(&mut self, place: usize, because: &str) {
        let mut left = vec![(place, because.to_owned())];
        while let Some((place, because)) = left.pop() {
            if self.outcomes[place].is_some() {
                continue;
            }
            self.tell(place, Outcome::Left { because });
            let because = self.waits_in_vain(place, "was left");
            for follower in self.followers[place].clone() {
                match follower.strength {
                    Strength::Hard => left.push((follower.place, because.clone())),
                    Strength::Soft => self.release(follower.place),
                }
            }
        }
    }

    fn waits_in_vain(&self, place: usize, why: &str) -> String {
        format!("it waits for {}, which {why}", self.order.objects()[place].id())
    }

    fn tell(&mut self, place: usize, outcome: Outcome) {
        let step = Step { id: self.order.objects()[place].id().clone(), outcome };
        (self.observe)(&step);
        self.outcomes[place] = Some(step.outcome);
    }
}
