import { fstatSync } from "node:fs";

/** Whether standard input is a pipe that a parent holds open, so that its end means that the parent has ended. */
function inputIsPipe(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isSocket();
}

/**
 * Ends the process with 0, what runs in it disposed of, on SIGTERM and SIGINT, and at the end of standard input when
 * that is a pipe or `withParent` is asked for, so that it never outlives its parent.
 */
export function endInOrder(running: AsyncDisposable, withParent: boolean): void {
  let ending = false;
  const end = async () => {
    if (ending) return;
    ending = true;
    await running[Symbol.asyncDispose]();
    process.exit(0);
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  if (!withParent && !inputIsPipe()) return;
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdin.resume();
}
