import type { WalletIdentity } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { type ProgramKind, parserFor, tipAccounts } from "@sluice/parser";
import { programs, sysvars, wellKnownAddresses } from "@sluice/wire/programs";

export interface IdentitiesDependencies {
  /** The primary name of a wallet, null without one or where it cannot be read now; null where no names are read. */
  readonly primaryName: ((network: Network, address: string) => Promise<string | null>) | null;
}

/** What kinds of programs are called. */
const categories: Readonly<Record<ProgramKind, string>> = {
  core: "Core program",
  dex: "Decentralized exchange",
  aggregator: "Exchange aggregator",
  orders: "Order book",
  bot: "Trading bot",
  market: "NFT marketplace",
  minter: "NFT minting",
  nft: "NFT program",
  staking: "Staking",
  helper: "Utility program",
  other: "Program",
};

/** `addressLookupTable` as words. */
const words = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/^./, (first) => first.toUpperCase());

const systemAccounts: ReadonlyMap<string, WalletIdentity> = new Map(
  [
    ...Object.entries(programs).map(([name, address]) => {
      return { address, type: "program", name: `${words(name)} program`, category: categories.core, tags: ["core"] };
    }),
    ...Object.entries(sysvars).map(([name, address]) => {
      return { address, type: "sysvar", name: `Sysvar ${words(name)}`, category: "System account", tags: ["core"] };
    }),
    ...[wellKnownAddresses.wrappedNativeMint, wellKnownAddresses.wrappedNativeMint2022].map((address) => {
      return { address, type: "mint", name: "Wrapped native currency", category: "Token mint", tags: ["core"] };
    }),
    {
      address: wellKnownAddresses.incinerator,
      type: "system",
      name: "Incinerator",
      category: "Burn address",
      tags: ["burn"],
    },
    ...[...tipAccounts].map((address, index) => {
      const name = `Jito tip account ${index + 1}`;
      return { address, type: "tip_account", name, category: "Block engine", tags: ["tips"] };
    }),
  ].map((identity) => [identity.address, identity] as const),
);

/** What is known of addresses: programs and system accounts by tables, wallets by their primary names. */
export class Identities {
  readonly #dependencies: IdentitiesDependencies;

  constructor(dependencies: IdentitiesDependencies) {
    this.#dependencies = dependencies;
  }

  /** By the tables alone. */
  known(address: string): WalletIdentity | null {
    const parser = parserFor(address);
    if (parser === undefined) return systemAccounts.get(address) ?? null;
    const { name, kind, source } = parser;
    return { address, type: "program", name, category: categories[kind], tags: [source] };
  }

  /** Null where nothing is known. */
  async read(network: Network, address: string): Promise<WalletIdentity | null> {
    const known = this.known(address);
    if (known !== null) return known;
    const name = (await this.#dependencies.primaryName?.(network, address)) ?? null;
    if (name === null) return null;
    return { address, type: "wallet", name, category: "Domain name", tags: ["primary-name"] };
  }
}
