//! How often regions appear in random spanning forests.
//!
//! A forest is a set of regions without a cycle in the bipartite graph of variables and regions.
//! Over distributions with given marginals the one with the forest's structure has the greatest
//! entropy, `Σ_v H_v − Σ_{c in forest} I_c` with `I_c = Σ_{v in c} H_v − H_c`. So the average over
//! forests, `Σ_v H_v − Σ_c ρ_c I_c`, is concave and at least the entropy, for regions of any order.
//!
//! For any roots, a forest's entropy is `Σ_roots H_v + Σ_c H(c | parent variable of c)`. Averages
//! over roots are kept too, since the bound on the log-partition is made of them.

use super::regions::Regions;

/// Appearance probabilities under a distribution over rooted spanning forests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Appearance {
    /// `ρ_c`: how often a region appears. `[regions]`
    pub regions: Vec<f64>,
    /// How often a region appears below each of its variables; sums to `ρ_c`. `[regions][axes]`
    pub below: Vec<Vec<f64>>,
    /// How often a variable is a root. `[variables]`
    pub roots: Vec<f64>,
}

/// Fewest forests in the starting average.
const LEAST_FORESTS: usize = 48;
/// Fewest appearances of every region among them.
const LEAST_APPEARANCES: usize = 2;

impl Appearance {
    /// Every region counted once, as if the graph had no cycle: plain belief propagation.
    pub fn always(regions: &Regions) -> Self {
        Self { regions: vec![1.0; regions.list.len()], below: Vec::new(), roots: Vec::new() }
    }

    /// An even start: the average of forests that each prefer the regions that appeared least.
    pub fn even(regions: &Regions) -> Self {
        let mut counts = vec![0usize; regions.list.len()];
        let mut mean = Self::of_forest(regions, &[]);
        let mut forests = 0;
        while forests < LEAST_FORESTS || counts.iter().any(|&n| n < LEAST_APPEARANCES) {
            // Ties are broken differently in each forest, but reproducibly.
            let mut order: Vec<usize> = (0..counts.len()).collect();
            order.sort_by_cached_key(|&c| (counts[c], scrambled(forests as u64, c as u64)));
            let forest = grow(regions, &order);
            forest.iter().for_each(|&c| counts[c] += 1);
            forests += 1;
            let one = Self::of_forest(regions, &forest);
            mean.approach(&one, 1.0 / forests as f64);
            if forest.len() == counts.len() {
                break;
            }
        }
        mean
    }

    /// The forest that takes the heaviest regions first: for pairs of variables, a spanning forest
    /// of greatest weight.
    pub fn heaviest(regions: &Regions, weights: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        Self::of_forest(regions, &grow(regions, &order))
    }

    /// Moves part of the way to other appearance probabilities. Both are averages over forests, so
    /// the result is one too.
    pub fn approach(&mut self, other: &Self, share: f64) {
        let mix = |own: &mut Vec<f64>, other: &Vec<f64>| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += share * (other - *own));
        };
        mix(&mut self.regions, &other.regions);
        mix(&mut self.roots, &other.roots);
        self.below.iter_mut().zip(&other.below).for_each(|(own, other)| mix(own, other));
    }

    /// One forest, rooted at each variable of each of its trees equally often.
    fn of_forest(regions: &Regions, forest: &[usize]) -> Self {
        let mut own = Self {
            regions: vec![0.0; regions.list.len()],
            below: regions.list.iter().map(|region| vec![0.0; region.scope.len()]).collect(),
            roots: vec![0.0; regions.variables()],
        };
        let mut around = vec![Vec::new(); regions.variables()];
        for &c in forest {
            own.regions[c] = 1.0;
            regions.list[c].scope.iter().for_each(|&v| around[v].push(c));
        }
        let mut seen = vec![false; regions.variables()];
        // Variables of a tree from a first one on, each with the region that led there.
        let mut tree: Vec<(usize, usize)> = Vec::new();
        let mut sizes = vec![1.0; regions.variables()];
        for first in 0..regions.variables() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            tree.clear();
            tree.push((first, usize::MAX));
            let mut at = 0;
            while at < tree.len() {
                let (variable, from) = tree[at];
                for &c in around[variable].iter().filter(|&&c| c != from) {
                    for &next in regions.list[c].scope.iter().filter(|&&v| v != variable) {
                        seen[next] = true;
                        tree.push((next, c));
                    }
                }
                at += 1;
            }
            own.root(regions, &tree, &mut sizes, &around);
        }
        own
    }

    /// Fills in one tree: a region hangs below a variable for every root on that variable's side.
    fn root(
        &mut self,
        regions: &Regions,
        tree: &[(usize, usize)],
        sizes: &mut [f64],
        around: &[Vec<usize>],
    ) {
        let total = tree.len() as f64;
        for &(variable, from) in tree.iter().rev() {
            self.roots[variable] = 1.0 / total;
            for &c in around[variable].iter().filter(|&&c| c != from) {
                let scope = &regions.list[c].scope;
                let mut rest = total;
                for (axis, &v) in scope.iter().enumerate().filter(|(_, v)| **v != variable) {
                    self.below[c][axis] = sizes[v] / total;
                    sizes[variable] += sizes[v];
                    rest -= sizes[v];
                }
                let axis = scope.iter().position(|&v| v == variable).expect("a region's variable");
                self.below[c][axis] = rest / total;
            }
        }
    }

    /// The least of the regions' probabilities.
    pub fn least(&self) -> f64 {
        self.regions.iter().copied().fold(1.0, f64::min)
    }
}

/// Takes regions in order, skipping those that would close a cycle.
fn grow(regions: &Regions, order: &[usize]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..regions.variables()).collect();
    let mut forest = Vec::new();
    for &c in order {
        let scope = &regions.list[c].scope;
        let mut roots: Vec<usize> = scope.iter().map(|&v| find(&mut parent, v)).collect();
        roots.sort_unstable();
        if roots.windows(2).all(|pair| pair[0] != pair[1]) {
            roots[1..].iter().for_each(|&root| parent[root] = roots[0]);
            forest.push(c);
        }
    }
    forest
}

fn find(parent: &mut [usize], mut variable: usize) -> usize {
    while parent[variable] != variable {
        parent[variable] = parent[parent[variable]];
        variable = parent[variable];
    }
    variable
}

/// A pseudo-random number (SplitMix64).
fn scrambled(round: u64, index: u64) -> u64 {
    let mut mixed = (round << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
