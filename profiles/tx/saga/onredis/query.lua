-- Asks whether a message's local transaction was carried out. One that was not is
-- kept from being so later.
-- KEYS ledger; ARGV field ttl
-- 0: it was; 1: it was not.
local there = redis.call('HGET', KEYS[1], ARGV[1])
if there then return there == 'null' and 1 or 0 end
redis.call('HSET', KEYS[1], ARGV[1], 'null')
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
