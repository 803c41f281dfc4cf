import type { ByteReader } from "@sluice/wire/bytes";
import type { Frame, FrameWriter } from "@sluice/wire/frames";
import { serveMachine } from "../process/serve.ts";
import { executeBundle, simulateBundle } from "./bundle.ts";
import { type CoreOutcome, LiteSvmCore } from "./core.ts";
import {
  LineNumbers,
  readKeyedAccount,
  readKeyedAccounts,
  readTransaction,
  readTransactions,
  writeKeyedAccounts,
  writeOutcome,
  writeSimulation,
} from "./machine-codec.ts";
import { requests } from "./protocol.ts";

/** Entry of the process of a bank's machine: LiteSVM behind the protocol. */
const core = new LiteSvmCore();
const lines = new LineNumbers();

function writeOutcomes(answers: FrameWriter, outcomes: readonly CoreOutcome[]): void {
  answers.u16(outcomes.length);
  for (const outcome of outcomes) writeOutcome(answers, outcome, lines);
}

/**
 * Writes accounts and answers with the error of the first that LiteSVM did not take: a program that cannot be loaded.
 */
function writeAccounts(reader: ByteReader, answers: FrameWriter): void {
  let first = "";
  for (let left = reader.u32(); left > 0; left -= 1) {
    const { key, account } = readKeyedAccount(reader);
    try {
      core.write(key, account);
    } catch (error) {
      if (first === "") first = error instanceof Error ? error.message : String(error);
    }
  }
  answers.sizedText(first);
}

function execute(reader: ByteReader, answers: FrameWriter): void {
  const nextNonce = reader.bytes(32);
  const count = reader.u16();
  answers.u16(count);
  for (let left = count; left > 0; left -= 1) {
    writeOutcome(answers, core.execute(readTransaction(reader), nextNonce), lines);
  }
}

/** The handler of each request; it writes the answer. */
const handlers: Readonly<Record<number, (reader: ByteReader, answers: FrameWriter) => void>> = {
  [requests.execute]: execute,
  [requests.simulate]: (reader, answers) => {
    const transaction = readTransaction(reader);
    writeSimulation(answers, core.simulate(transaction, readKeyedAccounts(reader)), lines);
  },
  [requests.write]: writeAccounts,
  [requests.genesisAccounts]: (_reader, answers) => writeKeyedAccounts(answers, core.genesisAccounts()),
  [requests.beginRebuild]: () => core.beginRebuild(),
  [requests.endRebuild]: () => core.endRebuild(),
  [requests.executeBundle]: (reader, answers) => {
    const nextNonce = reader.bytes(32);
    writeOutcomes(answers, executeBundle(readTransactions(reader), nextNonce, core));
  },
  [requests.simulateBundle]: (reader, answers) => {
    const nextNonce = reader.bytes(32);
    const transactions = readTransactions(reader);
    writeOutcomes(answers, simulateBundle(transactions, readKeyedAccounts(reader), nextNonce, core));
  },
};

function handle({ kind, reader }: Frame, answers: FrameWriter): void {
  const handler = handlers[kind];
  if (handler === undefined) throw new RangeError(`a request of kind ${kind}`);
  answers.begin(kind);
  handler(reader, answers);
  answers.end();
}

await serveMachine(handle);
