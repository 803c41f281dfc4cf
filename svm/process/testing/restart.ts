import type { Launch } from "../launcher.ts";

/** Starts a child, and another whenever it ends, until it is disposed of. */
export const restart: Launch = async ({ command, env, readReady }, onExit) => {
  let isStopping = false;
  let child = spawn();

  function spawn() {
    const started = Bun.spawn([...command], { env, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
    void started.exited.then(() => {
      if (isStopping) return;
      onExit({ code: started.exitCode, signal: started.signalCode === null ? null : String(started.signalCode) });
      child = spawn();
    });
    return started;
  }

  for await (const chunk of child.stdout) {
    if (readReady(new TextDecoder().decode(chunk).trim()) === true) break;
  }
  return {
    async [Symbol.asyncDispose]() {
      isStopping = true;
      child.stdin.end();
      await child.exited;
    },
  };
};
