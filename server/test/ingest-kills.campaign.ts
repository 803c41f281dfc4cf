import { natsBinary } from "../src/log/testing/nats-servers.ts";
import { jetstreamKills, type KillsReport, segmentKills } from "./testing/ingest-kills.ts";

const shownFaults = 20;

/**
 * Whole servers with the role ingest before a development chain with traffic, skipped slots, forks, confirmed ones too,
 * and lost, late and doubled notices: `n` kills with SIGKILL on segment files and on three servers of JetStream
 * (`--only segments,jetstream`), of servers, of the engines of their ledgers and of the log's servers, the leader
 * first of all; frozen processes and full disks between them. A reader of the log goes on by its cursors as one process
 * after the other. In the end it was told the chain of the node, and each ledger holds it: nothing missing, nothing
 * twice, no dead fork final, and no server has logged an error of its own.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, seed, only = ["segments", "jetstream"] } = options;
  const lines: string[] = [];
  let passed = only.length > 0;
  const add = (driver: string, { faults, counts }: KillsReport): void => {
    const counted = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    lines.push(`${driver}: ${counted.join(", ")}`, ...faults.slice(0, shownFaults));
    passed &&= faults.length === 0 && (counts["blocks"] ?? 0) > 0;
  };
  if (only.includes("segments")) add("segments", await segmentKills({ n, seed }));
  if (only.includes("jetstream")) {
    if (natsBinary === null) lines.push("NOT RUN: JetStream (there is no nats-server)");
    else add("jetstream", await jetstreamKills({ n, seed }));
  }
  return { passed, summary: lines.join("\n") };
}
