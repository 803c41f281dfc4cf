import { seededRandom, systemClock } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import { tipAccounts } from "../../../../../devnet/chain/consensus/tips/tip-programs.ts";
import type { ChainAccount } from "../../../../../devnet/chain/model/records.ts";
import { type ManualChain, startManualChain } from "../../../../../devnet/chain/testing/chain.ts";
import type { AccountSource, RawAccount, Simulator } from "../simulation.ts";
import { createSimulator, type SimulatorOptions } from "../simulator.ts";

export { tipAccounts };

/** A source whose reads a test can count and fail. */
export interface ChainSource extends AccountSource {
  readonly reads: { readonly addresses: readonly Address[]; readonly dataBytes: number | null }[];
  fails: boolean;
}

function cut(account: ChainAccount | null, dataBytes: number | null): RawAccount | null {
  if (account === null) return null;
  return {
    lamports: account.lamports,
    owner: addressBytes(account.owner as Address),
    executable: account.executable,
    // A copy, since the chain uses its bytes again.
    data: account.data.slice(0, dataBytes ?? account.data.length),
    space: account.data.length,
  };
}

/** The accounts of a development chain in this process, as of its newest frozen slot. */
export function chainSource({ chain }: ManualChain): ChainSource {
  return {
    reads: [],
    fails: false,
    async accounts(addresses, { dataBytes }) {
      this.reads.push({ addresses, dataBytes });
      if (this.fails) throw new Error("no node answers");
      const { slot } = chain.at("processed");
      return { slot, accounts: addresses.map((address) => cut(chain.account(address, "processed"), dataBytes)) };
    },
  };
}

export interface SimulatedChain extends AsyncDisposable {
  readonly manual: ManualChain;
  readonly source: ChainSource;
  readonly simulator: Simulator;
  /** Why processes of the simulator ended, in order. */
  readonly machinesEnded: readonly string[];
  /** Closes slots and reports the newest to the simulator. */
  closeSlots(count: number): Promise<void>;
}

/** A development chain in this process and a simulator over it. */
export async function startSimulatedChain(options: Partial<SimulatorOptions> = {}): Promise<SimulatedChain> {
  const manual = await startManualChain({});
  const source = chainSource(manual);
  const machinesEnded: string[] = [];
  const simulator = await createSimulator(
    { tipAccounts, ...options },
    {
      source,
      clock: systemClock,
      random: seededRandom(1),
      log: { info: () => undefined, warn: () => undefined },
      isRecentBlockhash: (blockhash) =>
        manual.chain.blockhashes.isValid(blockhash, manual.chain.at("processed").blockHeight),
      machineEnded: (reason) => machinesEnded.push(reason),
    },
  );
  return {
    ...{ manual, source, simulator, machinesEnded },
    async closeSlots(count) {
      await manual.closeSlots(count);
      simulator.onSlot(manual.chain.at("processed").slot);
    },
    async [Symbol.asyncDispose]() {
      await simulator[Symbol.asyncDispose]();
      await manual[Symbol.asyncDispose]();
    },
  };
}
