import { verify } from "node:crypto";
import { parseTransaction } from "@sluice/wire";
import { FrameReader, FrameWriter } from "@sluice/wire/frames/index.ts";
import { LiteSvm } from "litesvm/dist/internal.js";
import { BundleMachine } from "../../server/src/engine/simulation/child/bundle-machine.ts";
import { readBundle, writeOutcome } from "../../server/src/engine/simulation/child/machine-codec.ts";
import { writtenAccount } from "../../server/src/engine/simulation/child/native-machine.ts";
import { FRAME, NO_BLOCK, NO_NONCE, SUCCEEDED, VERIFY } from "../../server/src/engine/simulation/protocol/messages.ts";
import type { Load } from "./load.ts";

const roundMs = 400;
const frameHeadBytes = 7;

/** Mean microseconds of CPU for each of the `count` things that one call does; turns of the event loop are part of it. */
export async function cpuOf(count: number, work: (call: number) => unknown): Promise<number> {
  for (let call = 0; call < 3; call += 1) await work(call);
  await new Promise((resolve) => setImmediate(resolve));
  const start = performance.now();
  const before = process.cpuUsage();
  let calls = 0;
  while (performance.now() - start < roundMs) {
    await work(calls);
    calls += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (calls * count);
}

function parsed(bytes: Uint8Array) {
  const result = parseTransaction(bytes);
  if (!result.ok) throw new Error(result.fault);
  return result.transaction;
}

/** One signature each, by the two fastest ways there are in this runtime. */
export async function bareRates(load: Load): Promise<Record<string, number>> {
  const batch = load.single.slice(0, 64).map(([bytes = new Uint8Array()], index) => {
    const { message, signatureBytes } = {
      message: parsed(bytes).message,
      signatureBytes: parsed(bytes).signatureBytes(0),
    };
    return { message: message.bytes, signature: signatureBytes, key: load.keys[index] };
  });
  const node = await cpuOf(batch.length, () => {
    for (const { message, signature, key } of batch) {
      if (key === undefined || !verify(null, message, key, signature)) throw new Error("a signature is wrong");
    }
  });
  return { "ed25519, node:crypto, key kept": node, "ed25519, LiteSVM's own": await liteSvmVerify(load) };
}

/** What LiteSVM takes longer for a transaction when it checks the signature: it refuses both for want of funds. */
async function liteSvmVerify(load: Load): Promise<number> {
  const native = new LiteSvm();
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  const batch = load.single.slice(0, 64).flat();
  const costs: number[] = [];
  for (const checks of [true, false]) {
    native.setSigverify(checks);
    costs.push(
      await cpuOf(batch.length, () => {
        for (const bytes of batch) native.sendLegacyTransaction(bytes);
      }),
    );
  }
  return (costs[0] ?? 0) - (costs[1] ?? 0);
}

class LoadedMachine {
  readonly machine = new BundleMachine();
  readonly #handles = new Map<string, number>();

  constructor(load: Load) {
    this.machine.configure(load.tips);
    for (const [hex, account] of load.accounts) {
      const key = Uint8Array.fromHex(hex);
      const { lamports, data, owner } = account;
      this.machine.write(this.#handle(key), key, writtenAccount(lamports, owner, data, false));
    }
  }

  #handle(key: Uint8Array): number {
    const hex = key.toHex();
    const known = this.#handles.get(hex);
    if (known !== undefined) return known;
    this.#handles.set(hex, this.#handles.size);
    return this.#handles.size - 1;
  }

  /** Frames of 64 bundles as the simulator writes them. */
  frames(bundles: Load["single"], flags: number): Uint8Array[] {
    const writer = new FrameWriter();
    const frames: Uint8Array[] = [];
    for (let at = 0; at < bundles.length; at += 64) {
      writer.begin(FRAME.run).u16(64);
      for (const bundle of bundles.slice(at, at + 64)) {
        const keys = new Set<number>();
        let tipMask = 0;
        for (const bytes of bundle) {
          const { message } = parsed(bytes);
          for (const index of [0, 1, 2]) keys.add(this.#handle(message.keyBytes(index)));
          tipMask |= 1 << ([...this.#handles.values()].indexOf(this.#handle(message.keyBytes(2))) - 64);
        }
        writer.u32(NO_BLOCK).u8(flags).u8(tipMask).u16(keys.size);
        for (const key of keys) writer.u32(key);
        writer.u16(0).u8(bundle.length);
        for (const bytes of bundle) writer.u8(1).u32(NO_NONCE).u16(0).u16(bytes.length).fixed(bytes);
      }
      frames.push(writer.end().take());
    }
    return frames;
  }

  run(frame: Uint8Array, writer: FrameWriter): void {
    const reader = new FrameReader(frame.subarray(frameHeadBytes));
    writer.begin(FRAME.run);
    for (let left = 64; left > 0; left -= 1) {
      const outcome = this.machine.run(readBundle(reader));
      if (outcome.kind !== SUCCEEDED || outcome.tip < 1_000n) throw new Error(`a bundle failed: ${outcome.kind}`);
      writeOutcome(writer, outcome);
    }
    writer.end().take();
  }
}

/** The machine alone, with its codec. */
export async function machineRates(load: Load): Promise<Record<string, number>> {
  const loaded = new LoadedMachine(load);
  const writer = new FrameWriter();
  const rate = (bundles: Load["single"], flags: number) => {
    const frames = loaded.frames(bundles, flags);
    return cpuOf(64, (call) => loaded.run(frames[call % frames.length] ?? new Uint8Array(), writer));
  };
  return {
    "machine: bundle of one, run alone": await rate(load.single, 0),
    "machine: bundle of one, verified and run": await rate(load.single, VERIFY),
    "machine: bundle of five, run alone": await rate(load.five, 0),
    "machine: bundle of five, verified and run": await rate(load.five, VERIFY),
  };
}
