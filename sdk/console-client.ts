import type {
  ConsoleBundleStory,
  ConsoleBundles,
  ConsoleName,
  ConsoleOverview,
  ConsolePool,
  ConsolePrices,
  ConsoleSession,
  ExplanationBody,
} from "@sluice/contract/schemas";
import { readAnswer } from "./problem-error.ts";

/** The console's REST endpoint, for a page of the same origin: a cookie holds the session. */
export interface ConsoleClient {
  /** @throws {ProblemError} with the code INVALID_API_KEY without a session */
  overview(): Promise<ConsoleOverview>;
  /** Calls `onOverview` about once a second until the returned function is called; reconnects by itself. */
  live(onOverview: (overview: ConsoleOverview) => void, onLost: () => void): () => void;
  /** @throws {ProblemError} with the code NOT_FOUND when the server runs no oracle */
  prices(): Promise<ConsolePrices>;
  /** Calls `onPrices` about once a second until the returned function is called; reconnects by itself. */
  livePrices(onPrices: (prices: ConsolePrices) => void, onLost: () => void): () => void;
  /** The account's bundles. @throws {ProblemError} with the code NOT_FOUND when the server runs no block engine */
  bundles(): Promise<ConsoleBundles>;
  /** Calls `onBundles` about once a second until the returned function is called; reconnects by itself. */
  liveBundles(onBundles: (bundles: ConsoleBundles) => void, onLost: () => void): () => void;
  /** One bundle and its history. @throws {ProblemError} with the code NOT_FOUND when the viewer may not see it */
  bundle(id: string): Promise<ConsoleBundleStory>;
  /**
   * The figures of the stake pool and of bundles, for the periods of `query` (chart, period, strategy).
   *
   * @throws {ProblemError} with the code NOT_FOUND when the server runs no block engine
   */
  pool(query: Readonly<Record<string, string>>): Promise<ConsolePool>;
  /** What a record of the stake pool is computed from, and how; the query is that of its path. */
  explainPool(query: Readonly<Record<string, string>>): Promise<ExplanationBody>;
  /** The resolver's answer for a name or an address. */
  name(input: string): Promise<ConsoleName>;
  signIn(key: string): Promise<ConsoleSession>;
  signOut(): Promise<void>;
}

/** Creates a client of the console's REST endpoint. An empty `baseUrl` is the origin of the page. */
export function createConsoleClient(baseUrl = ""): ConsoleClient {
  const at = (path: string): string => `${baseUrl}/api/v1/console/${path}`;
  const read = async <T>(path: string, init: RequestInit): Promise<T> => {
    const answer = await readAnswer<T>(await fetch(at(path), { credentials: "same-origin", ...init }));
    if (answer === null) throw new Error(`${path} was answered without a body`);
    return answer;
  };
  const follow = <T>(path: string, onRecord: (record: T) => void, onLost: () => void): (() => void) => {
    const source = new EventSource(at(path));
    source.onmessage = (message) => onRecord(JSON.parse(message.data));
    source.onerror = () => onLost();
    return () => source.close();
  };
  return {
    overview: () => read<ConsoleOverview>("overview", {}),
    live: (onOverview, onLost) => follow("live", onOverview, onLost),
    prices: () => read<ConsolePrices>("prices", {}),
    livePrices: (onPrices, onLost) => follow("prices/live", onPrices, onLost),
    bundles: () => read<ConsoleBundles>("bundles", {}),
    liveBundles: (onBundles, onLost) => follow("bundles/live", onBundles, onLost),
    bundle: (id) => read<ConsoleBundleStory>(`bundles/${encodeURIComponent(id)}`, {}),
    pool: (query) => read<ConsolePool>(`pool?${new URLSearchParams(query)}`, {}),
    explainPool: (query) => read<ExplanationBody>(`pool/explain?${new URLSearchParams(query)}`, {}),
    name: (input) => read<ConsoleName>(`names?${new URLSearchParams({ input })}`, {}),
    signIn: (key) =>
      read<ConsoleSession>("session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key }),
      }),
    signOut: async () => {
      await readAnswer(await fetch(at("session"), { method: "DELETE", credentials: "same-origin" }));
    },
  };
}
