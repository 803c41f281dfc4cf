import type { Lockers } from "./accounts-of.ts";
import type { Cliques } from "./clique-bound.ts";
import type { Conflicts, Group } from "./conflicts.ts";
import { narrowMax } from "./narrow-search.ts";

/** Members of all cliques together; what comes beyond it is left out, and the bounds are looser. */
const membersMax = 1 << 14;
/** Readers of one account that are listed, each with all of its writers. */
const readersMax = 16;

/**
 * For each group too large for the exact search, sets of its members of which one at most can win: those that write an
 * account, and with them one that reads it. Not every conflict is in one. By group number; null for small groups.
 * `places` gives the number of each bundle of `lockers` among `conflicts`, below 0 for one that is not there.
 */
export function rivalsOf(
  { starts, entries }: Lockers,
  contested: readonly number[],
  places: Int32Array,
  { groups, groupOf, localOf }: Conflicts,
): readonly (Cliques | null)[] {
  const lists = groups.map(({ members }: Group) => (members.length > narrowMax ? new CliqueList() : null));
  const writers: number[] = [];
  const readers: number[] = [];
  let left = membersMax;
  for (const account of contested) {
    writers.length = 0;
    readers.length = 0;
    let group = -1;
    for (let at = starts[account] ?? 0; at < (starts[account + 1] ?? 0); at++) {
      const entry = entries[at] ?? 0;
      const bundle = places[entry >> 1] ?? -1;
      if (bundle < 0) continue;
      group = groupOf[bundle] ?? 0;
      ((entry & 1) === 1 ? writers : readers).push(localOf[bundle] ?? 0);
    }
    const list = lists[group] ?? null;
    if (list === null || writers.length === 0) continue;
    const count = Math.min(readers.length, readersMax);
    left -= count === 0 ? writers.length : count * (writers.length + 1);
    if (left < 0) break;
    if (count === 0) list.add(writers);
    for (let at = 0; at < count; at++) {
      writers.push(readers[at] ?? 0);
      list.add(writers);
      writers.pop();
    }
  }
  return lists.map((list) => list?.cliques() ?? null);
}

/** Cliques of two members or more, each once: accounts are often locked by the same bundles. */
class CliqueList {
  readonly #members: number[] = [];
  readonly #starts: number[] = [0];
  readonly #byHash = new Map<number, number>();

  add(clique: readonly number[]): void {
    if (clique.length < 2) return;
    let hash = clique.length;
    for (let at = 0; at < clique.length; at++) hash = (Math.imul(hash, 31) + (clique[at] ?? 0)) | 0;
    const known = this.#byHash.get(hash);
    if (known !== undefined && this.#isEqual(known, clique)) return;
    this.#byHash.set(hash, this.#starts.length - 1);
    for (let at = 0; at < clique.length; at++) this.#members.push(clique[at] ?? 0);
    this.#starts.push(this.#members.length);
  }

  cliques(): Cliques {
    return { members: Int32Array.from(this.#members), starts: this.#starts };
  }

  #isEqual(known: number, clique: readonly number[]): boolean {
    const start = this.#starts[known] ?? 0;
    if ((this.#starts[known + 1] ?? 0) - start !== clique.length) return false;
    for (let at = 0; at < clique.length; at++) if (this.#members[start + at] !== clique[at]) return false;
    return true;
  }
}
