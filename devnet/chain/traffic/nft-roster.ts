import { programs } from "@sluice/wire/programs";
import type { GenesisDescription } from "../genesis/index.ts";
import { type ChainAccount, GenesisKeypair } from "../model/index.ts";
import { nameOwner } from "../names/index.ts";
import { listingSeed, marketplaceProgram, metadataProgramAddress } from "../programs/index.ts";
import type { MintParty } from "./instructions.ts";
import { keypairParty, type Party, partyOf } from "./message.ts";
import { associated, derived, type Wallet } from "./parties.ts";

/** Tokens of one unit that are ever minted with their own metadata account: such a mint cannot be closed again. */
export const nftCountMax = 500;
/** Those of Token-2022, whose mints are closed when they are burned, and made anew. */
const nfts2022 = 16;
/** Wallets between which one token goes round. */
const circleSize = 3;
const utf8 = new TextEncoder();

/** One wallet's place for the one unit. */
export interface NftHolder extends Party {
  readonly owner: Wallet;
}

export interface TrafficNft {
  readonly number: number;
  readonly keypair: GenesisKeypair;
  readonly mint: MintParty;
  readonly circle: readonly NftHolder[];
}

/** One of the Token program, with what belongs to it. */
export interface ClassicNft extends TrafficNft {
  readonly metadata: Party;
  readonly edition: Party;
  readonly listing: Party;
  readonly escrow: Party;
}

/** The collection of genesis that minted tokens say that they are of. */
export interface TrafficCollection {
  readonly mint: Party;
  readonly metadata: Party;
  readonly edition: Party;
  readonly authority: Wallet;
}

interface Reader {
  read(address: string): ChainAccount | null;
}

/** The tokens of one unit of a seed, each derived when it is first needed. */
export class NftRoster {
  readonly collection: TrafficCollection | null;
  readonly modern: readonly TrafficNft[];
  readonly #seed: string;
  readonly #most: number;
  readonly #wallets: readonly Wallet[];
  readonly #known = new Map<number, ClassicNft>();
  readonly #program = partyOf(metadataProgramAddress);
  readonly #marketplace = partyOf(marketplaceProgram);
  #minted = 0;

  constructor(seed: string, wallets: readonly Wallet[], description: GenesisDescription, most: number) {
    this.#seed = seed;
    this.#most = most;
    this.#wallets = wallets;
    this.collection = this.#collection(description);
    this.modern = Array.from({ length: nfts2022 }, (_, number) =>
      this.#accounts(`nft-2022/${number}`, number, programs.token2022),
    );
  }

  #collection({ collections, wallets }: GenesisDescription): TrafficCollection | null {
    const [first] = collections;
    const keypair = first === undefined ? null : nameOwner(first.authority);
    if (first === undefined || keypair === null || wallets.get(first.authority) !== keypair.address) return null;
    const mint = partyOf(first.mint);
    const authority = { ...keypairParty(keypair), keypair };
    return { mint, metadata: this.#metadata(mint), edition: this.#edition(mint), authority };
  }

  #metadata(mint: Party): Party {
    return derived([utf8.encode("metadata"), this.#program.bytes, mint.bytes], this.#program).party;
  }

  #edition(mint: Party): Party {
    const seeds = [utf8.encode("metadata"), this.#program.bytes, mint.bytes, utf8.encode("edition")];
    return derived(seeds, this.#program).party;
  }

  #accounts(role: string, number: number, program: string): TrafficNft {
    const keypair = new GenesisKeypair(this.#seed, `traffic/${role}`);
    const mint = { ...keypairParty(keypair), program: partyOf(program), decimals: 0 };
    const circle: NftHolder[] = [];
    for (let step = 0; step < circleSize; step += 1) {
      const owner = this.#wallets[(number * 7 + step * 11 + 1) % this.#wallets.length];
      if (owner !== undefined) circle.push({ ...associated(owner, mint), owner });
    }
    return { number, keypair, mint, circle };
  }

  nft(number: number): ClassicNft {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const nft = this.#accounts(`nft/${number}`, number, programs.token);
    const listing = derived([utf8.encode(listingSeed), nft.mint.bytes], this.#marketplace).party;
    const escrow = associated(listing, nft.mint);
    const whole = { ...nft, metadata: this.#metadata(nft.mint), edition: this.#edition(nft.mint), listing, escrow };
    this.#known.set(number, whole);
    return whole;
  }

  /** How many of the Token program are minted, as the chain stands: a fork may have taken some back. */
  minted(chain: Reader): number {
    while (this.#minted > 0 && chain.read(this.nft(this.#minted - 1).mint.address) === null) this.#minted -= 1;
    while (this.#minted < this.#most && chain.read(this.nft(this.#minted).mint.address) !== null) this.#minted += 1;
    return this.#minted;
  }

  /** The next ones to mint, of which some may be under way. */
  *unminted(chain: Reader): Generator<ClassicNft> {
    for (let number = this.minted(chain); number < this.#most; number += 1) yield this.nft(number);
  }

  /**
   * Accounts that the roster ever fills: mint, metadata, edition, listing, escrow and the circle's; mint and circle.
   */
  get accountsMax(): number {
    return this.#most * (5 + circleSize) + nfts2022 * (1 + circleSize);
  }
}
