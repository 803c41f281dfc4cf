/**
 * What runs inside Redis, each in one round trip and on one key, so that a cluster needs no hash tags. The client sends
 * a script's digest and, the first time on a server, its text.
 */

/**
 * KEYS: bucket. ARGV: rate, burst, holder, sequence, held, needed, want, owed, life in milliseconds, now or "". Gives
 * the tokens granted and the thousandths left. The arithmetic is `leaseFromBucket`'s. A hash: `level` is "thousandths
 * at", every other field a holder, ":name", as "held ends sequence". It expires when it is full and no tokens are held.
 */
export const leaseTokens = `
local rate, full, own = tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000, ':' .. ARGV[3]
local sequence, held, needed, want = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local owed, life, now = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local level, at, outstanding, holders, last = full, now, 0, 1, -1
local stored = redis.call('HGETALL', KEYS[1])
for index = 1, #stored, 2 do
  local field, value = stored[index], stored[index + 1]
  if field == 'level' then
    local thousandths, since = string.match(value, '^(%S+) (%S+)$')
    level, at = tonumber(thousandths), tonumber(since)
  else
    local count, ends, number = string.match(value, '^(%S+) (%S+) (%S+)$')
    if field == own then
      last = tonumber(number)
    elseif tonumber(ends) > now then
      outstanding, holders = outstanding + tonumber(count), holders + 1
    else
      redis.call('HDEL', KEYS[1], field)
    end
  end
end
if last >= sequence then return { 0, math.floor(level) } end
local refilled = level + math.max(0, now - at) * rate
level = math.max(-full, math.min(refilled, full - (outstanding + held) * 1000) - owed * 1000)
local there = math.max(0, math.floor(level / 1000))
local need = math.max(0, needed - held)
local granted = math.min(there, need)
if granted == need then
  local share = math.floor((there - granted) / (2 * holders))
  granted = granted + math.max(0, math.min(want - held - granted, share))
end
local returned = 0
if granted == 0 then returned = math.max(0, held - want) end
level = level - (granted - returned) * 1000
redis.call('HSET', KEYS[1], 'level', string.format('%.17g %.17g', level, now),
  own, string.format('%.17g %.17g %.17g', held + granted - returned, now + life, sequence))
redis.call('PEXPIRE', KEYS[1], math.max(life, math.ceil((full - level) / rate)))
return { granted, math.floor(level) }
`;

/**
 * KEYS: the set of holders. ARGV: holder, life in milliseconds (0 leaves). Gives the number of holders that are
 * present, this one included. A sorted set by the end of each one's life.
 */
export const attend = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local life = tonumber(ARGV[2])
if life > 0 then
  redis.call('ZADD', KEYS[1], now + life, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], life * 2)
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return redis.call('ZCARD', KEYS[1])
`;

/**
 * KEYS: channel. ARGV: message. A plain PUBLISH would go to any node of a cluster, and messages on different routes
 * overtake each other; a script goes to the node of its key, always the same for a channel.
 */
export const publish = `return redis.call('PUBLISH', KEYS[1], ARGV[1])`;
