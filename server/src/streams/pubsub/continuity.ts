import type { SubscriptionSpec } from "./subscription-spec.ts";

/** Notifications that are left out after a move at most: a chain that begins anew is told again. */
const skipsMax = 128;
/** Accounts of one program whose last state is known. */
const accountsMax = 10_000;

const contextPattern =
  /^\{\s*"context"\s*:\s*\{[^{}]{0,120}?"slot"\s*:\s*([0-9]{1,20})[^{}]{0,120}?\}\s*,\s*"value"\s*:\s*/;
const slotPattern = /"slot"\s*:\s*([0-9]{1,20})/;
const programPattern = /^\{\s*"pubkey"\s*:\s*"([1-9A-HJ-NP-Za-km-z]{32,44})"\s*,\s*"account"\s*:\s*/;

/** A notification with a context: its slot, and the text of its value. */
export function readContext(result: string): { readonly slot: bigint; readonly value: string } | null {
  const found = contextPattern.exec(result);
  if (found?.[1] === undefined) return null;
  return { slot: BigInt(found[1]), value: result.slice(found[0].length, -1).trimEnd() };
}

/** The address and the text of the account of a program's notification. */
function readProgramAccount(value: string): { readonly address: string; readonly account: string } | null {
  const found = programPattern.exec(value);
  if (found?.[1] === undefined) return null;
  return { address: found[1], account: value.slice(found[0].length, -1).trimEnd() };
}

type Hash = number | bigint;

/**
 * What a subscription's clients were told last, so that on another node nothing is told twice that can be known to be
 * the same, and nothing goes back. Texts of nodes are compared as they are: of a node that writes the same state in
 * another way it is told again, which a client takes as it takes any other notification of a state.
 */
export class Continuity {
  readonly #spec: SubscriptionSpec;
  #lastSlot: bigint | null = null;
  /** Null while the state is not known. */
  #lastState: Hash | null = null;
  readonly #accounts = new Map<string, Hash>();
  #hasReceived = false;
  #skipsLeft = 0;
  /** How often the subscription was moved. */
  moves = 0;

  constructor(spec: SubscriptionSpec, lastSlot: bigint | null = null) {
    this.#spec = spec;
    this.#lastSlot = lastSlot;
  }

  /** The subscription goes on at another node. */
  moved(): void {
    this.moves += 1;
    this.#skipsLeft = skipsMax;
  }

  /** Whether clients are to be told; what they are told is remembered. */
  takes(result: string): boolean {
    switch (this.#spec.kind) {
      case "slot":
        return this.#advances(slotPattern.exec(result)?.[1], 1n);
      case "root":
        return this.#advances(/^[0-9]{1,20}$/.exec(result)?.[0], 1n);
      case "block":
        return this.#advances(contextPattern.exec(result)?.[1], 1n);
      case "account":
        return this.#takesAccount(result);
      case "program":
        this.#rememberProgramAccount(result);
        return true;
      case "signature":
        return this.#takesSignature(result);
      default:
        return true;
    }
  }

  /** Whether the state of the account, as a node that was asked tells it, has to be told. */
  takesState(slot: bigint, account: string): boolean {
    if (this.#lastSlot !== null && slot < this.#lastSlot) return false;
    this.#lastSlot = slot;
    const state = Bun.hash(account);
    if (state === this.#lastState) return false;
    this.#lastState = state;
    return true;
  }

  /** Whether the state of one of the program's accounts, as a node that was asked tells it, has to be told. */
  takesProgramState(address: string, account: string): boolean {
    const state = Bun.hash(account);
    if (this.#accounts.get(address) === state) return false;
    this.#remember(address, state);
    return true;
  }

  /** Until a later slot than before comes, what comes again after a move is left out. */
  #advances(digits: string | undefined, step: 0n | 1n): boolean {
    if (digits === undefined) return true;
    const slot = BigInt(digits);
    if (this.#skipsLeft > 0 && this.#lastSlot !== null && slot < this.#lastSlot + step) {
      this.#skipsLeft -= 1;
      return false;
    }
    if (step === 1n) this.#skipsLeft = 0;
    this.#lastSlot = slot;
    return true;
  }

  #takesAccount(result: string): boolean {
    const read = readContext(result);
    if (read === null) {
      this.#lastState = null;
      return true;
    }
    if (!this.#advances(String(read.slot), 0n)) return false;
    this.#lastState = Bun.hash(read.value);
    return true;
  }

  #rememberProgramAccount(result: string): void {
    const read = readContext(result);
    const account = read === null ? null : readProgramAccount(read.value);
    if (account !== null) this.#remember(account.address, Bun.hash(account.account));
  }

  #remember(address: string, state: Hash): void {
    this.#accounts.delete(address);
    this.#accounts.set(address, state);
    if (this.#accounts.size <= accountsMax) return;
    for (const [oldest] of this.#accounts) {
      this.#accounts.delete(oldest);
      break;
    }
  }

  #takesSignature(result: string): boolean {
    if (!isReceived(result)) return true;
    const isAgain = this.#hasReceived && this.moves > 0;
    this.#hasReceived = true;
    return !isAgain;
  }
}

/** Whether a signature's notification says that a node has received it; any other is the last one. */
export const isReceived = (result: string): boolean => result.includes('"receivedSignature"');
