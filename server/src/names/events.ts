export type AnswerKind = "resolved" | "absent" | "refused" | "malformed" | "unreachable";
export type AnswerSource = "shape" | "cache" | "chain";

/** What the resolver tells of itself; compose wires it to logs and metrics. */
export interface NamesEvents {
  nameAnswered(kind: AnswerKind, source: AnswerSource): void;
  /** A call to the node: whether it was answered, and how long it took. */
  nodeAsked(answered: boolean, latencyMs: number): void;
  /** Which programs the chain carries; told when that is first known and when it changes. */
  programsFound(found: { readonly nameProgram: string | null; readonly handleProgram: string | null }): void;
  /** More than one name service is on the chain; the first is used. */
  severalServices(labels: readonly string[]): void;
  /** A fault of ours, answered with status 500. */
  internalError(where: string, error: unknown): void;
}

const nothing = (): void => undefined;

export const silentEvents: NamesEvents = {
  nameAnswered: nothing,
  nodeAsked: nothing,
  programsFound: nothing,
  severalServices: nothing,
  internalError: nothing,
};
