import { mintSize } from "@sluice/wire/accounts/token";
import { rentExemptLamports } from "../model/index.ts";
import { createAccount, initializeMint, mintTokens, openTokenAccount } from "./instructions.ts";
import {
  createMasterEdition,
  createMetadata,
  endMinting,
  extendMint,
  initializeMetadata,
  initializeNftMint,
  type NftTexts,
} from "./nft-instructions.ts";
import type { CastNft, ClassicNft, NftHolder } from "./nft-roster.ts";
import { type Plan, plan } from "./plan.ts";
import type { Scene } from "./scene.ts";

const SOL = 1_000_000_000n;
/** A Token-2022 mint with a close authority and a metadata pointer, before its metadata are in it. */
const MINT_2022_BYTES = 270;
/** Authority, mint, three lengths, no more pairs, and the entry's own head. */
const METADATA_BYTES = 32 + 32 + 3 * 4 + 4 + 4;

function texts(form: "cat" | "pearl", number: number): NftTexts {
  const title = form === "cat" ? "Cat" : "Pearl";
  return {
    name: `Traffic ${title} #${number}`,
    symbol: title.toUpperCase(),
    uri: `https://devnet.invalid/${form}/${number}`,
  };
}

function mintClassic(scene: Scene, nft: ClassicNft, holder: NftHolder): Plan {
  const { owner } = holder;
  const { mint, keypair } = nft;
  const size = { lamports: rentExemptLamports(mintSize), space: mintSize };
  scene.hold(mint.address);
  return plan([owner.keypair, keypair], 250_000, [
    createAccount(owner, mint, size, mint.program),
    initializeNftMint(mint, owner),
    openTokenAccount(owner, owner, mint, holder),
    mintTokens(mint, holder, owner, 1n),
    createMetadata(nft, owner, texts("cat", nft.number), scene.cast.nfts.collection?.mint ?? null),
    createMasterEdition(nft, owner),
  ]);
}

function mintModern(scene: Scene, nft: CastNft, holder: NftHolder): Plan {
  const { owner } = holder;
  const { mint, keypair } = nft;
  const said = texts("pearl", nft.number);
  const length = said.name.length + said.symbol.length + said.uri.length;
  // The program takes the room for metadata later; the rent for it is there from the start.
  const size = { lamports: rentExemptLamports(MINT_2022_BYTES + METADATA_BYTES + length), space: MINT_2022_BYTES };
  scene.hold(mint.address);
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

/** A token of one unit: of the Token program with its metadata's own accounts while there may be more of them, or 2022. */
export function nftMint(scene: Scene): Plan | null {
  const free = (nft: CastNft) => !scene.holds.has(nft.mint.address);
  const rich = (nft: CastNft) =>
    nft.circle.find(({ owner }) => scene.canPay(owner) && scene.lamports(owner.address) > SOL / 10n);
  if (scene.draw.fraction() < 0.5) {
    for (const nft of scene.cast.nfts.unminted(scene.chain)) {
      const holder = free(nft) ? rich(nft) : undefined;
      if (holder !== undefined) return mintClassic(scene, nft, holder);
      if (free(nft)) break;
    }
  }
  const absent = scene.cast.nfts.modern.filter((nft) => free(nft) && scene.chain.read(nft.mint.address) === null);
  const nft = scene.draw.pick(absent);
  const holder = nft === null ? undefined : rich(nft);
  return nft === null || holder === undefined ? null : mintModern(scene, nft, holder);
}
