//! Which endpoint stands in which slice: as few writes as possible, at most a hundred in one slice.
//!
//! Models: `staging/src/k8s.io/endpointslice/reconciler.go: reconcileByPortMapping, finalize`,
//! `utils.go: getSliceToFill` (v1.36).
//! Leaves out: nothing.

use std::collections::BTreeMap;

use crate::api::kinds::networking::{Endpoint, EndpointPort, EndpointSlice};

/// The most endpoints in one slice.
pub const MAX_ENDPOINTS: usize = 100;

/// What is to be done with the slices of one Service.
#[derive(Debug, Default, PartialEq)]
pub struct Placement {
    /// New slices: their ports and endpoints.
    pub create: Vec<(Vec<EndpointPort>, Vec<Endpoint>)>,
    /// Existing ones, by index, with their new ports and endpoints.
    pub update: Vec<(usize, Vec<EndpointPort>, Vec<Endpoint>)>,
    /// Existing ones that are no longer needed, by index.
    pub delete: Vec<usize>,
}

/// Endpoints that have the same ports, by the name of their Pod.
pub type Wanted = Vec<(Vec<EndpointPort>, Vec<Endpoint>)>;

/// Places the wanted endpoints. `must_rewrite` says which existing slices are to be written in any case (their labels
/// changed).
pub fn plan_placement(existing: &[&EndpointSlice], must_rewrite: &[bool], wanted: Wanted) -> Placement {
    let mut placement = Placement::default();
    for (ports, endpoints) in &wanted {
        let same_ports: Vec<usize> =
            (0..existing.len()).filter(|&index| existing[index].ports == *ports).collect();
        place_group(existing, must_rewrite, &same_ports, ports, endpoints, &mut placement);
    }
    let is_unwanted = |index: &usize| !wanted.iter().any(|(ports, _)| *ports == existing[*index].ports);
    placement.delete.extend((0..existing.len()).filter(is_unwanted));
    placement.delete.sort_unstable();

    // A Service always has a slice, be it empty.
    if placement.create.is_empty() && placement.delete.len() == existing.len() {
        let is_placeholder =
            |index: usize| existing[index].ports.is_empty() && existing[index].endpoints.is_empty();
        match placement.delete.as_slice() {
            [only] if is_placeholder(*only) => {
                let only = *only;
                placement.delete.clear();
                if must_rewrite[only] {
                    placement.update.push((only, Vec::new(), Vec::new()));
                }
            }
            _ => placement.create.push((Vec::new(), Vec::new())),
        }
    }
    // A slice that would go is written over rather than replaced.
    let reused = placement.delete.len().min(placement.create.len());
    let slices = placement.delete.drain(..reused);
    let contents = placement.create.drain(..reused);
    placement
        .update
        .extend(slices.zip(contents).map(|(index, (ports, endpoints))| (index, ports, endpoints)));
    placement.update.sort_by_key(|(index, _, _)| *index);
    placement
}

fn place_group(
    existing: &[&EndpointSlice],
    must_rewrite: &[bool],
    same_ports: &[usize],
    ports: &[EndpointPort],
    endpoints: &[Endpoint],
    placement: &mut Placement,
) {
    let uid = |endpoint: &Endpoint| endpoint.target_ref.as_ref().map(|target| target.uid.clone());
    let mut left: BTreeMap<_, &Endpoint> =
        endpoints.iter().map(|endpoint| ((uid(endpoint), endpoint.addresses.clone()), endpoint)).collect();
    let mut rewritten: Vec<(usize, Vec<Endpoint>)> = Vec::new();
    let mut unchanged: Vec<usize> = Vec::new();
    for &index in same_ports {
        let slice = existing[index];
        let keep = |endpoint: &Endpoint| left.remove(&(uid(endpoint), endpoint.addresses.clone())).cloned();
        let kept: Vec<Endpoint> = slice.endpoints.iter().filter_map(keep).collect();
        match () {
            () if kept == slice.endpoints && !must_rewrite[index] => unchanged.push(index),
            () if kept.is_empty() && !slice.endpoints.is_empty() => placement.delete.push(index),
            () => rewritten.push((index, kept)),
        }
    }
    // In the order of the Pods' names, as they were given.
    let mut left: Vec<Endpoint> = endpoints
        .iter()
        .filter(|endpoint| left.contains_key(&(uid(endpoint), endpoint.addresses.clone())))
        .cloned()
        .rev()
        .collect();
    // Slices that are written anyway take what they can, the fullest first.
    rewritten.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.len()));
    for (_, kept) in &mut rewritten {
        fill(kept, &mut left);
    }
    while !left.is_empty() {
        let fullest = slice_to_fill(existing, &unchanged, left.len());
        match fullest {
            Some(index) => {
                unchanged.retain(|&other| other != index);
                let mut endpoints = existing[index].endpoints.clone();
                fill(&mut endpoints, &mut left);
                rewritten.push((index, endpoints));
            }
            None => {
                let mut endpoints = Vec::new();
                fill(&mut endpoints, &mut left);
                placement.create.push((ports.to_vec(), endpoints));
            }
        }
    }
    let rewritten = rewritten.into_iter();
    placement.update.extend(rewritten.map(|(index, endpoints)| (index, ports.to_vec(), endpoints)));
}

/// Moves endpoints from the end of `left` until the slice is full.
fn fill(slice: &mut Vec<Endpoint>, left: &mut Vec<Endpoint>) {
    while slice.len() < MAX_ENDPOINTS
        && let Some(endpoint) = left.pop()
    {
        slice.push(endpoint);
    }
}

/// The unchanged slice that takes all of `count` endpoints and is fullest then.
fn slice_to_fill(existing: &[&EndpointSlice], unchanged: &[usize], count: usize) -> Option<usize> {
    if count >= MAX_ENDPOINTS {
        return None;
    }
    let fits = |index: &&usize| existing[**index].endpoints.len() + count <= MAX_ENDPOINTS;
    unchanged.iter().filter(fits).copied().max_by_key(|&index| existing[index].endpoints.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::networking::ObjectReference;

    fn endpoints(range: std::ops::Range<usize>) -> Vec<Endpoint> {
        let endpoint = |number: usize| Endpoint {
            addresses: vec![format!("10.1.{}.{}", number / 250, number % 250)],
            target_ref: Some(ObjectReference {
                uid: format!("{number:05}").into(),
                ..ObjectReference::default()
            }),
            ..Endpoint::default()
        };
        range.map(endpoint).collect()
    }

    fn port(number: i32) -> Vec<EndpointPort> {
        vec![EndpointPort { port: Some(number), ..EndpointPort::default() }]
    }

    fn slice(port: Vec<EndpointPort>, endpoints: Vec<Endpoint>) -> EndpointSlice {
        EndpointSlice { ports: port, endpoints, ..EndpointSlice::default() }
    }

    /// Sizes of created slices, (index, size) of updated ones, indices of deleted ones.
    fn outline(existing: &[EndpointSlice], wanted: Wanted) -> (Vec<usize>, Vec<(usize, usize)>, Vec<usize>) {
        let existing: Vec<&EndpointSlice> = existing.iter().collect();
        let placement = plan_placement(&existing, &vec![false; existing.len()], wanted);
        (
            placement.create.iter().map(|(_, endpoints)| endpoints.len()).collect(),
            placement.update.iter().map(|(index, _, endpoints)| (*index, endpoints.len())).collect(),
            placement.delete,
        )
    }

    #[test]
    fn endpoints_are_placed_with_few_writes() {
        let slices = |ranges: &[std::ops::Range<usize>]| -> Vec<EndpointSlice> {
            ranges.iter().map(|range| slice(port(80), endpoints(range.clone()))).collect()
        };
        let wanted = |range| vec![(port(80), endpoints(range))];
        let table = [
            ("a new Service gets an empty slice", vec![], vec![], (vec![0], vec![], vec![])),
            ("an empty slice stays", vec![slice(vec![], vec![])], vec![], (vec![], vec![], vec![])),
            (
                "the empty slice is written over",
                vec![slice(vec![], vec![])],
                wanted(0..3),
                (vec![], vec![(0, 3)], vec![]),
            ),
            ("250 take three slices", vec![], wanted(0..250), (vec![100, 100, 50], vec![], vec![])),
            ("nothing changes", slices(&[0..62, 62..123]), wanted(0..123), (vec![], vec![], vec![])),
            (
                "few more go into one slice that takes them all, the fullest",
                slices(&[0..40, 40..100]),
                wanted(0..110),
                (vec![], vec![(1, 70)], vec![]),
            ),
            (
                "too many for any slice make a new one",
                slices(&[0..60, 60..120]),
                wanted(0..170),
                (vec![50], vec![], vec![]),
            ),
            (
                "a slice that is written anyway is filled first",
                slices(&[0..50, 50..100]),
                wanted(1..120),
                (vec![], vec![(0, 69)], vec![]),
            ),
            (
                "the last endpoint leaves an empty slice",
                slices(&[0..1]),
                vec![],
                (vec![], vec![(0, 0)], vec![]),
            ),
            (
                "one of two slices becomes empty and goes",
                slices(&[0..1, 1..2]),
                wanted(0..1),
                (vec![], vec![], vec![1]),
            ),
        ];
        for (sentence, existing, wanted, expected) in table {
            assert_eq!(outline(&existing, wanted), expected, "{sentence}");
        }
    }

    #[test]
    fn pods_with_different_ports_stand_in_different_slices() {
        let wanted = vec![(port(8080), endpoints(0..1)), (port(9090), endpoints(1..2))];
        assert_eq!(outline(&[], wanted).0, [1, 1]);
    }

    #[test]
    fn new_labels_rewrite_a_slice() {
        let existing = slice(port(80), endpoints(0..1));
        let placement = plan_placement(&[&existing], &[true], vec![(port(80), endpoints(0..1))]);
        assert_eq!(placement.update, [(0, port(80), endpoints(0..1))]);
    }
}
