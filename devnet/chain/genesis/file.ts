import { type JsonValue, parseJsonExact } from "@sluice/wire/json";
import { nameSuffixes } from "@sluice/wire/name-services";
import type { DomainEntry, Flaw, HandleEntry } from "../names/index.ts";
import { nameBytes, symbolBytes, uriBytes } from "../programs/index.ts";
import { accountEntry } from "./account-entry.ts";
import {
  address,
  declares,
  type Fault,
  flag,
  list,
  mapOf,
  named,
  type Of,
  oneOf,
  optional,
  Reading,
  record,
  refersTo,
  type Shape,
  text,
  u64,
  whole,
} from "./shapes.ts";

/**
 * The form of a genesis file: accounts of the first slot in the words of those who use them. Wherever an address is
 * expected an entry's name may stand; docs/guides/devnet.md documents every member.
 */

/** Bounds of one file, so that a wrong one does not fill the memory. */
const entriesMax = 100_000;
export const genesisFileBytesMax = 64 * 1_024 * 1_024;
const creatorsMax = 5;

/** The mint of the wrapped native currency, which every chain has. */
export const nativeMint = "native";
const builtIn = new Map([[nativeMint, "mint"]]);

const key = refersTo("wallet");
const mint = refersTo("mint");
const tokenProgram = optional(oneOf("token", "token-2022"), "token" as const);

const wallet = record({ name: declares("wallet"), lamports: u64(1n), address: optional(address, null) });

const metadata = record({
  name: text(nameBytes),
  symbol: text(symbolBytes),
  uri: optional(text(uriBytes), ""),
  additional: optional(mapOf(text(64), text(256), 32), new Map<string, string>()),
});

const mintEntry = record({
  name: declares("mint"),
  program: tokenProgram,
  decimals: whole(0, 18),
  authority: optional(key, null),
  freezeAuthority: optional(key, null),
  metadata: optional(metadata, null),
  address: optional(address, null),
});

const token = record({ mint, owner: key, amount: u64() });

const creator = record({ address: key, share: whole(0, 100) });

const collection = record({
  name: declares("collection"),
  authority: key,
  title: text(nameBytes),
  symbol: optional(text(symbolBytes), ""),
  uri: optional(text(uriBytes), ""),
});

const nft = record({
  name: declares("nft"),
  owner: key,
  authority: optional(key, null),
  collection: optional(named("collection"), null),
  program: tokenProgram,
  title: text(nameBytes),
  symbol: optional(text(symbolBytes), ""),
  uri: optional(text(uriBytes), ""),
  royaltyBasisPoints: optional(whole(0, 10_000), 0),
  creators: optional(list(creator, creatorsMax), []),
});

const pool = record({
  name: declares("pool"),
  owner: key,
  amounts: mapOf(mint, u64(1n), 2),
});

const listing = record({ nft: named("nft"), price: u64(1n) });

const suffix = oneOf(...nameSuffixes);
const domainFlaws = ["parent", "program", "truncated", "closed", "unowned"] as const;
const flaw = oneOf<Flaw>(...domainFlaws, "name");

/** A domain as it is written, such as `blog.alice.x1`. Spelling is not judged: what is on chain must resolve. */
const domain: Shape<DomainEntry> = {
  read(value, path, reading) {
    const entry = domainMembers.read(value, path, reading);
    if (entry === undefined) return undefined;
    const labels = entry.name.split(".").toReversed();
    const found = suffix.read(labels.shift(), `${path}.name`, reading);
    if (found === undefined) return undefined;
    if (labels.length === 0 || labels.includes(""))
      return reading.fault(`${path}.name`, "expected labels before the suffix");
    const parts = { suffix: found, labels, owner: entry.owner };
    return { ...parts, ...(entry.token ? { token: true } : {}), ...(entry.flaw === null ? {} : { flaw: entry.flaw }) };
  },
};
const domainMembers = record({
  name: text(256),
  owner: key,
  token: optional(flag, false),
  flaw: optional(flaw, null),
});

const handle: Shape<HandleEntry> = {
  read(value, path, reading) {
    const entry = handleMembers.read(value, path, reading);
    if (entry === undefined) return undefined;
    const parts = { handle: entry.handle, owner: entry.owner };
    return entry.flaw === null ? parts : { ...parts, flaw: entry.flaw };
  },
};
const handleMembers = record({ handle: text(32), owner: key, flaw: optional(flaw, null) });

const names = record({
  domains: optional(list(domain, entriesMax), []),
  handles: optional(list(handle, entriesMax), []),
});

const program = record({
  address,
  file: text(4_096),
  loader: optional(oneOf("upgradeable", "loader-2"), "upgradeable" as const),
  authority: optional(key, null),
});

function entries<T>(shape: Shape<T>): Shape<readonly T[]> {
  return optional(list(shape, entriesMax), []);
}

const file = record({
  wallets: entries(wallet),
  mints: entries(mintEntry),
  tokens: entries(token),
  collections: entries(collection),
  nfts: entries(nft),
  pools: entries(pool),
  listings: entries(listing),
  names: optional(names, { domains: [], handles: [] }),
  accounts: entries(accountEntry),
  programs: entries(program),
});

export type GenesisFile = Of<typeof file>;
export type MintEntry = Of<typeof mintEntry>;
export type CollectionEntry = Of<typeof collection>;
export type NftEntry = Of<typeof nft>;
export type PoolEntry = Of<typeof pool>;

type ParsedGenesis =
  | { readonly ok: true; readonly file: GenesisFile }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** Checks that shapes alone cannot express. */
function checkTogether(found: GenesisFile, reading: Reading): void {
  const nfts = new Map(found.nfts.map((each) => [each.name, each]));
  const listed = new Set<string>();
  for (const [index, { nft: name }] of found.listings.entries()) {
    const path = `listings[${index}].nft`;
    if (listed.has(name)) reading.fault(path, `${name} is listed twice`);
    listed.add(name);
    if (nfts.get(name)?.program === "token-2022") reading.fault(path, "only tokens of the Token program can be listed");
  }
  for (const [index, { amounts }] of found.pools.entries()) {
    if (amounts.size !== 2) reading.fault(`pools[${index}].amounts`, "expected two mints");
  }
  const held = new Set<string>();
  for (const [index, { mint: of, owner }] of found.tokens.entries()) {
    if (held.has(`${of}/${owner}`)) reading.fault(`tokens[${index}]`, `${owner} holds ${of} twice`);
    held.add(`${of}/${owner}`);
  }
  for (const [index, { creators }] of found.nfts.entries()) {
    const shares = creators.reduce((sum, { share }) => sum + share, 0);
    if (creators.length > 0 && shares !== 100)
      reading.fault(`nfts[${index}].creators`, `shares add up to ${shares}, not 100`);
  }
}

/** Reads the text of a genesis file; all faults are reported at once. */
export function parseGenesisFile(source: string): ParsedGenesis {
  const json = parseJsonExact(source);
  if (!json.ok) return { ok: false, faults: [{ path: "", message: `is no JSON from character ${json.offset} on` }] };
  return readGenesisFile(json.value);
}

export function readGenesisFile(value: JsonValue): ParsedGenesis {
  const reading = new Reading();
  const found = file.read(value, "", reading);
  reading.checkReferences(builtIn);
  if (found !== undefined) checkTogether(found, reading);
  return found === undefined || reading.faults.length > 0
    ? { ok: false, faults: reading.faults }
    : { ok: true, file: found };
}
