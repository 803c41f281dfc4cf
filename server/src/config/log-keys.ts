import { always, optional } from "./key-definition.ts";
import { byteSize, durationWithin, oneOf } from "./parsers.ts";
import { logUrl } from "./store-parsers.ts";

const gibibyte = 1024 ** 3;
const minuteMs = 60_000;
const dayMs = 86_400_000;

/** The log of the chain. */
export const logKeys = {
  LOG_URL: optional(
    "Stores",
    "stores.log_url",
    logUrl,
    "NATS with JetStream for the log of the chain, shared by the processes that ingest and those that follow. Without it the log is in files of `DATA_DIR`, which one process has. `replicas` and `prefix` are options behind `?`.",
    { secrecy: "address" },
  ),
  LOG_RETENTION: always(
    "Stores",
    "stores.log_retention",
    "6h",
    durationWithin(minuteMs, 30 * dayMs),
    "How long the log keeps blocks that the ledger holds.",
  ),
  LOG_BYTES: always(
    "Stores",
    "stores.log_bytes",
    "20GiB",
    byteSize(gibibyte / 16, 1024 * gibibyte),
    "Bytes of the log for each network. Beyond them the oldest blocks go, whoever still wants them, and `sluice_log_over_bytes` is 1.",
  ),
  ACCOUNT_LOG_BYTES: always(
    "Stores",
    "stores.account_log_bytes",
    "256MiB",
    byteSize(gibibyte / 64, 64 * gibibyte),
    "Memory, for each network, for accounts and entries that nodes tell (`;grpc=`) until their slot reaches the commitment of the streams that ask for them. Beyond it the oldest slots go, and streams that still wait for one end.",
  ),
  LOG_SYNC: always(
    "Stores",
    "stores.log_sync",
    "block",
    oneOf(["block", "interval"]),
    "When files of the log are synced: `block` before a block is acknowledged, `interval` every 200 ms, which a power cut may take. Servers of NATS have a setting of their own (`sync_interval`).",
  ),
  GAP_AFTER: always(
    "Stores",
    "stores.gap_after",
    "15m",
    durationWithin(10_000, dayMs),
    "How long the ingesting process asks its nodes for a block that none of them gives. Then the log tells a gap and goes on; `sluice ingest skip` does not wait.",
  ),
  LEDGER_VOTES: always(
    "Stores",
    "stores.ledger_votes",
    "lookup",
    oneOf(["lookup", "full"]),
    "What the ledger holds of votes: `lookup`, the transaction itself, by signature and by address; `full`, also a row for each instruction, movement and changed balance. Most transactions of a public chain are votes.",
  ),
} as const;
