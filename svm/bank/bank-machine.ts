import { fileURLToPath } from "node:url";
import { type Clock, type Log, within } from "@sluice/lib";
import type { ByteReader } from "@sluice/wire/bytes";
import { FrameWriter } from "@sluice/wire/frames";
import type { Launch } from "../process/launcher.ts";
import { MachineProcess } from "../process/machine-process.ts";
import { AnswerReader, writeKeyedAccount, writeTransaction } from "./host-codec.ts";
import { requests } from "./protocol.ts";
import {
  type AccountWrite,
  MachineEndedError,
  type MachineFacts,
  type Svm,
  type SvmOutcome,
  type SvmTransaction,
} from "./svm.ts";

const entry = fileURLToPath(new URL("./main.ts", import.meta.url));
/** Accounts are sent in frames of about so many bytes, each after the one before was answered. */
const writeFrameBytes = 256 * 1_024;
const accountHeadBytes = 100;
/** How long a rebuild waits for the next life of the process. */
const upTimeoutMs = 20_000;

export interface BankMachineDependencies {
  readonly launch: Launch;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly log: Pick<Log, "warn">;
}

interface Request {
  readonly answer: (reader: ByteReader) => void;
  readonly lost: () => void;
}

/**
 * The virtual machine in a separate process. An abort of LiteSVM costs the chain a rebuild, and the event loop of the
 * chain does none of its work.
 */
export class BankMachine implements Svm {
  readonly #dependencies: BankMachineDependencies;
  readonly #writer = new FrameWriter();
  #process: MachineProcess<Request> | null = null;
  #answers = new AnswerReader();
  /** True from the end of a life to the rebuild of the next one. */
  #isEnded = false;
  #isClosed = false;
  #ended = 0;
  #up = Promise.withResolvers<void>();

  private constructor(dependencies: BankMachineDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {Error} when the process does not start. */
  static async start(dependencies: BankMachineDependencies): Promise<BankMachine> {
    const machine = new BankMachine(dependencies);
    const { launch, clock, log } = dependencies;
    machine.#process = await MachineProcess.start<Request>(
      { name: "virtual machine", entry, env: {} },
      {
        ...{ launch, clock, log },
        onUp: () => machine.#began(),
        onAnswer: (request, reader) => request.answer(reader),
        onLost: (lost) => machine.#lost(lost),
        onExit: (reason) => log.warn({ reason }, "the process of the virtual machine ended"),
      },
    );
    return machine;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get facts(): MachineFacts {
    return { pid: this.#process?.pid ?? null, ended: this.#ended };
  }

  #began(): void {
    this.#answers = new AnswerReader();
    this.#up.resolve();
  }

  #lost(lost: readonly Request[]): void {
    this.#isEnded = true;
    this.#up = Promise.withResolvers<void>();
    if (!this.#isClosed) this.#ended += 1;
    for (const request of lost) request.lost();
  }

  #ask<Answer>(frame: Uint8Array, read: (reader: ByteReader) => Answer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    if (this.#isEnded) reject(new MachineEndedError());
    else {
      this.#process?.request(frame, {
        answer: (reader) => resolve(read(reader)),
        lost: () => reject(new MachineEndedError()),
      });
    }
    return promise;
  }

  /** Sends transactions to be run, all in one frame; `writeRest` writes what follows them. */
  #run(
    kind: number,
    transactions: readonly SvmTransaction[],
    nextNonce: Uint8Array,
    writeRest: (writer: FrameWriter) => void = () => undefined,
  ): Promise<readonly SvmOutcome[]> {
    const writer = this.#writer.begin(kind).bytes(nextNonce).u16(transactions.length);
    for (const transaction of transactions) writeTransaction(writer, transaction);
    writeRest(writer);
    return this.#ask(writer.end().take(), (reader) => {
      const count = reader.u16();
      return transactions.slice(0, count).map((transaction) => this.#answers.outcome(reader, transaction));
    });
  }

  execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return this.#run(requests.execute, transactions, nextNonce);
  }

  executeBundle(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return this.#run(requests.executeBundle, transactions, nextNonce);
  }

  simulateBundle(
    transactions: readonly SvmTransaction[],
    overlay: readonly AccountWrite[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]> {
    return this.#run(requests.simulateBundle, transactions, nextNonce, (writer) => writeOverlay(writer, overlay));
  }

  simulate(transaction: SvmTransaction, overlay: readonly AccountWrite[], _nextNonce: Uint8Array): Promise<SvmOutcome> {
    const writer = this.#writer.begin(requests.simulate);
    writeTransaction(writer, transaction);
    writeOverlay(writer, overlay);
    return this.#ask(writer.end().take(), (reader) => this.#answers.simulation(reader));
  }

  async write(accounts: Iterable<AccountWrite>): Promise<void> {
    for await (const error of this.#writeFrames(accounts)) throw new Error(error);
  }

  /** Writes accounts frame by frame and yields the errors of those that were not taken. */
  async *#writeFrames(accounts: Iterable<AccountWrite>): AsyncGenerator<string> {
    let frame: AccountWrite[] = [];
    let bytes = 0;
    for (const write of accounts) {
      frame.push(write);
      bytes += accountHeadBytes + (write.account?.data.length ?? 0);
      if (bytes < writeFrameBytes) continue;
      yield* this.#writeFrame(frame);
      frame = [];
      bytes = 0;
    }
    if (frame.length > 0) yield* this.#writeFrame(frame);
  }

  async *#writeFrame(accounts: readonly AccountWrite[]): AsyncGenerator<string> {
    const writer = this.#writer.begin(requests.write);
    writeOverlay(writer, accounts);
    const error = await this.#ask(writer.end().take(), (reader) => reader.sizedText());
    if (error !== "") yield error;
  }

  genesisAccounts(): Promise<readonly AccountWrite[]> {
    const frame = this.#writer.begin(requests.genesisAccounts).end().take();
    return this.#ask(frame, (reader) => this.#answers.accounts(reader));
  }

  async rebuild(accounts: Iterable<AccountWrite>): Promise<void> {
    if (this.#isEnded) await this.#nextLife();
    await this.#ask(this.#writer.begin(requests.beginRebuild).end().take(), () => undefined);
    // A program that could not be loaded when it was written is not loaded now either, and calls of it fail as before.
    for await (const error of this.#writeFrames(accounts)) {
      this.#dependencies.log.warn({ error }, "the virtual machine could not load a program");
    }
    await this.#ask(this.#writer.begin(requests.endRebuild).end().take(), () => undefined);
  }

  async #nextLife(): Promise<void> {
    const up = await within(this.#dependencies.clock, upTimeoutMs, this.#up.promise);
    if (!up.ok) throw new MachineEndedError();
    this.#isEnded = this.#process?.isUp !== true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#process?.[Symbol.asyncDispose]();
  }
}

function writeOverlay(writer: FrameWriter, accounts: readonly AccountWrite[]): void {
  writer.u32(accounts.length);
  for (const account of accounts) writeKeyedAccount(writer, account);
}
