/**
 * Entry of a machine's process: LiteSVM behind the simulator's protocol, on the Unix socket that its first argument names.
 * The end of its standard input is the end of its parent, and its own. It works frame by frame as they come, and between
 * them the runtime gives back the accounts of LiteSVM's that nobody holds any more.
 */
import type { Frame } from "@sluice/wire/frames";
import { FrameWriter } from "@sluice/wire/frames";
import { FrameStream } from "../protocol/frame-stream.ts";
import { FRAME } from "../protocol/messages.ts";
import { BundleMachine } from "./bundle-machine.ts";
import { readAccounts, readBundle, writeOutcome } from "./machine-codec.ts";

const machine = new BundleMachine();
const writer = new FrameWriter();

function take({ kind, reader }: Frame): void {
  if (kind === FRAME.run) {
    const count = reader.u16();
    writer.begin(FRAME.run).u16(count);
    for (let left = count; left > 0; left -= 1) writeOutcome(writer, machine.run(readBundle(reader)));
    writer.end();
  } else if (kind === FRAME.accounts) readAccounts(reader, machine);
  else if (kind === FRAME.forget) {
    for (let left = reader.u32(); left > 0; left -= 1) machine.forget(reader.u32());
  } else if (kind === FRAME.closeBlock) machine.closeBlock(reader.u32());
  else if (kind === FRAME.configure) {
    machine.configure(Array.from({ length: reader.u8() }, () => new Uint8Array(reader.bytes(32))));
  } else throw new RangeError(`a frame of kind ${kind}`);
}

async function main(path: string): Promise<void> {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
  process.on("SIGTERM", () => process.exit(0));
  let stream: FrameStream | null = null;
  await Bun.connect({
    unix: path,
    socket: {
      open(socket) {
        stream = new FrameStream(socket);
        stream.send(writer.begin(FRAME.hello).u32(process.pid).end().take());
      },
      data(_socket, chunk) {
        if (stream === null) return;
        for (const frame of stream.receive(chunk)) {
          take(frame);
          // Answers go out as they are ready, so that the simulator works while this does.
          if (writer.length > 0) stream.send(writer.take());
        }
      },
      drain: () => stream?.drain(),
      close: () => process.exit(0),
      // What it does not understand ends it, and what it had runs again.
      error(_socket, fault) {
        console.error(fault);
        process.exit(1);
      },
    },
  });
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
}

await main(process.argv[2] ?? "");
