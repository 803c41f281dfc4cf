/**
 * What runs inside Redis, each in one round trip and on one key, so that a cluster needs no hash tags. The client sends
 * a script's digest and, the first time on a server, its text.
 */

/**
 * KEYS: bucket. ARGV: rate, burst, cost, now in milliseconds or "". Gives allowed, remaining, resetMs, retryMs.
 *
 * The time is the server's unless one is passed (tests do): replicas whose clocks differ would otherwise refill each
 * other's buckets. The arithmetic is `takeFromBucket`'s; %.17g keeps a double exactly. A bucket expires when it is full,
 * since a bucket that is not there is full. A refusal writes nothing.
 */
export const takeTokens = `
local rate, full, price = tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000, tonumber(ARGV[3]) * 1000
local now = tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local before, back = full, false
local stored = redis.call('GET', KEYS[1])
if stored then
  local thousandths, at = string.match(stored, '^(%S+) (%S+)$')
  before = math.min(full, tonumber(thousandths) + math.max(0, now - tonumber(at)) * rate)
  back = now < tonumber(at)
end
local allowed = before >= price
local after = before
if allowed then after = before - price end
local reset = math.ceil((full - after) / rate)
if after < full and (after ~= before or back) then
  redis.call('SET', KEYS[1], string.format('%.17g %.17g', after, now), 'PX', math.max(1, reset))
end
local retry = 0
if not allowed then retry = math.ceil((math.min(price, full) - after) / rate) end
return { allowed and 1 or 0, math.floor(after / 1000), reset, retry }
`;

/** KEYS: counter. ARGV: by, life in milliseconds. The life begins with the first increment and is not prolonged. */
export const increment = `
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return count
`;

/** KEYS: lease. ARGV: holder, life in milliseconds. */
export const acquire = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`;

/** KEYS: lease. ARGV: holder. Comparing and deleting are one step, so that a lease that has passed on is left alone. */
export const release = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`;

/**
 * KEYS: channel. ARGV: message. A plain PUBLISH would go to any node of a cluster, and messages that take different ways
 * overtake each other; a script goes to the node of its key, always the same for a channel.
 */
export const publish = `return redis.call('PUBLISH', KEYS[1], ARGV[1])`;
