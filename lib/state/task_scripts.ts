import {
  LEASE_MS,
  type Lifetime,
  LIFETIMES,
  LONG_KIND,
  LONG_LIFETIME,
  MAX_LISTED,
  SHORT_LIFETIME,
} from "@/lib/tasks/task.ts";
import { redisScript } from "./redis_client.ts";

const lifetime = ({ maxRunMs, ranTooLong, endedTtlMs, blobsTtlMs, maxEndedPerOwner }: Lifetime, set: string) =>
  `{ run = ${maxRunMs}, tooLong = '${ranTooLong}', ended = ${endedTtlMs}, blobs = ${blobsTtlMs}, max = ${maxEndedPerOwner},
    set = '${set}' }`;

const lives = [...LIFETIMES].map(([kind, life]) =>
  `['${kind}'] = ${lifetime(life, life === LONG_LIFETIME ? "reports" : `ended-${kind}`)}`
).join(",\n");

/** Fields of the hash of a task, in the order in which scripts return them. */
export const SUMMARY_FIELDS = [
  "kind",
  "owner",
  "bucket",
  "state",
  "canceling",
  "tenant",
  "account",
  "created",
] as const;
export const RECORD_FIELDS = [...SUMMARY_FIELDS, "error", "progress", "ended", "updated"] as const;
const fieldList = (names: readonly string[]) => names.map((name) => `'${name}'`).join(", ");

/**
 * Common part of all scripts. KEYS[1] is the prefix of all keys of tasks; its hash tag puts them into one slot of a
 * cluster, so a script may use keys that it reads from others. ARGV[1] is added to the server's clock, in tests.
 *
 * - `task:ID` is a hash of what a task is, `blobs:ID` a hash of its blobs, `caller:ID` its sealed keys.
 * - `note:NAME` is a text that processes share.
 * - `leases` has the running tasks by the end of their lease, `counted` all that count for the bounds by their expiry,
 *   `counted:OWNER` those of one owner, `ended:OWNER` the ended ones that can only be read, by their end, and
 *   `reports:OWNER` and `ended-KIND:OWNER` those of kinds in `LIFETIMES`.
 *
 * Every key expires by itself, the sets with their last member, so nothing stays when no process is left to delete it.
 * The bounds count the members of a set instead of keeping a number, which could drift.
 */
const COMMON = `
local time = redis.call('TIME')
local offset = tonumber(ARGV[1])
local now = time[1] * 1000 + math.floor(time[2] / 1000) + offset
local LEASE = ${LEASE_MS}
local SHORT = ${lifetime(SHORT_LIFETIME, "ended")}
local LIVES = { ${lives} }
local LONG = LIVES['${LONG_KIND}']
local LEASES, COUNTED = KEYS[1] .. 'leases', KEYS[1] .. 'counted'

local function key(kind, id)
  return KEYS[1] .. kind .. ':' .. id
end

local function lifetime(kind)
  return LIVES[kind] or SHORT
end

local function expire(name, at)
  redis.call('PEXPIREAT', name, at - offset)
end

-- A set of ids expires when its last member does, and later by so many ms.
local function expireSet(name, later)
  local last = redis.call('ZREVRANGE', name, 0, 0, 'WITHSCORES')
  if last[2] then expire(name, tonumber(last[2]) + later) end
end

local function expireCounted(owner)
  expireSet(COUNTED, SHORT.ended)
  if redis.call('EXISTS', LEASES) == 1 then
    redis.call('PEXPIRE', LEASES, math.max(redis.call('PTTL', COUNTED), LEASE))
  end
  expireSet(key('counted', owner), 0)
end

-- Fields of a task; none where its key holds something else.
local function fields(id, ...)
  local values = redis.pcall('HMGET', key('task', id), ...)
  if values.err then return {} end
  return values
end

local function delete(id)
  redis.call('DEL', key('task', id), key('blobs', id), key('caller', id))
  redis.call('ZREM', LEASES, id)
  redis.call('ZREM', COUNTED, id)
end

-- The RECORD_FIELDS of a task, its sealed keys and its id.
local function record(id)
  local values = redis.call('HMGET', key('task', id),
    ${fieldList(RECORD_FIELDS)})
  local caller = redis.pcall('GET', key('caller', id))
  values[#values + 1] = type(caller) == 'string' and caller
  values[#values + 1] = id
  return values
end

-- The SUMMARY_FIELDS of a task, whether it is leased, and its id.
local function summary(id)
  local values = fields(id, ${fieldList(SUMMARY_FIELDS)})
  values[#values + 1] = (tonumber(redis.call('ZSCORE', LEASES, id)) or 0) > now and '1' or '0'
  values[#values + 1] = id
  return values
end

-- Stores the end of a task. Its sealed keys stay where they are needed to download it.
local function finish(id, owner, state, reason, keepsCaller)
  local life = lifetime(fields(id, 'kind')[1])
  local expires = now + life.ended
  redis.call('HSET', key('task', id), 'state', state, 'ended', now, 'updated', now,
    'expires', expires)
  if reason then redis.call('HSET', key('task', id), 'error', reason) end
  redis.call('HDEL', key('task', id), 'holder')
  redis.call('ZREM', LEASES, id)
  expire(key('task', id), expires)
  expire(key('blobs', id), now + life.blobs)
  if keepsCaller then
    expire(key('caller', id), expires)
    redis.call('ZADD', COUNTED, expires, id)
    redis.call('ZADD', key('counted', owner), expires, id)
  else
    redis.call('DEL', key('caller', id))
    redis.call('ZREM', COUNTED, id)
    redis.call('ZREM', key('counted', owner), id)
    local ended = key(life.set, owner)
    redis.call('ZADD', ended, now, id)
    redis.call('ZREMRANGEBYSCORE', ended, '-inf', now - life.ended)
    local surplus = redis.call('ZCARD', ended) - life.max
    if surplus > 0 then
      for _, oldest in ipairs(redis.call('ZRANGE', ended, 0, surplus - 1)) do
        redis.call('ZREM', ended, oldest)
        delete(oldest)
      end
    end
    expireSet(ended, life.ended)
  end
  expireCounted(owner)
end

-- Orders tables with the id and the time of creation of a task.
local function older(a, b)
  if a.created ~= b.created then return a.created < b.created end
  return a.id < b.id
end

-- The state of a task on which its holder works; nil where it works on it no more.
local function held(id, holder)
  local task = fields(id, 'state', 'holder', 'canceling', 'owner')
  if task[1] ~= 'running' or task[2] ~= holder then return nil end
  return { canceling = task[3], owner = task[4] }
end

local function saved(task)
  return task.canceling == '1' and 'canceling' or 'stored'
end
`;

const script = (text: string) => redisScript(COMMON + text);

/**
 * ARGV: id, kind, owner, bucket, progress, sealed keys, holder, bounds of the owner, of the tenant and of all, tenant or
 * '', account or '', then blobs.
 */
export const CREATE = script(`
local id, owner, holder = ARGV[2], ARGV[4], ARGV[8]

local function isFull(set, bound)
  local from = string.format('(%.0f', now)
  if redis.call('ZCOUNT', set, from, '+inf') < bound then return false end
  -- A task that the server has evicted does not count.
  for _, member in ipairs(redis.call('ZRANGE', set, 0, -1)) do
    if redis.call('EXISTS', key('task', member)) == 0 then redis.call('ZREM', set, member) end
  end
  return redis.call('ZCOUNT', set, from, '+inf') >= bound
end

if redis.call('EXISTS', key('task', id)) == 1 then return 'exists' end
redis.call('ZREMRANGEBYSCORE', key('counted', owner), '-inf', now)
if isFull(key('counted', owner), tonumber(ARGV[9])) then return 'owner' end
if ARGV[12] ~= '' then
  local ofTenant = 0
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', COUNTED, string.format('(%.0f', now), '+inf')) do
    if fields(member, 'tenant')[1] == ARGV[12] then ofTenant = ofTenant + 1 end
  end
  if ofTenant >= tonumber(ARGV[10]) then return 'tenant' end
end
if isFull(COUNTED, tonumber(ARGV[11])) then return 'all' end

local life = lifetime(ARGV[3])
local expires = now + life.run
redis.call('HSET', key('task', id), 'kind', ARGV[3], 'owner', owner, 'bucket', ARGV[5], 'progress', ARGV[6],
  'state', 'running', 'canceling', '0', 'created', now, 'updated', now, 'expires', expires, 'holder', holder)
if ARGV[12] ~= '' then redis.call('HSET', key('task', id), 'tenant', ARGV[12]) end
if ARGV[13] ~= '' then redis.call('HSET', key('task', id), 'account', ARGV[13]) end
expire(key('task', id), expires + life.ended)
redis.call('SET', key('caller', id), ARGV[7])
expire(key('caller', id), expires)
for i = 14, #ARGV, 2 do redis.call('HSET', key('blobs', id), ARGV[i], ARGV[i + 1]) end
expire(key('blobs', id), expires + life.blobs)
redis.call('ZADD', LEASES, now + LEASE, id)
redis.call('ZADD', COUNTED, expires, id)
redis.call('ZADD', key('counted', owner), expires, id)
expireCounted(owner)
return 'created'
`);

/** ARGV: id. */
export const GET = script(`
local task = redis.call('HMGET', key('task', ARGV[2]), 'state', 'expires')
if redis.call('EXISTS', key('task', ARGV[2])) == 0 then return false end
if task[1] ~= 'running' and (tonumber(task[2]) or now + 1) <= now then return false end
return record(ARGV[2])
`);

/** ARGV: owner, kind, bucket. */
export const LIST = script(`
local found = {}
for _, set in ipairs({ 'counted', SHORT.set, LONG.set }) do
  for _, id in ipairs(redis.call('ZRANGE', key(set, ARGV[2]), 0, -1)) do
    local task = fields(id, 'kind', 'bucket', 'created', 'state', 'expires')
    local isLive = task[4] == 'running' or (tonumber(task[5]) or 0) > now
    if task[1] == ARGV[3] and task[2] == ARGV[4] and isLive then
      found[#found + 1] = { id = id, created = tonumber(task[3]) or 0 }
    end
  end
end
table.sort(found, function(a, b)
  if a.created ~= b.created then return a.created > b.created end
  return a.id < b.id
end)
local listed = {}
for i = 1, math.min(#found, ${MAX_LISTED}) do listed[i] = record(found[i].id) end
return listed
`);

/** ARGV: the tenant; none: of all tenants. */
export const SUMMARIES = script(`
local found = {}
for _, id in ipairs(redis.call('ZRANGE', COUNTED, 0, -1)) do
  local task = fields(id, 'tenant', 'state', 'expires', 'created')
  local counts = task[2] == 'running' or (task[2] == 'ready' and (tonumber(task[3]) or 0) > now)
  if counts and (not ARGV[2] or task[1] == ARGV[2]) then
    found[#found + 1] = { id = id, created = tonumber(task[4]) or 0 }
  end
end
table.sort(found, older)
for i, task in ipairs(found) do found[i] = summary(task.id) end
return found
`);

/** ARGV: holder, limit, time of the lease, and the owner unless of all owners. */
export const CLAIM = script(`
local free = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now)) do
  local task = fields(id, 'state', 'created', 'expires', 'owner', 'canceling')
  if task[1] ~= 'running' then
    redis.call('ZREM', LEASES, id)
  elseif (tonumber(task[3]) or 0) > now and (not ARGV[5] or task[4] == ARGV[5]) then
    free[#free + 1] = { id = id, created = tonumber(task[2]) or 0, canceling = task[5] == '1' }
  end
end
table.sort(free, older)
local claimed = {}
for i, task in ipairs(free) do
  if i <= tonumber(ARGV[3]) or (task.canceling and #claimed < tonumber(ARGV[3]) + ${MAX_LISTED}) then
    redis.call('HSET', key('task', task.id), 'holder', ARGV[2])
    redis.call('ZADD', LEASES, now + ARGV[4], task.id)
    claimed[#claimed + 1] = record(task.id)
  end
end
return claimed
`);

/** ARGV: id, holder, and the progress unless the lease alone is renewed. */
export const SAVE = script(`
local task = held(ARGV[2], ARGV[3])
if not task then return 'lost' end
if ARGV[4] then redis.call('HSET', key('task', ARGV[2]), 'progress', ARGV[4], 'updated', now) end
redis.call('ZADD', LEASES, now + LEASE, ARGV[2])
return saved(task)
`);

/** ARGV: id, holder, state, error or '', progress, whether the sealed keys stay. */
export const END = script(`
local task = held(ARGV[2], ARGV[3])
if not task then return 'lost' end
redis.call('HSET', key('task', ARGV[2]), 'progress', ARGV[6])
finish(ARGV[2], task.owner, ARGV[4], ARGV[5] ~= '' and ARGV[5], ARGV[7] == '1')
return saved(task)
`);

/** ARGV: id, holder, ms, and the progress unless it stays. */
export const POSTPONE = script(`
if not held(ARGV[2], ARGV[3]) then return end
if ARGV[5] then redis.call('HSET', key('task', ARGV[2]), 'progress', ARGV[5]) end
redis.call('HDEL', key('task', ARGV[2]), 'holder')
redis.call('ZADD', LEASES, now + ARGV[4], ARGV[2])
`);

/** ARGV: holder. */
export const RELEASE = script(`
for _, id in ipairs(redis.call('ZRANGE', LEASES, 0, -1)) do
  if fields(id, 'holder')[1] == ARGV[2] then
    redis.call('HDEL', key('task', id), 'holder')
    redis.call('ZADD', LEASES, 0, id)
  end
end
`);

/** ARGV: id. */
export const CANCEL = script(`
local id = ARGV[2]
local task = fields(id, 'state', 'owner')
if task[1] == 'running' then redis.call('HSET', key('task', id), 'canceling', '1') end
if task[1] == 'ready' and redis.call('DEL', key('caller', id)) == 1 then
  redis.call('HSET', key('task', id), 'state', 'canceled', 'updated', now)
  redis.call('ZREM', COUNTED, id)
  redis.call('ZREM', key('counted', task[2]), id)
  expireCounted(task[2])
end
`);

/** ARGV: id. */
export const PROLONG = script(`
local id = ARGV[2]
local task = fields(id, 'state', 'owner', 'created', 'expires')
if task[1] ~= 'ready' or redis.call('EXISTS', key('caller', id)) == 0 then return end
local expires = math.min(now + SHORT.ended, (tonumber(task[3]) or 0) + SHORT.run)
if expires <= (tonumber(task[4]) or 0) then return end
redis.call('HSET', key('task', id), 'expires', expires)
for _, kind in ipairs({ 'task', 'blobs', 'caller' }) do expire(key(kind, id), expires) end
redis.call('ZADD', COUNTED, expires, id)
redis.call('ZADD', key('counted', task[2]), expires, id)
expireCounted(task[2])
`);

/** ARGV: id, then blobs. */
export const WRITE_BLOBS = script(`
local left = redis.call('PTTL', key('task', ARGV[2]))
if left <= 0 then return end
for i = 3, #ARGV, 2 do redis.call('HSET', key('blobs', ARGV[2]), ARGV[i], ARGV[i + 1]) end
local life = lifetime(fields(ARGV[2], 'kind')[1])
-- Its key outlives a running task by the time that its end can be read.
redis.call('PEXPIRE', key('blobs', ARGV[2]), math.max(1, left - life.ended + life.blobs))
`);

/** ARGV: name, text, and the text that is there; none where there is none. */
export const REPLACE_NOTE = script(`
local name = key('note', ARGV[2])
if redis.call('GET', name) ~= (ARGV[4] or false) then return 0 end
redis.call('SET', name, ARGV[3])
redis.call('PEXPIRE', name, LONG.ended)
return 1
`);

/** Fails the tasks that ran for too long. Ended ones expire by themselves. */
export const SWEEP = script(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', COUNTED, '-inf', now)) do
  local task = fields(id, 'state', 'owner', 'kind')
  if task[1] == 'running' and task[2] then finish(id, task[2], 'failed', lifetime(task[3]).tooLong, false) end
  redis.call('ZREM', COUNTED, id)
end
`);

/** Deletes a task that cannot be read. ARGV: id. */
export const DELETE = script(`delete(ARGV[2])`);
