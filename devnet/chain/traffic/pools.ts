import { ByteWriter } from "@sluice/wire/bytes";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import type { GenesisDescription, GenesisPool, KnownMint } from "../genesis/index.ts";
import { nameOwner } from "../names/index.ts";
import { instructionTag } from "../programs/index.ts";
import { type MintParty, reads, signs, writes } from "./instructions.ts";
import { keypairParty, type Party, partyOf, type TrafficInstruction } from "./message.ts";
import { associated, holdMint, type TrafficMint, type Wallet } from "./parties.ts";

/** A wallet's account of the wrapped native currency, open only while a transaction needs it. */
interface Wrapped extends Party {
  readonly owner: Wallet;
}

export interface TrafficPoolSide {
  /** Null for the wrapped native currency. */
  readonly mint: TrafficMint | null;
  readonly party: MintParty;
  readonly vault: Party;
  /** What genesis put into it: together with the other side's the price to which traders come back. */
  readonly reference: bigint;
}

export interface TrafficPool {
  readonly program: Party;
  readonly authority: Party;
  readonly config: Party;
  readonly address: Party;
  readonly observation: Party;
  readonly sides: readonly [TrafficPoolSide, TrafficPoolSide];
  readonly wrapped: readonly Wrapped[];
}

const isNative = (mint: KnownMint) => mint.address === wellKnownAddresses.wrappedNativeMint;

function mintParty(mint: KnownMint): MintParty {
  return { address: mint.address, bytes: mint.bytes, program: partyOf(mint.program), decimals: mint.decimals };
}

/** A mint of genesis whose units the traffic can make, because its authority is a wallet by name; null for others. */
function tradedMint(mint: KnownMint, description: GenesisDescription, traders: readonly Wallet[]): TrafficMint | null {
  const name = mint.authority;
  if (name === null) return null;
  const keypair = nameOwner(name);
  if (description.wallets.get(name) !== keypair.address) return null;
  const authority = { ...keypairParty(keypair), keypair };
  return holdMint({ ...mintParty(mint), keypair: null, authority }, traders);
}

function trafficPool(
  pool: GenesisPool,
  mints: ReadonlyMap<string, TrafficMint>,
  wrapped: readonly Wrapped[],
): TrafficPool | null {
  const side = (index: 0 | 1): TrafficPoolSide | null => {
    const { mint, vault, amount } = pool.sides[index];
    const known = mints.get(mint.address) ?? null;
    if (known === null && !isNative(mint)) return null;
    return { mint: known, party: known ?? mintParty(mint), vault: partyOf(vault), reference: amount };
  };
  const sides = [side(0), side(1)] as const;
  if (sides[0] === null || sides[1] === null) return null;
  return {
    program: partyOf(pool.program),
    authority: partyOf(pool.authority),
    config: partyOf(pool.config),
    address: partyOf(pool.address),
    observation: partyOf(pool.observation),
    sides: [sides[0], sides[1]],
    wrapped,
  };
}

/** The pools of genesis that the traffic can trade in, and their mints. */
export function trafficPools(
  description: GenesisDescription,
  traders: readonly Wallet[],
): { readonly pools: readonly TrafficPool[]; readonly mints: readonly TrafficMint[] } {
  const mints = new Map<string, TrafficMint>();
  for (const { mint } of description.pools.flatMap(({ sides }) => sides)) {
    const traded = isNative(mint) || mints.has(mint.address) ? null : tradedMint(mint, description, traders);
    if (traded !== null) mints.set(mint.address, traded);
  }
  const native: MintParty = {
    ...partyOf(wellKnownAddresses.wrappedNativeMint),
    program: partyOf(programs.token),
    decimals: 9,
  };
  const wrapped =
    description.pools.length === 0 ? [] : traders.map((owner) => ({ ...associated(owner, native), owner }));
  return {
    pools: description.pools.flatMap((pool) => trafficPool(pool, mints, wrapped) ?? []),
    mints: [...mints.values()],
  };
}

/** swap_base_input of a pool: `from` is the side that goes in. */
export function swapInstruction(
  pool: TrafficPool,
  from: 0 | 1,
  way: { readonly owner: Party; readonly source: Party; readonly target: Party },
  amounts: { readonly amountIn: bigint; readonly leastOut: bigint },
): TrafficInstruction {
  const [into, out] = from === 0 ? pool.sides : [pool.sides[1], pool.sides[0]];
  return {
    program: pool.program,
    accounts: [
      signs(way.owner),
      reads(pool.authority),
      reads(pool.config),
      writes(pool.address),
      writes(way.source),
      writes(way.target),
      writes(into.vault),
      writes(out.vault),
      reads(into.party.program),
      reads(out.party.program),
      reads(into.party),
      reads(out.party),
      writes(pool.observation),
    ],
    data: new ByteWriter()
      .bytes(instructionTag("swap_base_input"))
      .u64(amounts.amountIn)
      .u64(amounts.leastOut)
      .finish(),
  };
}
