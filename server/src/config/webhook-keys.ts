import { always, optional } from "./key-definition.ts";
import { cidrList, integer, oneOf } from "./parsers.ts";

/** Where webhooks may send. */
export const webhookKeys = {
  WEBHOOK_ALLOW_HTTP: always(
    "Webhooks",
    "webhooks.allow_http",
    "0",
    oneOf(["0", "1"]),
    "`1` lets webhooks send to plain `http://` as well; for development and tests. `dev` and `serve` alike send to `https://` alone unless it is set.",
  ),
  WEBHOOK_ALLOW_PRIVATE_CIDRS: optional(
    "Webhooks",
    "webhooks.allow_private_cidrs",
    cidrList,
    "Ranges of private addresses that webhooks may send to, such as `127.0.0.0/8`; all others than public ones are refused at each connection. Link-local addresses and those where clouds keep the identity of a machine are never allowed.",
  ),
  WEBHOOK_SHARDS: always(
    "Webhooks",
    "webhooks.shards",
    "1",
    integer(1, 64),
    "Into how many parts the webhooks of a network are divided, each of which one process at a time matches with the chain. The same for all processes. After a change events around it may be sent twice.",
  ),
} as const;
