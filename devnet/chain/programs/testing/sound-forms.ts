import { programs } from "@sluice/wire/programs";
import type { GenesisDescription } from "../../genesis/load.ts";
import type { GenesisPool } from "../../genesis/pools.ts";
import { associatedTokenAddress, bytesOf } from "../../model/token-accounts.ts";
import { ammProgram } from "../amm/layout.ts";
import { listingAddress, marketplaceProgram } from "../marketplace/layout.ts";
import { editionAddress, metadataAddress, metadataProgramAddress, metadataTags } from "../metaplex/layout.ts";
import { instructionTag } from "../runtime.ts";

/** The accounts of an instruction of one of the chain's own programs, as alice would give them. */
export interface Form {
  readonly program: string;
  /** Tags of the instructions that take these accounts. */
  readonly tags: readonly Uint8Array[];
  readonly keys: readonly Uint8Array[];
}

const token = bytesOf(programs.token);
const token2022 = bytesOf(programs.token2022);
const system = bytesOf(programs.system);
const associated = bytesOf(programs.associatedToken);
const market = bytesOf(marketplaceProgram);
const tags = (...names: readonly string[]) => names.map(instructionTag);
const tag = (name: keyof typeof metadataTags) => [Uint8Array.of(metadataTags[name])];
const held = (owner: Uint8Array, mint: Uint8Array) => bytesOf(associatedTokenAddress(owner, programs.token, mint));

function poolForms(pool: GenesisPool, alice: Uint8Array): Form[] {
  const [authority, config, at] = [bytesOf(pool.authority), bytesOf(pool.config), bytesOf(pool.address)];
  const [observation, lpMint] = [bytesOf(pool.observation), bytesOf(pool.lpMint)];
  const side = (index: 0 | 1) => {
    const { mint, vault } = pool.sides[index];
    return { mint: mint.bytes, vault: bytesOf(vault), mine: held(alice, mint.bytes) };
  };
  const [zero, one] = [side(0), side(1)];
  const swap = (into: typeof zero, out: typeof zero): Form => {
    const vaults = [into.mine, out.mine, into.vault, out.vault];
    const keys = [alice, authority, config, at, ...vaults, token, token, into.mint, out.mint, observation];
    return { program: ammProgram, tags: tags("swap_base_input", "swap_base_output"), keys };
  };
  const sides = [zero.mine, one.mine, zero.vault, one.vault, token, token2022, zero.mint, one.mint, lpMint];
  const keys = [alice, authority, at, held(alice, lpMint), ...sides];
  return [swap(zero, one), swap(one, zero), { program: ammProgram, tags: tags("deposit", "withdraw"), keys }];
}

function nftForms(mint: Uint8Array, alice: Uint8Array, seller: Uint8Array): Form[] {
  const listing = listingAddress(mint).bytes;
  const [escrow, mine] = [held(listing, mint), held(alice, mint)];
  const metadata = metadataAddress(mint).bytes;
  const edition = editionAddress(mint).bytes;
  const list = [alice, mine, listing, escrow, mint, alice, token, associated, market, system];
  const bought = [market, alice, mine, listing, escrow, mint, seller, alice, market, seller];
  const master = [edition, mint, alice, alice, alice, metadata, token, system];
  return [
    { program: marketplaceProgram, tags: tags("list_legacy", "delist_legacy"), keys: list },
    { program: marketplaceProgram, tags: tags("buy_legacy"), keys: [...bought, token, associated, market, system] },
    { program: metadataProgramAddress, tags: tag("burnNft"), keys: [metadata, alice, mint, mine, edition, token] },
    { program: metadataProgramAddress, tags: tag("createMasterEdition"), keys: master },
    {
      program: metadataProgramAddress,
      tags: tag("createMetadata"),
      keys: [metadata, mint, alice, alice, alice, system],
    },
  ];
}

/** Forms over the default genesis: its pools, and tokens of alice's and of those that others have listed. */
export function soundForms({ pools, mints, wallets }: GenesisDescription): readonly Form[] {
  const of = (map: ReadonlyMap<string, string>, name: string) => {
    const address = map.get(name);
    if (address === undefined) throw new Error(`genesis has no ${name}`);
    return bytesOf(address);
  };
  const alice = of(wallets, "alice");
  const nft = (name: string, seller: string) => nftForms(of(mints, name), alice, of(wallets, seller));
  return [
    ...pools.flatMap((pool) => poolForms(pool, alice)),
    ...nft("cat-1", "alice"),
    ...nft("cat-2", "alice"),
    ...nft("cat-3", "bob"),
    ...nft("loner", "dave"),
  ];
}
