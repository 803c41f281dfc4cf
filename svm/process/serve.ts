import { type Frame, FrameWriter } from "@sluice/wire/frames";
import { FrameStream, helloKind, readyLine } from "./frame-stream.ts";

/**
 * Runs a machine in this process: connects to the Unix socket that the first argument names and calls `handle` with
 * each frame; `handle` ends its answer in `answers`, and frames that need none leave it empty. The end of standard
 * input is the end of the parent, and the process ends then, as it does when the socket closes. A frame that `handle`
 * throws at ends the process with 1: the parent runs what was under way again in the next life. Between frames the
 * event loop turns, where the runtime frees accounts of LiteSVM that are no longer referenced.
 */
export async function serveMachine(handle: (frame: Frame, answers: FrameWriter) => void): Promise<void> {
  const answers = new FrameWriter();
  let stream: FrameStream | null = null;
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
  process.on("SIGTERM", () => process.exit(0));
  await Bun.connect({
    unix: process.argv[2] ?? "",
    socket: {
      open(socket) {
        stream = new FrameStream(socket);
        stream.send(answers.begin(helloKind).u32(process.pid).end().take());
      },
      data(_socket, chunk) {
        if (stream === null) return;
        for (const frame of stream.receive(chunk)) {
          handle(frame, answers);
          // Each answer goes out when it is ready, so that the parent works while this process does.
          if (answers.length > 0) stream.send(answers.take());
        }
      },
      drain: () => stream?.drain(),
      close: () => process.exit(0),
      error(_socket, error) {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    },
  });
  process.stdout.write(`${readyLine}\n`);
}
