import { buildProgram } from "../program.ts";

export interface Outcome {
  readonly ok: boolean;
  /** What was printed, or the refusal. */
  readonly text: string;
  /** What of it went to standard error. */
  readonly aside: string;
}

/** A machine without any setting, and a working directory without a file of settings. */
const nowhere = { env: {}, directory: "/nonexistent" };

/** Runs a command line in this process, as `main` does. */
export async function runProgram(...args: readonly string[]): Promise<Outcome> {
  const said: string[] = [];
  const aside: string[] = [];
  const terminal = {
    out: (text: string) => void said.push(text),
    error: (text: string) => {
      said.push(text);
      aside.push(text);
    },
  };
  const program = buildProgram(terminal, nowhere);
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
    command.exitOverride();
  }
  try {
    await program.parseAsync([...args], { from: "user" });
    return { ok: true, text: said.join("\n"), aside: aside.join("\n") };
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error), aside: aside.join("\n") };
  }
}
