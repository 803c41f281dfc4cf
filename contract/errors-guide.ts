import type { ErrorCode } from "./errors.ts";

/** What a person who meets a code wants to know: what it means, and what to do. Shown on the reference page only. */
export interface ErrorGuide {
  readonly meaning: string;
  readonly remedy: string;
}

/** The explanation of every code of `errorTable`. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  PARSE_ERROR: {
    meaning: "The body is not JSON.",
    remedy: "Send one JSON document in UTF-8, with nothing before or after it.",
  },
  INVALID_REQUEST: {
    meaning: "The body is JSON but not a JSON-RPC 2.0 call, or a batch of them with 1 to 100 items.",
    remedy: 'Send `jsonrpc: "2.0"`, an `id` that is a number or a string, a `method` and, where needed, `params`.',
  },
  METHOD_NOT_FOUND: {
    meaning: "This server does not offer the method.",
    remedy: "Check its spelling against the reference of methods; an operator may allow methods that are not listed.",
  },
  INVALID_PARAMS: {
    meaning:
      "A parameter has the wrong form or lies outside its bounds; the message names it. The call did not reach a node, or the server in front of the node refused its form.",
    remedy: "Correct the parameter that the message names.",
  },
  INVALID_INPUT: {
    meaning: "A field of the request, its query or its path is missing, unknown or wrong; `errors` lists each of them.",
    remedy: "Correct every field listed in `errors` and send the request again.",
  },
  NOT_FOUND: {
    meaning: "Nothing with this identifier exists, or it belongs to another account.",
    remedy: "Check the path and the identifier.",
  },
  METHOD_NOT_ALLOWED: {
    meaning: "The path exists, but not for this HTTP method.",
    remedy: "Use one of the methods named by the `Allow` header.",
  },
  CONFLICT: {
    meaning: "The thing is not in a state in which this can be done, or it exists already.",
    remedy: "Read its present state and decide again.",
  },
  CURSOR_INVALID: {
    meaning:
      "The cursor was changed on its way, is of another network or another stage, or is of a chain that was started anew since.",
    remedy: "Send a cursor exactly as it was received, to the network and for the commitment that it came from.",
  },
  CURSOR_EXPIRED: {
    meaning:
      "The cursor is older than what the server holds of the chain; the details name the first slot that can be had.",
    remedy: "Begin at that slot, and read what lies before it from the history.",
  },
  BODY_TOO_LARGE: {
    meaning:
      "The body is larger than this endpoint accepts (256 KiB for JSON-RPC), or a single call that has to go to a node is larger than nodes take (50 KiB unless the operator says otherwise); the message names the limit.",
    remedy: "Split the call; a batch may be sent as several smaller ones.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: "The body is not declared as JSON, is in another charset than UTF-8, or is compressed.",
    remedy:
      "Send the header `Content-Type: application/json` and the body as it is; an answer with `Accept-Encoding: identity` means its `Content-Encoding`.",
  },
  INVALID_API_KEY: {
    meaning: "No key was sent, its checksum is wrong, or no such key exists.",
    remedy: "Send the whole key in `X-API-Key`, in `Authorization: Bearer` or in the query as `api-key`.",
  },
  KEY_INACTIVE: {
    meaning: "The key exists but is disabled, revoked or expired.",
    remedy: "Enable it again or use another key.",
  },
  NETWORK_NOT_ALLOWED: {
    meaning: "The key is restricted to other networks.",
    remedy: "Choose a network that the key allows, or widen the key's restrictions.",
  },
  DOMAIN_NOT_ALLOWED: {
    meaning: "The key is restricted to certain web sites, and neither `Origin` nor `Referer` names one of them.",
    remedy: "Call from an allowed site, or add this one to the key's domains.",
  },
  IP_NOT_ALLOWED: {
    meaning: "The key is restricted to address ranges that do not hold the caller's address.",
    remedy: "Call from an allowed address, or add its range to the key.",
  },
  PERMISSION_DENIED: {
    meaning: "The key is valid, but lacks the permission that this action needs.",
    remedy: "Use a key that holds the permission, or add it to this one.",
  },
  METHOD_NOT_PERMITTED: {
    meaning: "The key has a list of methods that it may call, and this one is not on it.",
    remedy: "Use a key that may call the method, or add the method to this one's list.",
  },
  RATE_LIMIT_EXCEEDED: {
    meaning: "More calls arrived in this second than the account's tier allows, its burst included.",
    remedy: "Wait the seconds given by `Retry-After`; `X-RateLimit-Remaining` is what is left.",
  },
  BATCH_TOO_LARGE_FOR_RATE: {
    meaning:
      "A batch takes a token for each of its calls, and this one holds more calls than the key's bucket ever holds tokens. Waiting does not help.",
    remedy: "Send smaller batches: at most as many calls as the message, and `X-RateLimit-Burst`, name.",
  },
  INSUFFICIENT_CREDITS: {
    meaning:
      "The call costs more than is left of the account's credits of this calendar month (UTC). It was not made and cost nothing. Over JSON-RPC `data` has its `price`, what is `remaining`, and `reset`, when the next month begins.",
    remedy: "Make a cheaper call, wait for the next month, or move the account to a larger tier.",
  },
  TIER_REQUIRED: {
    meaning: "The account's tier does not include this feature.",
    remedy: "Move the account to the tier that the message names.",
  },
  ASSET_PROOF_UNAVAILABLE: {
    meaning:
      "The index does not have every change of the tree in which the compressed asset is, so that its proof would not lead to the root; or the asset is not compressed, or not known. The message says which.",
    remedy:
      "An operator fills the past of the chain with `sluice backfill`; the tree is complete once the slot of its creation is held.",
  },
  SQL_SYNTAX: {
    meaning: "The query is not one statement of SQL as ClickHouse writes it; the message says where reading stopped.",
    remedy: "Correct the place that the message names, and send one statement without anything after it.",
  },
  SQL_NOT_ALLOWED: {
    meaning:
      "The query is no SELECT over the views, or calls a function, names a table or has a clause that is not allowed; `what` names it.",
    remedy: "Leave out what `what` names; `GET /api/v1/sql/schema` lists the views and functions.",
  },
  SQL_INVALID: {
    meaning:
      "The query can be read and not be run: a column that does not exist, values of the wrong types, a parameter without a value.",
    remedy: "Correct what the message names.",
  },
  SQL_TIMEOUT: {
    meaning: "The query ran for 30 seconds and was stopped. It costs what it has read.",
    remedy: "Narrow it: by slot first, which is what the views are ordered by.",
  },
  SQL_READ_LIMIT: {
    meaning: "The query would read more than 10 GB, uncompressed, and was stopped. It costs what it has read.",
    remedy: "Narrow it by slot, and name the columns that you need in the place of `*`.",
  },
  SQL_MEMORY_LIMIT: {
    meaning: "The query needed more than 1 GiB of memory and was stopped. It costs what it has read.",
    remedy: "Group by fewer values, sort or join less, or narrow it by slot.",
  },
  SQL_ROWS_LIMIT: {
    meaning: "The result would have more rows than `max_rows`, or than 100,000.",
    remedy: "Add LIMIT, group more coarsely, or ask in parts by slot.",
  },
  SQL_RESULT_LIMIT: {
    meaning: "The result would be larger than 64 MiB.",
    remedy: "Ask for fewer columns or rows, or in parts by slot.",
  },
  SQL_ACCOUNT_BUSY: {
    meaning: "The account has a query running and others waiting already.",
    remedy: "Send the next one when one has ended, at the earliest after `Retry-After` seconds.",
  },
  SQL_BUSY: {
    meaning: "As many queries run and wait, of all accounts, as this server takes. It costs nothing.",
    remedy: "Send it again after `Retry-After` seconds.",
  },
  TRANSACTION_NOT_FOUND: {
    meaning:
      "The ledger holds no transaction with this signature on this network: it never landed, it is not confirmed yet, or it lies in blocks that the server has not read.",
    remedy:
      "Check signature and network. What was sent a moment ago is there within a second of its confirmation; an operator fills older blocks by `sluice backfill`.",
  },
  BLOCK_NOT_FOUND: {
    meaning:
      "The ledger holds no block of this slot on this network: the chain skipped the slot, it is not confirmed yet, or the server has not read it. The message says which, where that is known.",
    remedy: "Ask for another slot; an operator fills older blocks by `sluice backfill`.",
  },
  ENHANCED_API_DISABLED: {
    meaning: "The key was made, or changed, so that it may not use the enhanced API.",
    remedy: "Use another key, or have the account's administrator set `enhanced` of this one.",
  },
  PARSING_FAILED: {
    meaning: "A node gave the transaction in a form that cannot be read. It costs nothing.",
    remedy: "Try again; tell the operator when it persists, with the request id.",
  },
  TOKEN_NOT_FOUND: {
    meaning: "The address is no mint of a token program on this network.",
    remedy: "Check the address and the network.",
  },
  NFT_NOT_FOUND: {
    meaning:
      "The address is none of an NFT on this network. The message says what it is where it is another asset: a token of many units, or a collection of MPL Core.",
    remedy: "Check the address and the network; `GET /api/v1/v0/token/{mint}` describes other tokens.",
  },
  IDENTITY_NOT_FOUND: {
    meaning: "The address is no program, system account or tip account that the server knows, and has no primary name.",
    remedy: "Show the address itself: that nothing is known of it says nothing about it.",
  },
  BALANCE_NOT_HELD: {
    meaning:
      "No transaction of the wallet that the ledger holds tells its balance at that moment, and the ledger does not begin with the chain.",
    remedy: "Ask for a later moment, or for the balance as it is now.",
  },
  FUNDING_NOT_FOUND: {
    meaning:
      "The first transactions of the wallet that the ledger holds do not show lamports coming into an empty account: it was funded before, or never.",
    remedy: "Ask a server whose ledger begins earlier.",
  },
  NETWORK_UNAVAILABLE: {
    meaning: "No node is configured for this network, or none of them can be reached.",
    remedy: "Try again after `Retry-After`; an operator finds the state of each node in the console.",
  },
  UPSTREAM_TIMEOUT: {
    meaning:
      "The node received the call and did not answer within 30 seconds. A transaction that was sent may still land.",
    remedy: "Try again; for a sent transaction, look up its signature first.",
  },
  UPSTREAM_INVALID: {
    meaning: "The node answered with something that is not a JSON-RPC response.",
    remedy: "Try again; tell the operator when it persists, with the request id.",
  },
  UPSTREAM_LIMITED: {
    meaning:
      "Every node of the network that could be asked has refused this server for now, for its rate or for its access. The call cost nothing.",
    remedy: "Try again after `Retry-After`; an operator finds the state of each node in the console.",
  },
  OVERLOADED: {
    meaning: "A queue of the server is full. The call was refused at once so that others are not slowed.",
    remedy: "Try again after `Retry-After`, with growing pauses.",
  },
  STORE_UNAVAILABLE: {
    meaning:
      "The store in which the server counts credits and keeps its records takes no writes at the moment. A call that " +
      "cannot be counted is refused; nothing was charged and nothing was changed.",
    remedy:
      "Try again after `Retry-After`, with growing pauses; the operator's log names the cause, such as a full disk.",
  },
  COMMITMENT_UNAVAILABLE: {
    meaning:
      "Streams are of whole blocks, which are told from `confirmed` on; at `processed` there are the channel `slots` and Solana PubSub. Slots at `processed` are told as they come, and no cursor leads back to them.",
    remedy: "Subscribe at `confirmed` or `finalized`.",
  },
  SUBSCRIPTION_LIMIT: {
    meaning: "One connection of `/ws` holds at most 100 subscriptions.",
    remedy: "Put several addresses in the lists of one filter, or open a further connection.",
  },
  REPLAY_TOO_SLOW: {
    meaning:
      "A subscription that began in the past came no nearer to the head of the chain within 60 seconds: more happens than the tier's messages a second, or than the client reads. The connection is closed with 4408.",
    remedy:
      "Go on from the `cursor` of the error with a narrower filter or a higher tier, or begin nearer to the head.",
  },
  STREAM_UNAVAILABLE: {
    meaning:
      "The process does not run the role `streams`, or the log of the network's chain is not open yet. The connection is closed with 4503, or the one subscription is refused.",
    remedy: "Connect again later, or to another process; an operator finds the state of `streams` under /ready.",
  },
  INTERNAL_ERROR: {
    meaning: "An unexpected error of this server. Its cause is in the server's log under the request id.",
    remedy: "Try again; tell the operator the request id when it persists.",
  },
};
