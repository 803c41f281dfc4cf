import type { Svm } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { parseTransaction, type Transaction as WireTransaction } from "@sluice/wire/transaction";
import { type Keypair, Transaction, type TransactionInstruction } from "@solana/web3.js";
import { processLog } from "../../log.ts";
import { Chain, type ChainOptions } from "../bank/chain.ts";
import { createGenesis, type GenesisOptions } from "../genesis/genesis.ts";
import { defaultOptions } from "../options.ts";
import { airdropTransaction } from "../rpc/airdrop.ts";

/** A chain without endpoints whose clock moves one slot time with every slot that the test closes. */
export interface ManualChain extends AsyncDisposable {
  readonly chain: Chain;
  /** Closes slots, each 400 ms after the one before. */
  closeSlots(count: number): Promise<void>;
  /** Sends lamports from the faucet in the open slot. */
  fund(keypair: Keypair, lamports: bigint): void;
}

export async function startManualChain(
  options: Partial<ChainOptions & GenesisOptions> = {},
  svm: Svm = new LiteSvmMachine(),
): Promise<ManualChain> {
  const all = { ...defaultOptions, votes: false, ...options, seed: "manual" };
  let now = 1_800_000_000_000;
  const chain = await Chain.start(all, await createGenesis(all, svm), {
    svm,
    now: () => now,
    log: processLog("test chain"),
  });
  return {
    chain,
    async closeSlots(count) {
      for (let closed = 0; closed < count; closed += 1) {
        await chain.settled();
        now += all.slotMs;
        await chain.closeSlot();
      }
    },
    fund(keypair, lamports) {
      chain.submit(faucetTransfer(chain, keypair.publicKey.toBytes(), lamports));
    },
    async [Symbol.asyncDispose]() {
      await chain[Symbol.asyncDispose]();
    },
  };
}

function faucetTransfer(chain: Chain, to: Uint8Array, lamports: bigint): WireTransaction {
  return airdropTransaction(chain.genesis.faucet, to, lamports, chain.at("processed").blockhash, 0);
}

/** A signed legacy transaction as the chain takes it. */
export function signed(payer: Keypair, blockhash: string, ...instructions: TransactionInstruction[]): WireTransaction {
  return signedBy([payer], blockhash, ...instructions);
}

/** The same with several signers, the first of whom pays. */
export function signedBy(
  signers: readonly [Keypair, ...Keypair[]],
  blockhash: string,
  ...instructions: TransactionInstruction[]
): WireTransaction {
  const transaction = new Transaction({ feePayer: signers[0].publicKey, recentBlockhash: blockhash });
  transaction.add(...instructions).sign(...signers);
  const parsed = parseTransaction(new Uint8Array(transaction.serialize()));
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.transaction;
}
