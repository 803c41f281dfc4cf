import { type ConsoleOverview, createConsoleClient, ProblemError } from "@sluice/sdk";
import { useCallback, useEffect, useState } from "react";

export const client = createConsoleClient();

export type Session =
  | { readonly state: "loading" }
  | { readonly state: "signed-out" }
  | { readonly state: "failed"; readonly error: Error }
  | { readonly state: "open"; readonly overview: ConsoleOverview; readonly receivedAt: number; readonly live: boolean };

/** The overview, kept live while the page is shown. `retry` asks again after a failure or a sign-in. */
export function useOverview(): { session: Session; retry: () => void } {
  const [session, setSession] = useState<Session>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    // Each attempt asks anew.
    void attempt;
    let stopped = false;
    let stopLive = (): void => {};
    const show = (overview: ConsoleOverview): void => {
      if (!stopped) setSession({ state: "open", overview, receivedAt: Date.now(), live: true });
    };
    const lost = (): void => {
      if (!stopped) setSession((before) => (before.state === "open" ? { ...before, live: false } : before));
    };
    client.overview().then(
      (overview) => {
        show(overview);
        if (!stopped) stopLive = client.live(show, lost);
      },
      (reason: unknown) => {
        if (stopped) return;
        const signedOut = reason instanceof ProblemError && reason.code === "INVALID_API_KEY";
        const error = reason instanceof Error ? reason : new Error(String(reason));
        setSession(signedOut ? { state: "signed-out" } : { state: "failed", error });
      },
    );
    return () => {
      stopped = true;
      stopLive();
    };
  }, [attempt]);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { session, retry };
}
