import { addressBytes } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { TextRandom } from "../../random.ts";
import type { Chain } from "../bank/chain.ts";
import { bytesOf } from "../model/token-accounts.ts";
import { mintState, tokenAmount } from "../model/token-state.ts";
import { type ManualChain, startManualChain } from "../testing/chain.ts";
import { ammProgram, poolOffsets } from "./amm/layout.ts";
import { marketplaceProgram } from "./marketplace/layout.ts";
import { metadataProgramAddress, metadataTags } from "./metaplex/layout.ts";
import { instructionTag } from "./runtime.ts";
import { type Form, soundForms } from "./testing/sound-forms.ts";

const ammInstructions = ["swap_base_input", "swap_base_output", "deposit", "withdraw"] as const;
const market = ["list_legacy", "delist_legacy", "buy_legacy"] as const;
const tagsByProgram: ReadonlyMap<string, readonly Uint8Array[]> = new Map([
  [ammProgram, ammInstructions.map(instructionTag)],
  [marketplaceProgram, market.map(instructionTag)],
  [metadataProgramAddress, Object.values(metadataTags).map((tag) => Uint8Array.of(tag))],
]);
const edges = [0n, 1n, 2n, 1_000n, 1_000_000n, 1_000_000_000n, 0x7fff_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn] as const;

interface World {
  readonly payer: Uint8Array;
  readonly keys: readonly Uint8Array[];
  /** The accounts of whole instructions, in their order, from which a call departs. */
  readonly forms: readonly Form[];
}

function worldOf(chain: Chain): World {
  const forms = soundForms(chain.genesis.description);
  const payer = bytesOf(chain.genesis.description.wallets.get("alice") ?? programs.system);
  return { payer, keys: [bytesOf(programs.memo), ...forms.flatMap(({ keys }) => keys)], forms };
}

function callData(draw: TextRandom, { program, tags }: Form): Uint8Array {
  const tag = draw.pick(draw.below(8) === 0 ? (tagsByProgram.get(program) ?? []) : tags);
  const writer = new ByteWriter().bytes(tag ?? new Uint8Array());
  for (let field = draw.below(6) === 0 ? draw.below(3) : 3; field > 0; field -= 1) {
    const kind = draw.below(9);
    if (kind < 4) writer.u64(draw.pick(edges) ?? 0n);
    else if (kind < 8) writer.u64(BigInt(draw.magnitude(0, 12)));
    else writer.bytes(Uint8Array.from({ length: draw.below(12) }, () => draw.below(256)));
  }
  return writer.finish();
}

/**
 * A call that departs from a sound one: accounts exchanged, left out, repeated, and data of any kind; signed by alice.
 */
function hostileCall(draw: TextRandom, world: World, blockhash: Uint8Array): Transaction | null {
  const form = draw.pick(world.forms);
  if (form === null) return null;
  const changes = Math.max(0, draw.below(5) - 2);
  const called = [...form.keys];
  for (let change = 0; change < changes; change += 1) {
    const at = draw.below(called.length);
    if (draw.below(5) === 0) called.splice(at, 1);
    else called[at] = draw.pick(world.keys) ?? world.payer;
  }
  const byText = new Map(called.map((key) => [Buffer.from(key).toString("hex"), key]));
  const payer = Buffer.from(world.payer).toString("hex");
  byText.delete(payer);
  const program = bytesOf(form.program);
  byText.delete(Buffer.from(program).toString("hex"));
  const staticKeys = [world.payer, ...byText.values(), program];
  const index = new Map(staticKeys.map((key, position) => [Buffer.from(key).toString("hex"), position]));
  const accountIndexes = called.map((key) => index.get(Buffer.from(key).toString("hex")) ?? 0);
  const message = encodeMessage({
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1 + (draw.below(8) === 0 ? draw.below(staticKeys.length - 1) : 0),
    staticKeys,
    blockhash,
    instructions: [{ programIndex: staticKeys.length - 1, accountIndexes, data: callData(draw, form) }],
  });
  const signature = Uint8Array.from({ length: 64 }, () => draw.below(256));
  const parsed = parseTransaction(new ByteWriter().u8(1).bytes(signature).bytes(message).finish());
  return parsed.ok ? parsed.transaction : null;
}

interface Shares {
  readonly product: bigint;
  readonly supply: bigint;
}

/** The holdings of a pool, and its units of liquidity. */
function sharesOf(chain: Chain): Shares[] {
  return chain.genesis.description.pools.map(({ address, sides }) => {
    const [zero = 0n, one = 0n] = sides.map(({ vault }) => {
      const account = chain.accounts.newest(vault);
      return account === null ? 0n : tokenAmount(account);
    });
    const data = chain.accounts.newest(address)?.data ?? new Uint8Array(poolOffsets.lpSupply + 8);
    const supply = new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(poolOffsets.lpSupply, true);
    return { product: zero * one, supply };
  });
}

function faultOf(chain: Chain, before: readonly Shares[]): string | null {
  for (const [index, now] of sharesOf(chain).entries()) {
    const then = before[index];
    if (then === undefined) return "a pool is gone";
    // Each unit of liquidity stands for as much as before, or more: a unit's worth is the root of the product over it.
    if (now.product * then.supply * then.supply < then.product * now.supply * now.supply) return `pool ${index} lost`;
  }
  for (const [name, mint] of chain.genesis.description.mints) {
    const account = chain.accounts.newest(mint);
    const state = account === null ? null : mintState(account);
    if (state?.decimals === 0 && state.supply > 1n) return `there are ${state.supply} of ${name}`;
  }
  return null;
}

interface Tally {
  landed: number;
  succeeded: number;
  fault: string | null;
}

async function runSlot(manual: ManualChain, draw: TextRandom, calls: number, tally: Tally): Promise<void> {
  const { chain } = manual;
  const world = worldOf(chain);
  const before = sharesOf(chain);
  const blockhash = addressBytes(chain.at("processed").blockhash);
  for (let sent = 0; sent < calls; sent += 1) {
    const transaction = hostileCall(draw, world, blockhash);
    if (transaction !== null) chain.submit(transaction, true);
  }
  await manual.closeSlots(1);
  for (const { error, preBalances, postBalances, fee } of chain.history.block(chain.at("processed").slot)
    ?.transactions ?? []) {
    const sum = (balances: readonly bigint[]) => balances.reduce((total, balance) => total + balance, 0n);
    tally.landed += 1;
    if (error === null) tally.succeeded += 1;
    if (sum(preBalances) - sum(postBalances) !== fee) tally.fault ??= "lamports came or went";
  }
  tally.fault ??= faultOf(chain, before);
}

const callsPerSlot = 50;
/** A chain is begun anew so often, with its tokens unburned and its listings there. */
const callsPerChain = 1_000;

/**
 * Calls the chain's own programs `n` times with accounts and data that are nearly right or quite wrong, signed by
 * a holder of tokens. However often that succeeds, a unit of a pool's liquidity never stands for less, no token
 * of one unit becomes two, and no lamport comes or goes.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const draw = new TextRandom(`hostile calls ${seed}`);
  const tally: Tally = { landed: 0, succeeded: 0, fault: null };
  for (let done = 0; done < n && tally.fault === null; done += callsPerChain) {
    await using manual = await startManualChain();
    const end = Math.min(callsPerChain, n - done);
    for (let sent = 0; sent < end; sent += callsPerSlot) await runSlot(manual, draw, callsPerSlot, tally);
  }
  const { landed, succeeded, fault } = tally;
  const summary = `${landed} calls landed, ${succeeded} of them succeeded, ${fault ?? "nothing was lost"}`;
  return { passed: fault === null && landed > n / 2 && succeeded > n / 100, summary };
}
