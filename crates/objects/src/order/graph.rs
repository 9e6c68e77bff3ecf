//! A graph without cycles, and a walk through it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Edge, Strength};

/// Returns the edges that can all be kept: every hard one, and as many soft
/// ones as close no cycle, earlier ones first. An error is a cycle of hard edges.
pub(super) fn without_cycles(count: usize, edges: Vec<Edge>) -> Result<Vec<Edge>, Vec<usize>> {
    let all = Neighbours::new(count, &edges);
    if all.cycle().is_none() {
        return Ok(edges);
    }
    let (hard, soft): (Vec<Edge>, Vec<Edge>) =
        edges.into_iter().partition(|edge| edge.strength == Strength::Hard);
    let mut kept = Neighbours::new(count, &hard);
    if let Some(cycle) = kept.cycle() {
        return Err(cycle);
    }
    let mut edges = hard;
    for edge in soft {
        if !kept.reaches(edge.after, edge.before) {
            kept.add(&edge);
            edges.push(edge);
        }
    }
    Ok(edges)
}

/// Returns all places, each behind those before it; of several that could be
/// next, the one with the least key.
pub(super) fn sequence<K: Ord>(
    count: usize,
    edges: &[Edge],
    key: impl Fn(usize) -> K,
) -> Vec<usize> {
    let followers = Neighbours::new(count, edges);
    let mut waits = vec![0_usize; count];
    for edge in edges {
        waits[edge.after] += 1;
    }
    let free = (0..count).filter(|at| waits[*at] == 0);
    let mut ready: BinaryHeap<Reverse<(K, usize)>> =
        free.map(|at| Reverse((key(at), at))).collect();
    let mut sequence = Vec::with_capacity(count);
    while let Some(Reverse((_, at))) = ready.pop() {
        sequence.push(at);
        for next in &followers.0[at] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(Reverse((key(*next), *next)));
            }
        }
    }
    sequence
}

/// Who comes directly after whom.
struct Neighbours(Vec<Vec<usize>>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    OnThePath,
    Done,
}

impl Neighbours {
    fn new(count: usize, edges: &[Edge]) -> Self {
        let mut neighbours = Self(vec![Vec::new(); count]);
        for edge in edges {
            neighbours.add(edge);
        }
        neighbours
    }

    fn add(&mut self, edge: &Edge) {
        self.0[edge.before].push(edge.after);
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.0.len()];
        let mut next = vec![from];
        while let Some(at) = next.pop() {
            if at == to {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                next.extend(&self.0[at]);
            }
        }
        false
    }

    /// Returns the places of some cycle, each before the next.
    fn cycle(&self) -> Option<Vec<usize>> {
        let mut seen = vec![Seen::Never; self.0.len()];
        (0..self.0.len()).find_map(|start| self.cycle_from(start, &mut seen))
    }

    /// Walks in depth with a stack of its own: a chain of thousands is no
    /// reason to run out of the thread's.
    fn cycle_from(&self, start: usize, seen: &mut [Seen]) -> Option<Vec<usize>> {
        if seen[start] != Seen::Never {
            return None;
        }
        let mut path = vec![(start, 0)];
        seen[start] = Seen::OnThePath;
        while let Some((at, tried)) = path.last_mut() {
            let Some(next) = self.0[*at].get(*tried).copied() else {
                seen[*at] = Seen::Done;
                path.pop();
                continue;
            };
            *tried += 1;
            match seen[next] {
                Seen::Done => {}
                Seen::Never => {
                    seen[next] = Seen::OnThePath;
                    path.push((next, 0));
                }
                Seen::OnThePath => {
                    let on_path = path.iter().map(|(at, _)| *at);
                    return Some(on_path.skip_while(|at| *at != next).collect());
                }
            }
        }
        None
    }
}
