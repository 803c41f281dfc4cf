import { type ConsolePool, ProblemError } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { explain } from "./explain.ts";
import { client } from "./use-overview.ts";

/** The periods that the page shows. */
export interface PoolPeriods {
  readonly chart: string;
  readonly period: string;
  readonly strategy: string;
}

interface ShownPool {
  readonly pool: ConsolePool | null;
  readonly live: boolean;
  /** What is wrong where nothing can be shown. */
  readonly error: string | null;
}

/** The server reads the chain anew that often. */
const everyMs = 10_000;

/** The figures of the stake pool, read again while the page is shown; the last ones stay while the server is away. */
export function usePool({ chart, period, strategy }: PoolPeriods): ShownPool {
  const [shown, setShown] = useState<ShownPool>({ pool: null, live: false, error: null });
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = (): void => {
      client.pool({ chart, period, strategy }).then(
        (pool) => {
          if (stopped) return;
          setShown({ pool, live: true, error: null });
          timer = setTimeout(ask, everyMs);
        },
        (error: unknown) => {
          if (stopped) return;
          setShown(({ pool }) => ({ pool, live: false, error: pool === null ? explain(error) : null }));
          const isRefused = error instanceof ProblemError && error.code !== "OVERLOADED";
          if (!isRefused) timer = setTimeout(ask, everyMs);
        },
      );
    };
    ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [chart, period, strategy]);
  return shown;
}
