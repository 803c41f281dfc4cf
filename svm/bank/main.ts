import { readSync, writeSync } from "node:fs";
import type { ByteReader } from "@sluice/wire/bytes";
import { FrameSplitter, FrameWriter } from "@sluice/wire/frames";
import { executeBundle, simulateBundle } from "./bundle.ts";
import { type CoreOutcome, type CoreTransaction, LiteSvmCore } from "./core.ts";
import {
  LineNumbers,
  readAccount,
  readTransaction,
  writeAccounts,
  writeOutcome,
  writeSimulation,
} from "./machine-codec.ts";
import { REQUEST } from "./messages.ts";

const READ_BYTES = 256 * 1_024;
const READS_AT_A_STRETCH = 16;
const STDIN = 0;
const STDOUT = 1;

function readTransactions(reader: ByteReader): CoreTransaction[] {
  return Array.from({ length: reader.u16() }, () => readTransaction(reader));
}

/** The machine behind the protocol. */
class MachineServer {
  readonly #core = new LiteSvmCore();
  readonly #lines = new LineNumbers();
  readonly #writer = new FrameWriter();

  /** Does what a request asks; the answer's frame. */
  answer(kind: number, reader: ByteReader): Uint8Array {
    this.#writer.begin(kind);
    if (kind === REQUEST.execute) this.#execute(reader);
    else if (kind === REQUEST.simulate) this.#simulate(reader);
    else if (kind === REQUEST.write) this.#write(reader);
    else if (kind === REQUEST.genesisAccounts) writeAccounts(this.#writer, this.#core.brought());
    else if (kind === REQUEST.beginRebuild) this.#core.beginRebuild();
    else if (kind === REQUEST.endRebuild) this.#core.endRebuild();
    else if (kind === REQUEST.executeBundle) this.#executeBundle(reader);
    else if (kind === REQUEST.simulateBundle) this.#simulateBundle(reader);
    else throw new RangeError(`a request of kind ${kind}`);
    return this.#writer.end().take();
  }

  #execute(reader: ByteReader): void {
    const nextNonce = reader.bytes(32);
    const count = reader.u16();
    this.#writer.u16(count);
    for (let left = count; left > 0; left -= 1) {
      const outcome = this.#core.execute(readTransaction(reader), nextNonce);
      writeOutcome(this.#writer, outcome, this.#lines);
    }
  }

  #executeBundle(reader: ByteReader): void {
    const nextNonce = reader.bytes(32);
    this.#answerOutcomes(executeBundle(readTransactions(reader), nextNonce, this.#core));
  }

  #simulateBundle(reader: ByteReader): void {
    const nextNonce = reader.bytes(32);
    const transactions = readTransactions(reader);
    const overlay = Array.from({ length: reader.u32() }, () => readAccount(reader));
    this.#answerOutcomes(simulateBundle(transactions, overlay, nextNonce, this.#core));
  }

  #answerOutcomes(outcomes: readonly CoreOutcome[]): void {
    this.#writer.u16(outcomes.length);
    for (const outcome of outcomes) writeOutcome(this.#writer, outcome, this.#lines);
  }

  #simulate(reader: ByteReader): void {
    const transaction = readTransaction(reader);
    const overlay = Array.from({ length: reader.u32() }, () => readAccount(reader));
    writeSimulation(this.#writer, this.#core.simulate(transaction, overlay), this.#lines);
  }

  #write(reader: ByteReader): void {
    let fault = "";
    for (let left = reader.u32(); left > 0; left -= 1) {
      const { key, account } = readAccount(reader);
      try {
        this.#core.write(key, account);
      } catch (error) {
        // A program that LiteSVM cannot load.
        if (fault === "") fault = error instanceof Error ? error.message : String(error);
      }
    }
    this.#writer.sizedText(fault);
  }
}

/**
 * Entry of the machine's process: requests on standard input, answers on standard output. It waits in the reads and
 * writes themselves, since it has one thing to do at a time; the end of its input ends it, so it never outlives the
 * chain, however that dies. It turns to the event loop between reads, for there the runtime gives back the accounts of
 * LiteSVM's that nobody holds any more.
 */
async function main(): Promise<void> {
  const server = new MachineServer();
  const splitter = new FrameSplitter();
  const chunk = new Uint8Array(READ_BYTES);
  for (let reads = 1; ; reads += 1) {
    if (reads % READS_AT_A_STRETCH === 0) await new Promise((resolve) => setImmediate(resolve));
    const length = readSync(STDIN, chunk, 0, chunk.length, null);
    if (length === 0) return;
    for (const { kind, reader } of splitter.push(chunk.subarray(0, length))) {
      const answer = server.answer(kind, reader);
      for (let written = 0; written < answer.length; ) {
        written += writeSync(STDOUT, answer, written, answer.length - written);
      }
    }
  }
}

await main();
process.exit(0);
