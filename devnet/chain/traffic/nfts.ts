import { mintSize } from "@sluice/wire/accounts/token";
import { isTokenAccount, rentExemptLamports, tokenAmount } from "../model/index.ts";
import { listingOffsets } from "../programs/index.ts";
import {
  burnTokens,
  closeTokenAccount,
  createAccount,
  initializeMint,
  mintTokens,
  openTokenAccount,
  transferTokens,
} from "./instructions.ts";
import {
  burnNft,
  buyNft,
  closeMint,
  createMasterEdition,
  createMetadata,
  delistNft,
  endMinting,
  extendMint,
  initializeMetadata,
  initializeNftMint,
  listNft,
  type NftTexts,
  verifyCollection,
} from "./nft-instructions.ts";
import type { ClassicNft, NftHolder, TrafficNft } from "./nft-roster.ts";
import { type Plan, plan, type TrafficWorld } from "./traffic-world.ts";

const sol = 1_000_000_000n;
/** A Token-2022 mint with a close authority and a metadata pointer, before its metadata are in it. */
const mint2022Bytes = 270;
/** Authority, mint, three lengths, no more pairs, and the entry's own head. */
const metadataBytes = 32 + 32 + 3 * 4 + 4 + 4;

function texts(form: "cat" | "pearl", number: number): NftTexts {
  const title = form === "cat" ? "Cat" : "Pearl";
  return {
    name: `Traffic ${title} #${number}`,
    symbol: title.toUpperCase(),
    uri: `https://devnet.invalid/${form}/${number}`,
  };
}

function mintClassic(world: TrafficWorld, nft: ClassicNft, holder: NftHolder): Plan {
  const { owner } = holder;
  const { mint, keypair } = nft;
  const size = { lamports: rentExemptLamports(mintSize), space: mintSize };
  world.hold(mint.address);
  return plan([owner.keypair, keypair], 250_000, [
    createAccount(owner, mint, size, mint.program),
    initializeNftMint(mint, owner),
    openTokenAccount(owner, owner, mint, holder),
    mintTokens(mint, holder, owner, 1n),
    createMetadata(nft, owner, texts("cat", nft.number), world.accounts.nfts.collection?.mint ?? null),
    createMasterEdition(nft, owner),
  ]);
}

function mintModern(world: TrafficWorld, nft: TrafficNft, holder: NftHolder): Plan {
  const { owner } = holder;
  const { mint, keypair } = nft;
  const said = texts("pearl", nft.number);
  const length = said.name.length + said.symbol.length + said.uri.length;
  // The program takes the room for metadata later; the rent for it is there from the start.
  const size = { lamports: rentExemptLamports(mint2022Bytes + metadataBytes + length), space: mint2022Bytes };
  world.hold(mint.address);
  return plan([owner.keypair, keypair], 250_000, [
    createAccount(owner, mint, size, mint.program),
    ...extendMint(mint, owner),
    initializeMint(mint, owner),
    initializeMetadata(mint, owner, said),
    openTokenAccount(owner, owner, mint, holder),
    mintTokens(mint, holder, owner, 1n),
    endMinting(mint, owner),
  ]);
}

/**
 * A token of one unit: of the Token program with its metadata's own accounts while there may be more of them, or 2022.
 */
export function nftMint(world: TrafficWorld): Plan | null {
  const free = (nft: TrafficNft) => !world.holds.has(nft.mint.address);
  const rich = (nft: TrafficNft) =>
    nft.circle.find(({ owner }) => world.canPay(owner) && world.lamports(owner.address) > sol / 10n);
  if (world.draw.next() < 0.5) {
    for (const nft of world.accounts.nfts.unminted(world.chain)) {
      const holder = free(nft) ? rich(nft) : undefined;
      if (holder !== undefined) return mintClassic(world, nft, holder);
      if (free(nft)) break;
    }
  }
  const absent = world.accounts.nfts.modern.filter((nft) => free(nft) && world.chain.read(nft.mint.address) === null);
  const nft = world.draw.pick(absent);
  const holder = nft === null ? undefined : rich(nft);
  return nft === null || holder === undefined ? null : mintModern(world, nft, holder);
}

const units = 150_000;
/** Where an item of a collection with one creator says whether it is verified. */
const verifiedOffset = 367;

function holderOf(world: TrafficWorld, nft: TrafficNft): NftHolder | null {
  const found = nft.circle.find(({ address }) => {
    const account = world.chain.read(address);
    return account !== null && isTokenAccount(account) && tokenAmount(account) === 1n;
  });
  return found ?? null;
}

function otherHolder(world: TrafficWorld, nft: TrafficNft, than: NftHolder | null): NftHolder | null {
  return world.draw.pick(nft.circle.filter((holder) => holder !== than && world.canPay(holder.owner)));
}

/** Sold to another of its circle, or taken back by who listed it. */
function fromListing(world: TrafficWorld, nft: ClassicNft, listing: Uint8Array): Plan | null {
  const view = new DataView(listing.buffer, listing.byteOffset, listing.byteLength);
  const price = view.getBigUint64(listingOffsets.amount, true);
  const seller = nft.circle.find(
    ({ owner }) => Buffer.compare(owner.bytes, listing.subarray(listingOffsets.owner, listingOffsets.owner + 32)) === 0,
  );
  if (seller === undefined) return null;
  const buyer = otherHolder(world, nft, seller);
  if (buyer !== null && world.draw.next() < 0.75 && world.lamports(buyer.owner.address) > price * 2n) {
    world.hold(nft.mint.address, buyer.owner.address);
    return plan([buyer.owner.keypair], units, [buyNft(nft, buyer, seller.owner, price)]);
  }
  if (!world.canPay(seller.owner)) return null;
  world.hold(nft.mint.address);
  const { owner } = seller;
  return plan([owner.keypair], units, [openTokenAccount(owner, owner, nft.mint, seller), delistNft(nft, seller)]);
}

function handOn(world: TrafficWorld, nft: TrafficNft, holder: NftHolder): Plan | null {
  const to = otherHolder(world, nft, holder);
  if (to === null) return null;
  world.hold(nft.mint.address);
  const { owner } = holder;
  return plan([owner.keypair], units, [
    openTokenAccount(owner, to.owner, nft.mint, to),
    transferTokens(nft.mint, { from: holder, to, authority: owner }, 1n),
    closeTokenAccount(nft.mint, holder, owner),
  ]);
}

function verify(world: TrafficWorld, nft: ClassicNft, holder: NftHolder): Plan | null {
  const { collection } = world.accounts.nfts;
  const metadata = world.chain.read(nft.metadata.address);
  if (collection === null || metadata === null || metadata.data[verifiedOffset] !== 0) return null;
  world.hold(nft.mint.address);
  const instruction = verifyCollection(nft, collection, holder.owner);
  return plan([holder.owner.keypair, collection.authority.keypair], units, [instruction]);
}

function classicLife(world: TrafficWorld): Plan | null {
  const minted = world.accounts.nfts.minted(world.chain);
  if (minted === 0) return null;
  const nft = world.accounts.nfts.nft(world.draw.below(minted));
  if (world.holds.has(nft.mint.address)) return null;
  const listing = world.chain.read(nft.listing.address);
  if (listing !== null) return fromListing(world, nft, listing.data);
  const holder = holderOf(world, nft);
  if (holder === null || !world.canPay(holder.owner)) return null;
  const verified = verify(world, nft, holder);
  if (verified !== null) return verified;
  const drawn = world.draw.next();
  if (drawn < 0.03) {
    world.hold(nft.mint.address);
    return plan([holder.owner.keypair], units, [burnNft(nft, holder)]);
  }
  if (drawn < 0.3) return handOn(world, nft, holder);
  world.hold(nft.mint.address);
  const price = BigInt(world.draw.magnitude(7, 9.3));
  return plan([holder.owner.keypair], units, [listNft(nft, holder, price)]);
}

/** The close authority of such a mint is its minter: the first extension of the mint. */
function minterOf(world: TrafficWorld, nft: TrafficNft): NftHolder | null {
  const data = world.chain.read(nft.mint.address)?.data ?? new Uint8Array();
  return nft.circle.find(({ owner }) => Buffer.compare(data.subarray(170, 202), owner.bytes) === 0) ?? null;
}

function modernLife(world: TrafficWorld): Plan | null {
  const alive = world.accounts.nfts.modern.filter((nft) => {
    return !world.holds.has(nft.mint.address) && world.chain.read(nft.mint.address) !== null;
  });
  const nft = world.draw.pick(alive);
  const holder = nft === null ? null : holderOf(world, nft);
  if (nft === null || holder === null || !world.canPay(holder.owner)) return null;
  const minter = minterOf(world, nft);
  if (world.draw.next() < 0.6 || minter === null) return handOn(world, nft, holder);
  world.hold(nft.mint.address);
  const { owner } = holder;
  const signers = [owner.keypair, ...(minter.owner === owner ? [] : [minter.owner.keypair])] as const;
  return plan([signers[0], ...signers.slice(1)], units, [
    burnTokens(nft.mint, holder, owner, 1n),
    closeTokenAccount(nft.mint, holder, owner),
    closeMint(nft.mint, owner, minter.owner),
  ]);
}

/** The steps after minting: listed, sold, taken back, verified, handed on, burned. */
export function nftLife(world: TrafficWorld): Plan | null {
  return world.draw.next() < 0.7 ? classicLife(world) : modernLife(world);
}
