import type { Frame, FrameWriter } from "@sluice/wire/frames";
import { serveMachine } from "../serve.ts";

/** Kinds of a machine that answers with what it was sent, and otherwise misbehaves on request. */
export const echoKinds = { echo: 1, silent: 2, unasked: 3, unknown: 4 } as const;

function handle({ kind, reader }: Frame, answers: FrameWriter): void {
  if (kind === echoKinds.echo) answers.begin(kind).sizedBytes(reader.sizedBytes()).end();
  else if (kind === echoKinds.unasked) {
    for (let times = 0; times < 2; times += 1) answers.begin(kind).sizedBytes(new Uint8Array()).end();
  } else if (kind !== echoKinds.silent) throw new RangeError(`a frame of kind ${kind}`);
}

if (import.meta.main) await serveMachine(handle);
