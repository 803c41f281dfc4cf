import { decodeNameRegistry, decodeReverseName } from "@sluice/wire/accounts/name-registry";
import type { Address } from "@sluice/wire/identifiers";
import { type NameSuffix, nameSuffixes } from "@sluice/wire/name-services";
import type { NameTree } from "./addresses.ts";
import type { AccountView, ChainReader } from "./chain-reader.ts";
import { readDomain } from "./name.ts";

/** Registries of one owner that are read; the rest of a larger holding is left out, by order of address. */
const registriesMax = 90;
/** Where a registry holds its owner. */
const ownerOffset = 32;

export interface ReverseSource {
  readonly reader: ChainReader;
  readonly tree: NameTree;
  readonly reverseClass: Address;
}

/**
 * First-level domains whose registries `owner` holds and whose text leads back to the same registry, best to show
 * first: the shortest, then by suffix and letters. Null when the node does not answer. What a reverse registry says is
 * only a hint: a name counts because its own address is derived from it.
 */
export async function domainsHeldBy(owner: Address, source: ReverseSource): Promise<readonly string[] | null> {
  const { reader, tree, reverseClass } = source;
  const held = await reader.getProgramAccounts(tree.program, { offset: ownerOffset, bytes: owner });
  if (held === null) return null;
  const suffixOfRoot = new Map<Address, NameSuffix>(nameSuffixes.map((suffix) => [tree.root(suffix), suffix]));
  const registries = held
    .flatMap(({ address, account }) => {
      const parent = account.program === tree.program ? (decodeNameRegistry(account.data)?.parent ?? null) : null;
      const suffix = parent === null ? undefined : suffixOfRoot.get(parent);
      return suffix === undefined ? [] : [{ address, suffix }];
    })
    .toSorted((left, right) => (left.address < right.address ? -1 : 1))
    .slice(0, registriesMax);
  if (registries.length === 0) return [];
  const texts = await reader.getMultipleAccounts(registries.map(({ address }) => tree.reverse(address, reverseClass)));
  if (texts === null) return null;
  return registries
    .flatMap(({ address, suffix }, index) => nameOf(address, suffix, texts[index] ?? null, tree))
    .toSorted(byFitness);
}

function nameOf(registry: Address, suffix: NameSuffix, text: AccountView | null, tree: NameTree): readonly string[] {
  const decoded = text === null || text.program !== tree.program ? null : decodeNameRegistry(text.data);
  const label = decoded === null ? null : decodeReverseName(decoded);
  if (label === null) return [];
  const name = readDomain(`${label}.${suffix}`);
  // A text that is not its own canonical form would not find this registry when it is typed.
  if (name === null || name.labels.length !== 1 || name.labels[0] !== label) return [];
  return tree.path(suffix, name.labels).levels[0] === registry ? [name.name] : [];
}

function byFitness(left: string, right: string): number {
  const labelLength = (name: string): number => name.lastIndexOf(".");
  const suffixRank = (name: string): number => nameSuffixes.findIndex((suffix) => name.endsWith(`.${suffix}`));
  return labelLength(left) - labelLength(right) || suffixRank(left) - suffixRank(right) || (left < right ? -1 : 1);
}
