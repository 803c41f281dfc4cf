import type { MevType } from "@sluice/contract/engine";
import type { BundleStatusBody, EncryptionKeys } from "@sluice/contract/schemas";
import { ProblemError, readAnswer } from "./problem-error.ts";
import { sealBundle } from "./seal-bundle.ts";

/** A bundle to submit. */
export interface Bundle {
  /** One to five serialized transactions, in their order. */
  readonly transactions: readonly Uint8Array[];
  /** Lamports that the bundle pays to tip accounts, at least. */
  readonly tip: bigint;
  readonly mevType?: MevType;
  /** The only slot that it may land in. Without it each next slot is eligible until the bundle expires. */
  readonly targetSlot?: bigint;
}

/** How `Bundles.outcome` waits. */
export interface OutcomeOptions {
  /** Milliseconds between two requests; 400, a slot, when absent. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * The block engine's REST endpoint for a searcher. A refusal rejects with `ProblemError`, whose `code` is the reason.
 */
export interface Bundles {
  /**
   * Enters a bundle into the auction. It has been simulated and is on disk when this returns.
   *
   * @returns the id of the bundle
   */
  submit(bundle: Bundle): Promise<string>;
  /**
   * Like `submit`, encrypted to the engine's newest key: the content is read and checked at the bundle's tick, not
   * before.
   */
  submitSealed(bundle: Bundle): Promise<string>;
  /** @throws {ProblemError} with the code BUNDLE_NOT_FOUND when the engine does not know the id */
  status(bundleId: string): Promise<BundleStatusBody>;
  /**
   * Polls until a bundle is included, dropped or expired, five minutes after its submission at the latest. `included`
   * means a confirmed block; when a fork abandons it, a later `status` is dropped. Rejects with the reason of `signal`.
   */
  outcome(bundleId: string, options?: OutcomeOptions): Promise<BundleStatusBody>;
}

/** Where the block engine is, and how it is called. */
export interface BundlesOptions {
  /** The engine's own address, such as `http://127.0.0.1:7435`. */
  readonly url: string;
  /** A key with `bundles:write` and `read`. */
  readonly apiKey: string;
  /** Time for one answer in milliseconds; 10,000 when absent. */
  readonly timeoutMs?: number;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const timeoutMsDefault = 10_000;
const pollMsDefault = 400;
/** Keys change once an epoch, and each is good for one more. */
const keysKeptMs = 60_000;

/**
 * Creates a client of the block engine's REST endpoint. It opens no connection before the first call.
 *
 * @returns a client whose calls reject with `ProblemError` for a refusal (`code` is the bundle's reason or a code of
 * the engine), with a DOMException of the name `TimeoutError` after `timeoutMs`, and with `TypeError` when the engine
 * cannot be reached
 */
export function createBundles(options: BundlesOptions): Bundles {
  const base = `${options.url.replace(/\/+$/, "")}/api/v1`;
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { "x-api-key": options.apiKey, "content-type": "application/json" };
    const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
    const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout;
    const answer = await readAnswer<T>(await call(`${base}${path}`, { ...init, redirect: "error", headers, signal }));
    if (answer === null) throw new Error(`${path} was answered without a body`);
    return answer;
  };
  const submit = async (body: string): Promise<string> => {
    const { bundleId } = await ask<{ bundleId: string }>("/bundles", { method: "POST", body });
    return bundleId;
  };
  let keys: { readonly body: EncryptionKeys; readonly untilMs: number } | null = null;
  const sealingKeys = async (): Promise<EncryptionKeys> => {
    if (keys === null || performance.now() >= keys.untilMs) {
      keys = { body: await ask<EncryptionKeys>("/encryption-keys"), untilMs: performance.now() + keysKeptMs };
    }
    return keys.body;
  };
  const status = (bundleId: string, signal?: AbortSignal): Promise<BundleStatusBody> =>
    ask(`/bundles/${encodeURIComponent(bundleId)}`, signal === undefined ? {} : { signal });
  return {
    submit: (bundle) => {
      const transactions = bundle.transactions.map((bytes) => ({ data: base64(bytes) }));
      return submit(bodyOf(bundle, `"transactions":${JSON.stringify(transactions)}`));
    },
    async submitSealed(bundle) {
      const { network, keys: known } = await sealingKeys();
      const newest = known.toSorted((one, other) => other.validUntilSlot - one.validUntilSlot)[0];
      if (newest === undefined) throw new Error("the engine has no key that bundles can be sealed with");
      const key = { id: newest.id, publicKey: Uint8Array.from(atob(newest.publicKey), (each) => each.charCodeAt(0)) };
      const { envelope } = await sealBundle({ ...bundle, network, key });
      try {
        return await submit(bodyOf(bundle, `"encryptedPayload":"${base64(envelope)}"`));
      } catch (error) {
        // The engine has dropped the key: the next bundle fetches the keys again.
        if (error instanceof ProblemError && error.code === "decryption_failed") keys = null;
        throw error;
      }
    },
    status: (bundleId) => status(bundleId),
    async outcome(bundleId, { pollMs = pollMsDefault, signal } = {}) {
      for (;;) {
        const shown = await status(bundleId, signal);
        if (shown.status !== "accepted") return shown;
        await pause(pollMs, signal);
      }
    },
  };
}

/** Writes the JSON as text, so that a number of lamports beyond 2^53 stays exact. */
function bodyOf({ tip, mevType = "unknown", targetSlot }: Bundle, content: string): string {
  const target = targetSlot === undefined ? "" : `,"targetSlot":${targetSlot}`;
  return `{${content},"tip":${tip},"mevType":"${mevType}"${target}}`;
}

const base64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** With the constructor: `Promise.withResolvers` is younger than Node 20, on which the SDK runs. */
function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, durationMs);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
