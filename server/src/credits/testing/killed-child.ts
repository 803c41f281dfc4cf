/** Runs a script of this folder until it prints a line with "done", kills it, and answers what it printed. */
export async function killedWhenDone(script: string, args: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/${script}`, ...args], {
    stdout: "pipe",
    stderr: "inherit",
    stdin: "ignore",
  });
  let printed = "";
  const decoder = new TextDecoder();
  for await (const part of child.stdout) {
    printed += decoder.decode(part, { stream: true });
    if (printed.includes("done")) break;
  }
  child.kill("SIGKILL");
  await child.exited;
  return printed;
}
