/** A thread for one measured statement after the other: the engine's C interface blocks the thread that calls it. */
import { EngineCalls } from "./c-api.ts";
import type { MeasuredAnswer, MeasuredOrder } from "./measured-order.ts";

declare const self: Worker;

let calls: EngineCalls | null = null;

function answer({ directory, ...statement }: MeasuredOrder): MeasuredAnswer {
  try {
    calls ??= new EngineCalls({ directory });
    return { ok: true, result: calls.run(statement) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = ({ data }: MessageEvent<MeasuredOrder>) => {
  const done = answer(data);
  self.postMessage(done, done.ok ? [done.result.bytes] : []);
};
