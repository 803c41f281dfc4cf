import { monotonicMs, systemClock } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { ByteReader } from "@sluice/wire/bytes";
import { FrameWriter } from "@sluice/wire/frames";
import { sysvars } from "@sluice/wire/programs";
import { AccountCache, type AccountEntry } from "../../server/src/engine/simulation/account-cache.ts";
import { AccountSupply } from "../../server/src/engine/simulation/account-supply.ts";
import { writeJobs } from "../../server/src/engine/simulation/machine.ts";
import type { PreparedBundle } from "../../server/src/engine/simulation/prepared-bundle.ts";
import { Preparer, Resolver } from "../../server/src/engine/simulation/resolver.ts";
import type { AccountSource } from "../../server/src/engine/simulation/simulation.ts";
import { BundleMachine } from "../../svm/bundles/bundle-machine.ts";
import { frameKinds, readBundle, readUpdate, writeOutcome, writeUpdates } from "../../svm/bundles/protocol.ts";
import { atTurn, cpuOf } from "./cpu.ts";

const frameBundles = 64;
const headBytes = 5;
const slot = 1_000_000n;

export interface Bundles {
  readonly source: AccountSource;
  readonly tips: readonly Uint8Array[];
  readonly bundles: readonly (readonly Uint8Array[])[];
}

/** Frames of 64 bundles as the simulator writes them, and a machine that holds their accounts. */
export class LoadedMachine {
  readonly #machine = new BundleMachine();
  readonly #writer = new FrameWriter();
  readonly #bundles: readonly PreparedBundle[];

  private constructor(
    tips: readonly Uint8Array[],
    bundles: readonly PreparedBundle[],
    always: readonly AccountEntry[],
  ) {
    this.#machine.configure(tips);
    this.#bundles = bundles;
    const entries = bundles.flatMap(({ supports, writes, reads }) => [...supports, ...writes, ...reads]);
    writeUpdates(this.#writer, [...new Set([...always, ...entries])]);
    const frames = this.#writer.take();
    for (let at = 0; at < frames.length; ) {
      const end = at + headBytes + new DataView(frames.buffer, at).getUint32(0, true);
      const reader = new ByteReader(frames.subarray(at + headBytes, end));
      for (let left = reader.u32(); left > 0; left -= 1) this.#machine.write(readUpdate(reader));
      at = end;
    }
  }

  static async of({ source, tips, bundles }: Bundles): Promise<LoadedMachine> {
    const cache = new AccountCache({ bytesMax: 2 ** 30, onForgotten: () => undefined });
    const newestSlot = () => slot;
    const read: AccountSource = {
      accounts: async (addresses, bound) => ({ ...(await source.accounts(addresses, bound)), slot }),
    };
    const supply = new AccountSupply({ cache, source: read, newestSlot, clock: systemClock });
    const resolver = new Resolver({ cache, supply, tipAccounts: tips, isRecentBlockhash: () => true });
    const always = [sysvars.clock, sysvars.rent].map((address) => cache.of(addressBytes(address)));
    const preparer = new Preparer({ supply, resolver, always, newestSlot });
    const prepared: PreparedBundle[] = [];
    for (const [index, transactions] of bundles.entries()) {
      const preparation = await preparer.prepare({ id: `${index}`, transactions });
      if (!preparation.ok) throw new Error(JSON.stringify(preparation.outcome));
      prepared.push(preparation.bundle);
    }
    return new LoadedMachine(tips, prepared, always);
  }

  #frames(verify: boolean): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (let at = 0; at < this.#bundles.length; at += frameBundles) {
      const jobs = this.#bundles.slice(at, at + frameBundles).map((bundle) => ({
        ...{
          bundle,
          block: null,
          keep: false,
          verify,
          isReplay: false,
          since: monotonicMs(0),
          isSuspect: false,
          deaths: 0,
        },
        settle: () => undefined,
      }));
      writeJobs(this.#writer, jobs);
      frames.push(this.#writer.take().slice(headBytes));
    }
    return frames;
  }

  #run(frame: Uint8Array): void {
    const reader = new ByteReader(frame);
    const writer = this.#writer.begin(frameKinds.run);
    for (let left = reader.u16(); left > 0; left -= 1) {
      const outcome = this.#machine.run(readBundle(reader));
      if (outcome.kind !== "succeeded") throw new Error(`a bundle failed: ${JSON.stringify(outcome)}`);
      writeOutcome(writer, outcome);
    }
    writer.end().take();
  }

  /** Microseconds of CPU that a bundle takes, the machine's half of the protocol included. */
  rate(verify: boolean): Promise<number> {
    const frames = this.#frames(verify);
    return cpuOf(frameBundles, (call) => this.#run(atTurn(frames, call)));
  }
}
