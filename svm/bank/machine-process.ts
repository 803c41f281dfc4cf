import { fileURLToPath } from "node:url";
import type { ByteReader } from "@sluice/wire/bytes";
import { FrameSplitter, FrameWriter } from "@sluice/wire/frames";
import { AnswerReader, writeAccount, writeTransaction } from "./host-codec.ts";
import { REQUEST } from "./messages.ts";
import { type AccountWrite, MachineEndedError, type Svm, type SvmOutcome, type SvmTransaction } from "./svm.ts";

const ENTRY = fileURLToPath(new URL("./main.ts", import.meta.url));
/** Accounts are sent in frames of about so many bytes. */
const WRITE_FRAME_BYTES = 256 * 1_024;
const ACCOUNT_HEAD_BYTES = 100;
/** How long it may take to end when its input has. */
const STOP_MS = 2_000;

type Process = Bun.Subprocess<"pipe", "pipe", "inherit">;

/** Reads the answer to one request, or learns that none will come. */
interface Waiting {
  readonly answer: (reader: ByteReader) => void;
  readonly ended: () => void;
}

/** One life of the machine's process. */
class Life {
  readonly process: Process;
  readonly answers = new AnswerReader();
  readonly over: Promise<void>;
  readonly #waiting: Waiting[] = [];
  isOver = false;

  constructor() {
    this.process = Bun.spawn([process.execPath, ENTRY], {
      // A session of its own: the terminal's Ctrl-C is for the chain, whose end is the end of this one's input.
      detached: true,
      env: {},
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.over = this.#read();
  }

  /** Reads answers until there are no more; what waits then is told. */
  async #read(): Promise<void> {
    const splitter = new FrameSplitter();
    try {
      for await (const chunk of this.process.stdout) {
        for (const { reader } of splitter.push(chunk)) this.#waiting.shift()?.answer(reader);
      }
    } catch (error) {
      console.error(error);
      this.process.kill("SIGKILL");
    }
    this.isOver = true;
    for (const waiting of this.#waiting.splice(0)) waiting.ended();
  }

  /** Sends a frame; resolves when the pipe has taken it, or nobody reads it any more. */
  async send(frame: Uint8Array): Promise<void> {
    try {
      // A write that the pipe does not take at once is a promise too, whatever its type says.
      await Promise.all([this.process.stdin.write(frame), this.process.stdin.flush()]);
    } catch {
      // The end of its output tells that it is gone.
    }
  }

  expect(waiting: Waiting): void {
    if (this.isOver) waiting.ended();
    else this.#waiting.push(waiting);
  }
}

/**
 * The virtual machine in a process of its own. What aborts it costs the chain nothing but a rebuild, and the event loop
 * of the chain does none of its work.
 */
export class MachineProcess implements Svm {
  readonly #writer = new FrameWriter();
  #life = new Life();
  #ended = 0;
  #isStopping = false;

  constructor() {
    this.#watch(this.#life);
  }

  get isEnded(): boolean {
    return this.#life.isOver;
  }

  get facts(): { readonly pid: number; readonly ended: number } {
    return { pid: this.#life.process.pid, ended: this.#ended };
  }

  #watch(life: Life): void {
    void life.over.then(async () => {
      if (this.#isStopping) return;
      this.#ended += 1;
      await life.process.exited;
      const { exitCode, signalCode } = life.process;
      console.error(`devnet chain: the virtual machine's process ended with ${signalCode ?? exitCode}`);
    });
  }

  #ask<Answer>(frame: Uint8Array, read: (reader: ByteReader, life: Life) => Answer): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const life = this.#life;
    life.expect({
      answer: (reader) => resolve(read(reader, life)),
      ended: () => reject(new MachineEndedError()),
    });
    void life.send(frame);
    return promise;
  }

  /** Asks for transactions to be run, all in one frame; `more` writes what stands behind them. */
  #run(
    kind: number,
    transactions: readonly SvmTransaction[],
    nextNonce: Uint8Array,
    more: (writer: FrameWriter) => void = () => undefined,
  ): Promise<readonly SvmOutcome[]> {
    const writer = this.#writer.begin(kind).bytes(nextNonce).u16(transactions.length);
    for (const transaction of transactions) writeTransaction(writer, transaction);
    more(writer);
    return this.#ask(writer.end().take(), (reader, { answers }) => {
      const count = reader.u16();
      return transactions.slice(0, count).map((transaction) => answers.outcome(reader, transaction));
    });
  }

  execute(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return this.#run(REQUEST.execute, transactions, nextNonce);
  }

  executeBundle(transactions: readonly SvmTransaction[], nextNonce: Uint8Array): Promise<readonly SvmOutcome[]> {
    return this.#run(REQUEST.executeBundle, transactions, nextNonce);
  }

  simulateBundle(
    transactions: readonly SvmTransaction[],
    overlay: readonly AccountWrite[],
    nextNonce: Uint8Array,
  ): Promise<readonly SvmOutcome[]> {
    return this.#run(REQUEST.simulateBundle, transactions, nextNonce, (writer) => {
      writer.u32(overlay.length);
      for (const write of overlay) writeAccount(writer, write);
    });
  }

  simulate(transaction: SvmTransaction, overlay: readonly AccountWrite[], _nextNonce: Uint8Array): Promise<SvmOutcome> {
    const writer = this.#writer.begin(REQUEST.simulate);
    writeTransaction(writer, transaction);
    writer.u32(overlay.length);
    for (const write of overlay) writeAccount(writer, write);
    return this.#ask(writer.end().take(), (reader, { answers }) => answers.simulation(reader));
  }

  async write(accounts: Iterable<AccountWrite>): Promise<void> {
    for await (const fault of this.#writeFrames(accounts)) throw new Error(fault);
  }

  /** Writes accounts frame by frame and tells what was not taken. */
  async *#writeFrames(accounts: Iterable<AccountWrite>): AsyncGenerator<string> {
    let frame: AccountWrite[] = [];
    let bytes = 0;
    for (const write of accounts) {
      frame.push(write);
      bytes += ACCOUNT_HEAD_BYTES + (write.account?.data.length ?? 0);
      if (bytes < WRITE_FRAME_BYTES) continue;
      yield* this.#writeFrame(frame);
      frame = [];
      bytes = 0;
    }
    if (frame.length > 0) yield* this.#writeFrame(frame);
  }

  async *#writeFrame(accounts: readonly AccountWrite[]): AsyncGenerator<string> {
    const writer = this.#writer.begin(REQUEST.write).u32(accounts.length);
    for (const write of accounts) writeAccount(writer, write);
    const fault = await this.#ask(writer.end().take(), (reader) => reader.sizedText());
    if (fault !== "") yield fault;
  }

  genesisAccounts(): Promise<readonly AccountWrite[]> {
    const frame = this.#writer.begin(REQUEST.genesisAccounts).end().take();
    return this.#ask(frame, (reader, { answers }) => answers.accounts(reader));
  }

  async rebuild(accounts: Iterable<AccountWrite>): Promise<void> {
    if (this.isEnded) {
      this.#life = new Life();
      this.#watch(this.#life);
    }
    await this.#ask(this.#writer.begin(REQUEST.beginRebuild).end().take(), () => undefined);
    // A program that was not loaded when it was written is not loaded now either, and calls of it fail as they did.
    for await (const fault of this.#writeFrames(accounts)) console.error(`devnet chain: ${fault}`);
    await this.#ask(this.#writer.begin(REQUEST.endRebuild).end().take(), () => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    const { process: child, over } = this.#life;
    await Promise.resolve(child.stdin.end()).catch(() => undefined);
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await Promise.all([child.exited, over]);
    clearTimeout(timer);
  }
}
