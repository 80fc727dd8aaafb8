-- One branch call at a participant: moves money once, whatever is sent twice. The
-- duplicate is looked for before the balance, so that repeating a debit that was
-- done does not fail because the money is spent by now.
-- KEYS balances ledger; ARGV account amount field counterpart ttl
-- 0: done; 1: refused; 2: a duplicate or too late; 3: nothing to undo.
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 then return 2 end
if ARGV[4] ~= '' and redis.call('HSETNX', KEYS[2], ARGV[4], 'null') == 1 then
  redis.call('HSET', KEYS[2], ARGV[3], 'null:' .. redis.call('HLEN', KEYS[2]))
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  return 3
end
local have = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[4] == '' and (not have or have + ARGV[2] < 0) then return 1 end
redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[1] .. ':' .. ARGV[2] .. ':' .. redis.call('HLEN', KEYS[2]) + 1)
redis.call('EXPIRE', KEYS[2], ARGV[5])
return 0
