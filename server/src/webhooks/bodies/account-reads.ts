import type { Network } from "@sluice/contract/tiers";
import { BoundedMap, type Clock, sleep } from "@sluice/lib";
import { type JsonValue, parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import { answerText, type UpstreamPool } from "../../upstreams/index.ts";

/** In which of the two forms an account is read; all others are made of the first. */
export type ReadForm = "base64" | "jsonParsed";

/** An account as a node has it. */
export interface AccountAnswer {
  /** At which it was read. */
  readonly slot: bigint;
  /** Null for an account that is not there. */
  readonly account: Readonly<Record<string, JsonValue | undefined>> | null;
}

export interface AccountQuestion {
  readonly network: Network;
  readonly account: string;
  /** A node that has not reached it is not asked. */
  readonly slot: bigint;
  readonly form: ReadForm;
}

export interface AccountReadsDependencies {
  readonly clock: Clock;
  /** Null for a network without nodes. */
  readonly poolOf: (network: Network) => Pick<UpstreamPool, "call"> | null;
}

/** How long an account is asked for. */
export const accountReadMsMax = 10_000;
const retryMs = 400;
/** Accounts of one call. */
const accountsMax = 100;
/** Calls of a network at a time. */
const callsMax = 8;
/** Answers that are remembered, for the other deliveries of the same event, and characters of their data together. */
const answersMax = 2_000;
const charactersMax = 64 * 1024 * 1024;

interface Waiting extends AccountQuestion {
  readonly untilMs: number;
  readonly settle: (read: AccountAnswer | null) => void;
}

interface Remembered {
  readonly answer: Promise<AccountAnswer | null>;
  /** Of its data; 0 before it is there. */
  characters: number;
}

interface Queue {
  readonly waiting: Waiting[];
  calls: number;
  isDue: boolean;
}

/** Reads accounts from the nodes, many in one call, each once for all who ask for it at a slot. */
export class AccountReads {
  readonly #dependencies: AccountReadsDependencies;
  /** An account may have 10 MiB of data, so their number alone bounds nothing. */
  readonly #answers = new BoundedMap<string, Remembered>({
    max: answersMax,
    onEvict: (_, { characters }) => {
      this.#characters -= characters;
    },
  });
  #characters = 0;
  readonly #queues = new Map<string, Queue>();

  constructor(dependencies: AccountReadsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The account at the slot or later; null where no node told it in time. Never rejects. */
  read(question: AccountQuestion): Promise<AccountAnswer | null> {
    const { network, account, slot, form } = question;
    const key = `${network} ${account} ${slot} ${form}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known.answer;
    const { promise, resolve } = Promise.withResolvers<AccountAnswer | null>();
    const remembered: Remembered = { answer: promise, characters: 0 };
    this.#answers.set(key, remembered);
    void promise.then((answer) => {
      if (this.#answers.get(key) !== remembered) return;
      // Who asks later asks anew for what no node told in time.
      if (answer === null) this.#answers.delete(key);
      else this.#weigh(remembered, answer);
    });
    const untilMs = this.#dependencies.clock.monotonic() + accountReadMsMax;
    this.#enqueue({ ...question, untilMs, settle: resolve });
    return promise;
  }

  #weigh(remembered: Remembered, answer: AccountAnswer): void {
    remembered.characters = charactersOf(answer);
    this.#characters += remembered.characters;
    while (this.#characters > charactersMax && this.#answers.size > 1) this.#answers.evict();
  }

  #enqueue(question: Waiting): void {
    const key = `${question.network} ${question.form}`;
    const queue = this.#queues.get(key) ?? { waiting: [], calls: 0, isDue: false };
    this.#queues.set(key, queue);
    queue.waiting.push(question);
    if (queue.isDue) return;
    queue.isDue = true;
    // All that is asked in one turn of the event loop goes out together.
    setImmediate(() => {
      queue.isDue = false;
      this.#next(queue);
    });
  }

  #next(queue: Queue): void {
    while (queue.calls < callsMax && queue.waiting.length > 0) {
      const questions = this.#inTime(queue.waiting.splice(0, accountsMax));
      if (questions.length === 0) continue;
      queue.calls += 1;
      void this.#ask(questions).finally(() => {
        queue.calls -= 1;
        this.#next(queue);
      });
    }
  }

  /** Those whose time is not over; the others have waited in vain. */
  #inTime(questions: readonly Waiting[]): readonly Waiting[] {
    const nowMs = this.#dependencies.clock.monotonic();
    for (const { untilMs, settle } of questions) if (untilMs <= nowMs) settle(null);
    return questions.filter(({ untilMs }) => untilMs > nowMs);
  }

  /** Never rejects. */
  async #ask(questions: readonly Waiting[]): Promise<void> {
    const { clock } = this.#dependencies;
    const untilMs = Math.min(...questions.map((question) => question.untilMs));
    for (;;) {
      const outcome = await this.#call(questions).catch(() => null);
      if (outcome === "too large") {
        await this.#split(questions);
        return;
      }
      if (outcome !== null) {
        for (const [index, { settle }] of questions.entries()) settle(outcome[index] ?? null);
        return;
      }
      if (clock.monotonic() + retryMs >= untilMs) break;
      await sleep(clock, retryMs);
    }
    for (const { settle } of questions) settle(null);
  }

  async #split(questions: readonly Waiting[]): Promise<void> {
    if (questions.length === 1) {
      questions[0]?.settle(null);
      return;
    }
    const half = questions.length >> 1;
    await Promise.all([this.#ask(questions.slice(0, half)), this.#ask(questions.slice(half))]);
  }

  async #call(questions: readonly Waiting[]): Promise<readonly (AccountAnswer | null)[] | "too large" | null> {
    const [first] = questions;
    const pool = first === undefined ? null : this.#dependencies.poolOf(first.network);
    if (first === undefined || pool === null) return null;
    let minimumSlot = 0n;
    for (const { slot } of questions) if (slot > minimumSlot) minimumSlot = slot;
    const config = { commitment: "confirmed", encoding: first.form, minContextSlot: minimumSlot };
    const outcome = await pool.call({
      method: "getMultipleAccounts",
      params: stringifyJsonExact([questions.map(({ account }) => account), config]),
      kind: "read",
      commitment: "confirmed",
      minimumSlot,
    });
    if (!outcome.ok) return outcome.refused === "BODY_TOO_LARGE" ? "too large" : null;
    if (outcome.answer.errorCode !== null) return null;
    const text = answerText(outcome.answer);
    if (text === null) return "too large";
    return accountsOf(text, minimumSlot);
  }
}

const isObject = (value: JsonValue | undefined): value is Readonly<Record<string, JsonValue | undefined>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Of the data. What a node has parsed is small: only what it cannot parse is told as text. */
function charactersOf({ account }: AccountAnswer): number {
  const data = account?.["data"];
  const text = Array.isArray(data) ? data[0] : null;
  return typeof text === "string" ? text.length : 0;
}

/** Null for an answer that is not one, or that is from before the slot. */
function accountsOf(text: string, minimumSlot: bigint): readonly AccountAnswer[] | null {
  const parsed = parseJsonExact(text);
  const result = parsed.ok && isObject(parsed.value) ? parsed.value["result"] : undefined;
  const context = isObject(result) ? result["context"] : undefined;
  const told = isObject(context) ? context["slot"] : undefined;
  const value = isObject(result) ? result["value"] : undefined;
  if ((typeof told !== "number" && typeof told !== "bigint") || !Array.isArray(value)) return null;
  const slot = BigInt(told);
  if (slot < minimumSlot) return null;
  return (value as readonly JsonValue[]).map((account) => ({ slot, account: isObject(account) ? account : null }));
}
