import { readFileSync } from "node:fs";
import type { AccountWrite } from "@sluice/svm/bank";
import { programs } from "@sluice/wire/programs";
import { nameGenesis } from "../names/index.ts";
import { accountOf } from "./account-entry.ts";
import { type GenesisFile, parseGenesisFile } from "./file.ts";
import { GenesisLedger, rentFree } from "./ledger.ts";
import { addPool, addPoolConfig, type GenesisPool } from "./pools.ts";
import type { Fault } from "./shapes.ts";
import { addCollection, addMint, addNft, declareMint } from "./tokens.ts";

/** A collection of genesis. */
interface GenesisCollection {
  readonly name: string;
  readonly mint: string;
  /** The verifier of its items: a wallet's name, or an address. */
  readonly authority: string;
}

/** The result of a genesis file. */
export interface BuiltGenesis {
  readonly accounts: readonly AccountWrite[];
  readonly pools: readonly GenesisPool[];
  readonly wallets: ReadonlyMap<string, string>;
  readonly mints: ReadonlyMap<string, string>;
  readonly collections: readonly GenesisCollection[];
}

type GenesisBuild =
  | { readonly ok: true; readonly built: BuiltGenesis }
  | { readonly ok: false; readonly faults: readonly Fault[] };

function addHoldings(ledger: GenesisLedger, file: GenesisFile): void {
  for (const [index, { mint: name, owner, amount }] of file.tokens.entries()) {
    const path = `tokens[${index}]`;
    const mint = ledger.mint(name);
    if (mint === null) ledger.faults.push({ path: `${path}.mint`, message: "expected a mint of this file" });
    else ledger.addHolding(path, mint, ledger.key(owner), amount);
  }
}

function addTokens(ledger: GenesisLedger, file: GenesisFile): Map<string, string> {
  const mints = new Map<string, string>();
  const sizes = new Map<string, bigint>();
  for (const { collection, program } of file.nfts) {
    if (collection !== null && program === "token") sizes.set(collection, (sizes.get(collection) ?? 0n) + 1n);
  }
  for (const [index, entry] of file.collections.entries()) {
    const mint = addCollection(ledger, entry, sizes.get(entry.name) ?? 0n, `collections[${index}]`);
    mints.set(entry.name, mint.address);
  }
  const prices = new Map(file.listings.map(({ nft, price }) => [nft, price]));
  for (const [index, entry] of file.nfts.entries()) {
    const price = prices.get(entry.name) ?? null;
    const mint = addNft(ledger, entry, { file, price }, `nfts[${index}]`);
    mints.set(entry.name, mint.address);
  }
  return mints;
}

/** Every account that a file describes, but for its programs. Two entries at one address are a fault. */
export function buildGenesis(file: GenesisFile): GenesisBuild {
  const ledger = new GenesisLedger(file);
  for (const [index, { name, lamports }] of file.wallets.entries()) {
    const account = { ...rentFree(programs.system, new Uint8Array()), lamports };
    ledger.add(`wallets[${index}]`, ledger.address(name), account);
  }
  for (const entry of file.mints) declareMint(ledger, entry);
  addHoldings(ledger, file);
  if (file.pools.length > 0) addPoolConfig(ledger);
  const pools = file.pools.flatMap((entry, index) => addPool(ledger, entry, `pools[${index}]`) ?? []);
  const mints = addTokens(ledger, file);
  for (const [index, entry] of file.mints.entries()) {
    addMint(ledger, entry, `mints[${index}]`);
    mints.set(entry.name, ledger.mint(entry.name)?.address ?? "");
  }
  const owned = (owner: string) => ledger.address(owner);
  const names = {
    domains: file.names.domains.map((entry) => ({ ...entry, owner: owned(entry.owner) })),
    handles: file.names.handles.map((entry) => ({ ...entry, owner: owned(entry.owner) })),
  };
  for (const { address, account } of nameGenesis(names)) ledger.add("names", address, account);
  for (const [index, entry] of file.accounts.entries()) {
    ledger.add(`accounts[${index}]`, entry.address, accountOf(entry));
  }
  if (ledger.faults.length > 0) return { ok: false, faults: ledger.faults };
  const wallets = new Map(file.wallets.map(({ name }) => [name, ledger.address(name)]));
  const collections = file.collections.map(({ name, authority }) => ({ name, mint: mints.get(name) ?? "", authority }));
  return { ok: true, built: { accounts: ledger.writes, pools, wallets, mints, collections } };
}

const path = new URL("./default.json", import.meta.url);

/** The genesis file that a chain begins with when it is given none. */
export function defaultGenesisFile(): GenesisFile {
  const parsed = parseGenesisFile(readFileSync(path, "utf8"));
  if (!parsed.ok) throw new Error(`the default genesis has faults: ${JSON.stringify(parsed.faults)}`);
  return parsed.file;
}

export function defaultGenesis(): BuiltGenesis {
  const build = buildGenesis(defaultGenesisFile());
  if (!build.ok) throw new Error(`the default genesis has faults: ${JSON.stringify(build.faults)}`);
  return build.built;
}
