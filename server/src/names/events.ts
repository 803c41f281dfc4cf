import { counter, createErrorEvents, type ErrorEvents, latency, type Observe } from "../observe/index.ts";

export const namesMetrics = {
  answered: counter("sluice_names_answered_total", "Name queries, by the kind of answer and where it was known", [
    "kind",
    "source",
  ]),
  calls: counter("sluice_names_node_calls_total", "Calls of the resolver to its node", ["outcome"]),
  duration: latency("sluice_names_node_call_duration_seconds", "Time that the resolver's node took to answer"),
} as const;

export type AnswerKind = "resolved" | "absent" | "refused" | "malformed" | "unreachable";
export type AnswerSource = "shape" | "cache" | "chain";

export interface NamesEvents extends ErrorEvents {
  nameAnswered(kind: AnswerKind, source: AnswerSource): void;
  /** A call to the node: whether it was answered, and how long it took. */
  nodeAsked(answered: boolean, latencyMs: number): void;
  /** The node answers again, or no longer. */
  nodeChanged(isAnswering: boolean): void;
  /** The name programs of the chain; reported when first known and when they change. */
  programsFound(found: { readonly nameProgram: string | null; readonly handleProgram: string | null }): void;
  /** More than one name service is on the chain; the first is used. */
  severalServices(labels: readonly string[]): void;
}

export function createNamesEvents(observe: Observe): NamesEvents {
  const { log, metrics } = observe;
  const families = metrics.register(namesMetrics);
  return {
    ...createErrorEvents(observe),
    nameAnswered: (kind, source) => families.answered.with(kind, source).add(),
    nodeAsked: (answered, latencyMs) => {
      families.calls.with(answered ? "ok" : "failed").add();
      families.duration.with().observe(latencyMs / 1_000);
    },
    nodeChanged: (isAnswering) => {
      if (isAnswering) log.info({}, "the node that names are read from answers");
      else log.warn({}, "the node that names are read from does not answer");
    },
    programsFound: (found) => {
      if (found.nameProgram === null) log.warn(found, "the chain has no name program: domains do not resolve");
      else if (found.handleProgram === null) {
        log.warn(found, "the chain has no handle program: handles do not resolve");
      } else log.info(found, "name programs found");
    },
    severalServices: (labels) => log.warn({ labels }, "several name services are on the chain: the first is used"),
  };
}

const nothing = (): void => undefined;

export const silentEvents: NamesEvents = {
  nameAnswered: nothing,
  nodeAsked: nothing,
  nodeChanged: nothing,
  programsFound: nothing,
  severalServices: nothing,
  internalError: nothing,
};
