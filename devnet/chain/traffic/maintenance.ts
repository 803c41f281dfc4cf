import { decodeAddressLookupTable } from "@sluice/wire/accounts/native";
import { mintSize } from "@sluice/wire/accounts/token";
import { rentExemptLamports } from "../model/index.ts";
import { createAccount, createTable, initializeMint, mintTokens, openTokenAccount } from "./instructions.ts";
import type { Draft, Party, UsableTable } from "./message.ts";
import type { TrafficMint } from "./parties.ts";
import { mintSigners, type TrafficWorld, type WorldChain } from "./traffic-world.ts";
import { tableAddress } from "./wallets.ts";

/** Open accounts that each mint has at least, so that its units can move. */
const holdersMin = 6;
const firstUnits = 1_000n;

/** One thing that the traffic needs and lacks: lamports from the faucet, or its own transaction. */
export type MaintenanceTask =
  | { readonly kind: "allowance"; readonly to: Party; readonly lamports: bigint }
  | { readonly kind: "draft"; readonly draft: Draft };

function allowances(world: TrafficWorld): MaintenanceTask[] {
  if (world.allowance === 0n) return [];
  return world.accounts.wallets
    .filter((wallet) => !world.canPay(wallet) && !world.holds.has(wallet.address))
    .map((to) => ({ kind: "allowance", to, lamports: world.allowance }));
}

function mintTask(world: TrafficWorld, mint: TrafficMint): MaintenanceTask | null {
  const { treasury } = world.accounts;
  if (world.supply(mint) === null) {
    if (mint.keypair === null || world.holds.has(mint.address)) return null;
    world.hold(mint.address);
    const size = { lamports: rentExemptLamports(mintSize), space: mintSize };
    const instructions = [createAccount(treasury, mint, size, mint.program), initializeMint(mint, treasury)];
    return { kind: "draft", draft: { signers: [treasury.keypair, mint.keypair], instructions } };
  }
  const held = mint.holdings.filter(({ address }) => world.holds.has(address)).length;
  const next = world.closed(mint)[0];
  if (next === undefined || held + world.open(mint).length >= holdersMin) return null;
  world.hold(next.address);
  const units = firstUnits * 10n ** BigInt(mint.decimals);
  const opened = openTokenAccount(treasury, next.owner, mint, next);
  const instructions = [opened, mintTokens(mint, next, mint.authority, units)];
  return { kind: "draft", draft: { signers: mintSigners(world, mint), instructions } };
}

/**
 * What is missing of what the traffic needs, most urgent first, at most `most`. It follows from the chain's state
 * alone: what was lost, spent or undone is made again.
 */
export function maintenanceTasks(world: TrafficWorld, tables: LookupTables, most: number): MaintenanceTask[] {
  const found = allowances(world).slice(0, most);
  for (const task of found) if (task.kind === "allowance") world.hold(task.to.address);
  if (!world.canPay(world.accounts.treasury)) return found;
  for (const mint of world.accounts.mints) {
    for (let step = 0; step < holdersMin && found.length < most; step += 1) {
      const task = mintTask(world, mint);
      if (task === null) break;
      found.push(task);
    }
  }
  const table = found.length < most ? tables.task(world) : null;
  return table === null ? found : [...found, table];
}

/** The one lookup table of the traffic: made when there is none, used from the slot after that on. */
export class LookupTables {
  #made: Party | null = null;
  #usable: UsableTable | null = null;

  usable(chain: WorldChain, slot: bigint): UsableTable | null {
    const account = this.#made === null ? null : chain.read(this.#made.address);
    const table = account === null ? null : decodeAddressLookupTable(account.data);
    if (this.#made === null || table === null || table.lastExtendedSlot >= slot) return null;
    if (this.#usable?.positions.size !== table.addresses.length || this.#usable.party !== this.#made) {
      const positions = new Map<string, number>(table.addresses.map((address, position) => [address, position]));
      this.#usable = { party: this.#made, positions };
    }
    return this.#usable;
  }

  task(world: TrafficWorld): MaintenanceTask | null {
    const { treasury, tableMembers } = world.accounts;
    const under = this.#made !== null && world.holds.has(this.#made.address);
    if (under || (this.#made !== null && world.chain.read(this.#made.address) !== null)) return null;
    const recentSlot = world.slot - 1n;
    const { party, bump } = tableAddress(treasury, recentSlot);
    this.#made = party;
    world.hold(party.address);
    const instructions = createTable(party, treasury, { recentSlot, bump }, tableMembers);
    return { kind: "draft", draft: { signers: [treasury.keypair], instructions } };
  }
}
