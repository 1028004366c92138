//! Recognises a base model whose graph is a disjoint union of paths.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use super::model::Link;
use crate::model::BaseModel;

/// A base model as a chain.
pub(super) struct Paths<'b> {
    /// Variable at each position. `[positions]`
    pub(super) order: Vec<usize>,
    /// `[positions - 1]`
    pub(super) links: Vec<Link>,
    /// Distinct transition tables, row-major along the path: those of the base model where they are
    /// not transposed.
    pub(super) tables: Vec<Cow<'b, [f64]>>,
    /// Position before each edge table of the base model, and whether the table is transposed.
    pub(super) edges: Vec<(usize, bool)>,
}

impl<'b> Paths<'b> {
    /// `None` where a table has more than two variables, a variable more than two neighbours, or
    /// the graph a cycle.
    pub(super) fn find(base: &'b BaseModel) -> Option<Self> {
        let variables = base.variables();
        let edges = &base.tables[variables..];
        let mut neighbours = vec![[None; 2]; variables];
        for (edge, table) in edges.iter().enumerate() {
            let &[a, b] = &table.scope[..] else { return None };
            for (variable, other) in [(a, b), (b, a)] {
                let free = neighbours[variable].iter_mut().find(|slot| slot.is_none())?;
                *free = Some((other, edge));
            }
        }
        let mut paths = Self {
            order: Vec::with_capacity(variables),
            links: Vec::with_capacity(variables.saturating_sub(1)),
            tables: Vec::new(),
            edges: vec![(0, false); edges.len()],
        };
        let mut shared = Shared::default();
        let mut placed = vec![false; variables];
        for end in 0..variables {
            if placed[end] || neighbours[end][1].is_some() {
                continue;
            }
            if !paths.order.is_empty() {
                paths.links.push(Link::Free);
            }
            let mut step = Some((end, None));
            while let Some((variable, before)) = step {
                placed[variable] = true;
                paths.order.push(variable);
                let onward = neighbours[variable].iter().flatten();
                step =
                    onward.copied().find(|&(_, edge)| Some(edge) != before).map(|(next, edge)| {
                        let transposed = next < variable;
                        paths.edges[edge] = (paths.order.len() - 1, transposed);
                        let table = shared.place(base, edge, transposed, &mut paths.tables);
                        paths.links.push(Link::Table(table));
                        (next, Some(edge))
                    });
            }
        }
        placed.into_iter().all(|p| p).then_some(paths)
    }
}

/// Finds equal tables, so that their exponentials are taken and kept once.
#[derive(Default)]
struct Shared {
    /// Indices of the tables with a hash, and their numbers of columns.
    by_hash: FxHashMap<u64, Vec<(usize, usize)>>,
}

impl Shared {
    fn place<'b>(
        &mut self,
        base: &'b BaseModel,
        edge: usize,
        transposed: bool,
        tables: &mut Vec<Cow<'b, [f64]>>,
    ) -> usize {
        let table = &base.tables[base.variables() + edge];
        let &[a, b] = &table.scope[..] else { unreachable!("only pairs are placed") };
        let (rows, columns) = (base.cardinalities[a], base.cardinalities[b]);
        let values: Cow<'b, [f64]> = if transposed {
            let cells = (0..columns).flat_map(|j| (0..rows).map(move |i| i * columns + j));
            cells.map(|cell| table.log_potentials[cell]).collect()
        } else {
            Cow::Borrowed(&table.log_potentials)
        };
        let columns = if transposed { rows } else { columns };
        let mut hasher = FxHasher::default();
        values.iter().for_each(|value| hasher.write_u64(value.to_bits()));
        let alike = self.by_hash.entry(hasher.finish()).or_default();
        let found = alike.iter().find(|&&(k, width)| width == columns && tables[k] == values);
        if let Some(&(index, _)) = found {
            return index;
        }
        alike.push((tables.len(), columns));
        tables.push(values);
        tables.len() - 1
    }
}
