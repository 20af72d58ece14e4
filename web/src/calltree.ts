// The call tree of a part of the samples, as boxes.

import type { Flame } from "./columns";
import { type Covered, upperBound } from "./intervals";
import { gather } from "./lanes";

/** Samples in each node, however deep they end, of those in covered time that, where a library is named, are in a function
 * of it. O(pieces log samples + samples + nodes). */
export function weights(flame: Flame, covered: Covered, library = ""): Float64Array {
  const inside = new Float64Array(flame.parents.length);
  const counts = within(flame, library);
  for (let piece = 0; piece < covered.starts.length; piece++) {
    const high = upperBound(flame.times, covered.end(piece) - 0.5);
    for (let i = upperBound(flame.times, covered.starts[piece] - 0.5); i < high; i++) {
      inside[flame.leaves[i]] += counts[flame.leaves[i]];
    }
  }
  for (let node = inside.length - 1; node >= 0; node--) {
    if (flame.parents[node] >= 0) inside[flame.parents[node]] += inside[node];
  }
  return inside;
}

/** 1 for each node that is in a function of a library, however far out; for all where none is named. */
function within(flame: Flame, library: string): Uint8Array {
  const found = new Uint8Array(flame.parents.length);
  for (let node = 0; node < found.length; node++) {
    const parent = flame.parents[node];
    const isOwn = !library || flame.functions[flame.names[node]][1] === library;
    found[node] = isOwn || (parent >= 0 && found[parent]) ? 1 : 0;
  }
  return found;
}

/** Samples in functions whose name or library holds a text, each once. The text is in lower case. O(nodes). */
export function samplesIn(flame: Flame, inside: Float64Array, text: string): number {
  const under = new Uint8Array(inside.length);
  let sum = 0;
  for (let node = 0; node < inside.length; node++) {
    const parent = flame.parents[node];
    under[node] = parent >= 0 && under[parent] ? 1 : 0;
    if (under[node] || !holds(flame, node, text)) continue;
    under[node] = 1;
    sum += inside[node];
  }
  return sum;
}

export function holds(flame: Flame, node: number, text: string): boolean {
  const [name, library] = flame.functions[flame.names[node]];
  return `${name} [${library}]`.toLowerCase().includes(text);
}

/** The same samples from the innermost function on. Lines are those of the outermost one's node, so none is known here.
 * O(nodes with samples * depth). */
export function inverted(flame: Flame): Flame {
  const grown = new Grown();
  const leaves = new Map<number, number>();
  for (const leaf of new Set(flame.leaves)) leaves.set(leaf, grown.along(pathTo(flame, leaf)).pop()!);
  return { ...grown.of(flame), leaves: flame.leaves.map((leaf) => leaves.get(leaf)!) };
}

/** What a function called, below its first node, and what called it, from it outward, below the other node without a
 * parent; with the samples in each node. Each sample counts once, from the outermost call on. O(nodes * depth). */
export function sandwich(flame: Flame, inside: Float64Array, name: number): { flame: Flame; inside: Float64Array; callers: number } {
  const own = inside.slice();
  flame.parents.forEach((parent, node) => parent >= 0 && (own[parent] -= inside[node]));
  const grown = new Grown();
  const sums: number[] = [];
  let callers = -1;
  own.forEach((samples, leaf) => {
    const path = samples ? pathTo(flame, leaf) : [];
    const at = path.lastIndexOf(name);
    if (at < 0) return;
    const inward = grown.along(path.slice(0, at + 1).reverse());
    const outward = grown.along(path.slice(at), -2);
    callers = outward[0];
    for (const node of [...inward, ...outward]) sums[node] = (sums[node] ?? 0) + samples;
  });
  return { flame: grown.of(flame), inside: Float64Array.from(sums), callers };
}

/** Functions from a node outward. */
function pathTo(flame: Flame, leaf: number): number[] {
  const path: number[] = [];
  for (let node = leaf; node >= 0; node = flame.parents[node]) path.push(flame.names[node]);
  return path;
}

/** A tree that grows by paths of functions. */
class Grown {
  private readonly parents: number[] = [];
  private readonly names: number[] = [];
  private readonly found = new Map<string, number>();

  /** The nodes of a path from a root on; paths of another `root`, below 0, have nodes of their own. */
  along(path: readonly number[], root = -1): number[] {
    let node = root;
    return path.map((name) => {
      const key = `${node} ${name}`;
      if (!this.found.has(key)) {
        this.found.set(key, this.parents.length);
        this.parents.push(Math.max(node, -1));
        this.names.push(name);
      }
      return (node = this.found.get(key)!);
    });
  }

  of(flame: Flame): Flame {
    const lines = new Int32Array(this.parents.length).fill(-1);
    return { ...flame, parents: Int32Array.from(this.parents), names: Int32Array.from(this.names), lines };
  }
}

/** A node with its place: level from the top, and shares of the width. */
export interface Box {
  node: number;
  level: number;
  left: number;
  right: number;
}

/** Boxes from a node down, or of the whole tree for -1; the heaviest branch stands first. What is narrower than `least`
 * of the width is left out, with all below it. O(nodes log nodes). */
export function boxes(flame: Flame, inside: Float64Array, root: number, least: number): Box[] {
  const below = new Map<number, number[]>();
  for (let node = 0; node < inside.length; node++) {
    if (inside[node]) gather(below, flame.parents[node], node);
  }
  const tops = root >= 0 ? [root] : (below.get(-1) ?? []);
  const total = tops.reduce((sum, node) => sum + inside[node], 0);
  const found: Box[] = [];
  const waiting: { nodes: number[]; level: number; left: number }[] = [{ nodes: tops, level: 0, left: 0 }];
  while (total && waiting.length) {
    const { nodes, level, left } = waiting.pop()!;
    let at = left;
    for (const node of [...nodes].sort((a, b) => inside[b] - inside[a])) {
      const size = inside[node] / total;
      if (size < least) break;
      found.push({ node, level, left: at, right: at + size });
      const inner = below.get(node);
      if (inner) waiting.push({ nodes: inner, level: level + 1, left: at });
      at += size;
    }
  }
  return found;
}

/** Boxes of the samples in their order, each as wide, from a node down or of all for -1: a function that goes on in the next
 * sample is one box. O(samples * depth). */
export function inOrderOfTime(flame: Flame, covered: Covered, library: string, root: number, least: number): Box[] {
  const counts = within(flame, library);
  const [found, open]: [Box[], Box[]] = [[], []];
  let place = 0;
  for (let piece = 0; piece < covered.starts.length; piece++) {
    const high = upperBound(flame.times, covered.end(piece) - 0.5);
    for (let i = upperBound(flame.times, covered.starts[piece] - 0.5); i < high; i++) {
      if (!counts[flame.leaves[i]]) continue;
      const path: number[] = [];
      for (let node = flame.leaves[i]; node >= 0 && path[path.length - 1] !== root; node = flame.parents[node]) path.push(node);
      if (root >= 0 && path[path.length - 1] !== root) continue;
      path.reverse();
      let same = 0;
      while (same < open.length && open[same].node === path[same]) same++;
      open.length = same;
      for (let level = same; level < path.length; level++) {
        const box = { node: path[level], level, left: place, right: 0 };
        open.push(box);
        found.push(box);
      }
      place++;
      for (const box of open) box.right = place;
    }
  }
  for (const box of found) [box.left, box.right] = [box.left / place, box.right / place];
  return found.filter(({ left, right }) => right - left >= least);
}
