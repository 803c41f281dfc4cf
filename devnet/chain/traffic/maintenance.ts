import { decodeAddressLookupTable } from "@sluice/wire/accounts/native";
import { mintSize } from "@sluice/wire/accounts/token";
import { rentExemptLamports } from "../model/index.ts";
import { createAccount, createTable, initializeMint, mintTokens, openTokenAccount } from "./instructions.ts";
import type { Draft, Party, UsableTable } from "./message.ts";
import type { CastMint } from "./parties.ts";
import { mintSigners, type Scene, type SceneChain } from "./traffic-world.ts";
import { tableAddress } from "./wallets.ts";

/** Open accounts that each mint has at least, so that its units can move. */
const holdersMin = 6;
const firstUnits = 1_000n;

/** One thing that the traffic needs and lacks: lamports from the faucet, or a transaction of its own. */
export type Errand =
  | { readonly kind: "allowance"; readonly to: Party; readonly lamports: bigint }
  | { readonly kind: "draft"; readonly draft: Draft };

function allowances(scene: Scene): Errand[] {
  if (scene.allowance === 0n) return [];
  return scene.cast.wallets
    .filter((wallet) => !scene.canPay(wallet) && !scene.holds.has(wallet.address))
    .map((to) => ({ kind: "allowance", to, lamports: scene.allowance }));
}

function mintErrand(scene: Scene, mint: CastMint): Errand | null {
  const { treasury } = scene.cast;
  if (scene.supply(mint) === null) {
    if (mint.keypair === null || scene.holds.has(mint.address)) return null;
    scene.hold(mint.address);
    const size = { lamports: rentExemptLamports(mintSize), space: mintSize };
    const instructions = [createAccount(treasury, mint, size, mint.program), initializeMint(mint, treasury)];
    return { kind: "draft", draft: { signers: [treasury.keypair, mint.keypair], instructions } };
  }
  const held = mint.holdings.filter(({ address }) => scene.holds.has(address)).length;
  const next = scene.closed(mint)[0];
  if (next === undefined || held + scene.open(mint).length >= holdersMin) return null;
  scene.hold(next.address);
  const units = firstUnits * 10n ** BigInt(mint.decimals);
  const opened = openTokenAccount(treasury, next.owner, mint, next);
  const instructions = [opened, mintTokens(mint, next, mint.authority, units)];
  return { kind: "draft", draft: { signers: mintSigners(scene, mint), instructions } };
}

/**
 * What is missing of what the traffic needs, most urgent first, at most `most`. It follows from the chain's state alone:
 * what was lost, spent or undone is made again.
 */
export function errands(scene: Scene, tables: LookupTables, most: number): Errand[] {
  const found = allowances(scene).slice(0, most);
  for (const errand of found) if (errand.kind === "allowance") scene.hold(errand.to.address);
  if (!scene.canPay(scene.cast.treasury)) return found;
  for (const mint of scene.cast.mints) {
    for (let step = 0; step < holdersMin && found.length < most; step += 1) {
      const errand = mintErrand(scene, mint);
      if (errand === null) break;
      found.push(errand);
    }
  }
  const table = found.length < most ? tables.errand(scene) : null;
  return table === null ? found : [...found, table];
}

/** The one lookup table of the traffic: made when there is none, used from the slot after that on. */
export class LookupTables {
  #made: Party | null = null;
  #usable: UsableTable | null = null;

  usable(chain: SceneChain, slot: bigint): UsableTable | null {
    const account = this.#made === null ? null : chain.read(this.#made.address);
    const table = account === null ? null : decodeAddressLookupTable(account.data);
    if (this.#made === null || table === null || table.lastExtendedSlot >= slot) return null;
    if (this.#usable?.positions.size !== table.addresses.length || this.#usable.party !== this.#made) {
      const positions = new Map<string, number>(table.addresses.map((address, position) => [address, position]));
      this.#usable = { party: this.#made, positions };
    }
    return this.#usable;
  }

  errand(scene: Scene): Errand | null {
    const { treasury, tableMembers } = scene.cast;
    const under = this.#made !== null && scene.holds.has(this.#made.address);
    if (under || (this.#made !== null && scene.chain.read(this.#made.address) !== null)) return null;
    const recentSlot = scene.slot - 1n;
    const { party, bump } = tableAddress(treasury, recentSlot);
    this.#made = party;
    scene.hold(party.address);
    const instructions = createTable(party, treasury, { recentSlot, bump }, tableMembers);
    return { kind: "draft", draft: { signers: [treasury.keypair], instructions } };
  }
}
