import type { Frame, FrameWriter } from "@sluice/wire/frames";
import { serveMachine } from "../process/serve.ts";
import { BundleMachine } from "./bundle-machine.ts";
import { frameKinds, readBundle, readUpdate, writeOutcome } from "./protocol.ts";

/** Entry of the process of a machine that simulates bundles: LiteSVM behind the protocol. */
const machine = new BundleMachine();

function handle({ kind, reader }: Frame, answers: FrameWriter): void {
  if (kind === frameKinds.run) {
    const count = reader.u16();
    answers.begin(kind).u16(count);
    for (let left = count; left > 0; left -= 1) writeOutcome(answers, machine.run(readBundle(reader)));
    answers.end();
  } else if (kind === frameKinds.accounts) {
    for (let left = reader.u32(); left > 0; left -= 1) machine.write(readUpdate(reader));
  } else if (kind === frameKinds.forget) {
    for (let left = reader.u32(); left > 0; left -= 1) machine.forget(reader.u32());
  } else if (kind === frameKinds.closeBlock) machine.closeBlock(reader.u32());
  else if (kind === frameKinds.configure) {
    machine.configure(Array.from({ length: reader.u8() }, () => new Uint8Array(reader.bytes(32))));
  } else throw new RangeError(`a frame of kind ${kind}`);
}

await serveMachine(handle);
